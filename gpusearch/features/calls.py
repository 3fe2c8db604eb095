"""Calls of code that users write: what it raises becomes an error that names the function, and file and line of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import extract_tb
from typing import Any

from gpusearch.errors import GpusearchError, InputError


@contextmanager
def calling(what: str, kind: Any) -> Iterator[None]:
    """While code of a user's class or function is at work; `what` names it, such as ``full of feature x``.

    Raises:
        InputError: anything that the code has raised, which stays its cause.
    """
    try:
        yield
    except GpusearchError:
        raise
    except Exception as error:
        module = sys.modules.get(getattr(kind, "__module__", ""))
        raise failure(what, error, getattr(module, "__file__", None)) from error


def failure(what: str, error: Exception, file: str | None) -> InputError:
    """What is said of an exception; the line is the last one in `file` that led to it."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    if isinstance(error, SyntaxError):  # of a module, which has no frame yet
        file, lines = error.filename, [error.lineno]
    place: dict[str, Any] = {"path": file, "line": lines[-1]} if lines else {}
    return InputError(f"{what} fails", found=f"{type(error).__name__}: {error}", **place)
