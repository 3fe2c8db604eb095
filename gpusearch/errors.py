"""The errors that a user may meet, each with the exit code of the command that it ends."""

from __future__ import annotations

import errno
from pathlib import Path

#: Why a file that could be opened cannot be written to its end.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class GpusearchError(Exception):
    """Base of all errors that end a command with a message instead of a traceback."""

    exit_code = 1


class InputError(GpusearchError):
    """Unusable arguments or input (exit code 2).

    The message names the file and line, what was found, what was expected and, where there is one, the fix:
    ``path:line: what; found X; expected Y; hint``.
    """

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        found: object = None,
        expected: object = None,
        hint: str | None = None,
    ) -> None:
        self.what, self.path, self.line = what, path, line
        self.found, self.expected, self.hint = found, expected, hint
        place = ""
        if path is not None:
            name = "standard input" if str(path) == "-" else str(path)
            place = f"{name}:{line}: " if line is not None else f"{name}: "
        parts = [what]
        if found is not None:
            parts.append(f"found {found}")
        if expected is not None:
            parts.append(f"expected {expected}")
        if hint is not None:
            parts.append(hint)
        super().__init__(place + "; ".join(parts))
