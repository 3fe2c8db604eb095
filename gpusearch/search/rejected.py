"""What Numba cannot compile of users' features, said in a line instead of the hundreds that Numba writes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getsourcelines
from linecache import getline
from pathlib import Path

from numba.core.errors import NumbaError

from gpusearch.errors import InputError
from gpusearch.features.compiled import CompiledFeature
from gpusearch.model.model import Model

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r'\s*File "(.+)", line ([0-9]+):')
_DURING = re.compile(r"\s*During: (.+?)(?: at .+)?")


@contextmanager
def compiling(model: Model) -> Iterator[None]:
    """While drivers are compiled, which the users' compiled features of a model are part of.

    Raises:
        InputError: Numba rejects what one of them does; names the feature, its function and the line.
    """
    try:
        yield
    except NumbaError as error:
        said = rejected(model, str(error))
        if said is None:
            raise
        raise said from error


def rejected(model: Model, text: str) -> InputError | None:
    """What a message of Numba's says about a line of a user's compiled feature; None where it names no such line.

    Numba tells what is innermost first: the first line of the user's is the one that does it.
    """
    own = {
        file: (named.name, named.feature)
        for named in model.document
        if isinstance(named.feature, CompiledFeature)
        for file in _files(named.feature)
    }
    lines = _COLOUR.sub("", text).splitlines()
    for place, line in enumerate(lines):
        found = _PLACE.fullmatch(line)
        file = Path(found[1]).resolve() if found else None
        if found is None or file not in own:
            continue
        name, feature = own[file]
        number = int(found[2])
        reason = next((before.strip() for before in reversed(lines[:place]) if before.strip()), "")
        during = _DURING.fullmatch(reason)
        code = getline(str(file), number).strip()
        return InputError(
            f"Numba cannot compile {_function(feature, file, number)}feature {name}",
            path=str(file),
            line=number,
            found=f"{code!r}: {f'no {during[1]}' if during else reason}",
            hint="functions that it calls are marked @shared, and all keep to integers, without allocation "
            "(docs/features.md)",
        )
    return None


def _files(feature: CompiledFeature) -> set[Path]:
    """Files of a feature's class and its bases."""
    modules = (sys.modules.get(kind.__module__) for kind in type(feature.written).__mro__)
    return {Path(file).resolve() for module in modules if (file := getattr(module, "__file__", None)) is not None}


def _function(feature: CompiledFeature, file: Path, number: int) -> str:
    """``delta of `` for a line of `delta`; nothing for one of none of its functions, such as of what they call."""
    for name, function in feature.functions().items():
        lines, first = getsourcelines(function)
        if Path(function.__code__.co_filename).resolve() == file and first <= number < first + len(lines):
            return f"{name} of "
    return ""
