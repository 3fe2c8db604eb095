"""Features that users write in Numba's subset of Python: compiled into the kernels like those that are built in.

A class with ``compiled = True`` and one value, made with the options of its configuration (``user.py``):

    scope                     "sentence" or "document"
    counts                    tables of counts that it asks for, such as ("words",); may be absent
    prepare(self, room)       what its functions read: a dict of arrays; may be absent
    value(self, document)     the value of a translated document in plain Python, nats: for reports, and as a check
    largest(self, material)   the largest absolute value in nats, of each unit [U] or of all; may be absent: then
                              nothing but the trial before a search says that no sum of scores can overflow
    full(my, problem, search, state, scratch, lane)
    delta(my, problem, search, state, scratch, lane, change)
    bound, gap, commit        may be absent

The functions follow the rules of kernels (``kernels/README.md``), ``kernels/document.py`` says what they see and return
(there `commit` is called `keep`); `my` holds the arrays under their names. What they call must be marked ``@shared``.
`scratch.changed` is that of the proposal in `delta`, `bound` and `commit`; a `gap` that needs it calls `list_changes`.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from hashlib import blake2b
from inspect import getattr_static, getsource, signature
from sys import modules
from typing import Any

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.answers import Floats, answer_of
from gpusearch.features.counts import TABLES
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.features.user import scope_of
from gpusearch.kernels import document as kernels
from gpusearch.kernels.target import add_source
from gpusearch.user_code import calling

# Names of a user's functions, and what they are versions of.
_FUNCTIONS = {
    "full": kernels.full,
    "delta": kernels.delta,
    "bound": kernels.bound,
    "gap": kernels.gap,
    "commit": kernels.keep,
}


@dataclass(frozen=True, eq=False)
class CompiledFeature(OneValue):
    """A user's compiled feature."""

    name: str
    written: Any
    scope: Scope
    counts: tuple[str, ...]
    identity: bytes

    def functions(self) -> dict[str, Any]:
        """Its functions for kernels, by the names that users know them by."""
        return _functions(type(self.written))

    def record(self, room: Room) -> tuple[Any, ...]:
        """See `gpusearch.features.protocol.Feature`."""
        arrays: Any = self._call("prepare", room) if hasattr(self.written, "prepare") else {}
        if not isinstance(arrays, dict):
            found = type(arrays).__name__
            raise InputError(f"prepare of feature {self.name}", found=found, expected="a dict of arrays")
        arrays = arrays or {"nothing": np.zeros(1, np.int64)}
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
                found = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else type(array).__name__
                what = f"prepare of feature {self.name} returns something else under {name!r}"
                raise InputError(
                    what, found=found, expected="an array of integers", hint="numpy.array(..., numpy.int64)"
                )
        return tuple.__new__(_record_type(type(self.written), tuple(arrays)), arrays.values())

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        found = answer_of(f"value of feature {self.name}", self._call("value", document)).values
        if found.shape != () or not np.isfinite(found):
            raise InputError(f"value of feature {self.name}", found=found, expected="a number")
        return float(found)

    def largest(self, material: Material) -> Floats:
        """See `gpusearch.features.protocol.Feature`; 0 where nothing is said."""
        units = len(material.problem.unit)
        if not self.says_largest:
            return np.zeros(units)
        what = f"largest of feature {self.name}"
        found = answer_of(what, self._call("largest", material)).values
        if found.shape not in ((), (units,)) or not (found >= 0).all():
            raise InputError(what, found=found, expected=f"a number from 0 up, or {units} of them")
        return np.broadcast_to(found, units)

    @property
    def says_largest(self) -> bool:
        """Whether it says how large its values may be."""
        return hasattr(self.written, "largest")

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        return self.identity

    def _call(self, function: str, argument: Any) -> Any:
        with calling(f"{function} of feature {self.name}", type(self.written)):
            return getattr(self.written, function)(argument)


def compiled_feature(name: str, written: Any, identity: bytes) -> CompiledFeature:
    """A user's compiled feature.

    Raises:
        InputError: it lacks what it needs, or asks for what it cannot have.
    """
    for needed in ("full", "delta", "value"):
        if not hasattr(written, needed):
            raise InputError(f"feature {name} has no function {needed}", found=type(written).__name__)
    for function, own in _functions(type(written)).items():
        given, expected = (len(signature(one).parameters) for one in (own, _FUNCTIONS[function]))
        if given != expected:
            what = f"{function} of feature {name} does not take what it is called with"
            arguments = ", ".join(("my", *list(signature(_FUNCTIONS[function]).parameters)[1:]))
            raise InputError(what, found=f"{given} arguments", expected=f"{expected}: {arguments}")
    if getattr(written, "names", ()):
        found, hint = f"names of {len(written.names)}", "write one for each value"
        raise InputError(f"feature {name} is compiled, so it has one value", found=found, hint=hint)
    counts = tuple(getattr(written, "counts", ()))
    for table in counts:
        if table not in TABLES:
            raise InputError(f"counts of feature {name}", found=repr(table), expected=f"of {', '.join(TABLES)}")
    return CompiledFeature(name, written, scope_of(name, written), counts, identity)


def _functions(kind: type) -> dict[str, Any]:
    """Those of `_FUNCTIONS` that a class has, its own or of its bases."""
    found = {name: getattr_static(kind, name, None) for name in _FUNCTIONS}
    return {name: getattr(one, "__func__", one) for name, one in found.items() if one is not None}


_types: dict[tuple[type, tuple[str, ...]], Any] = {}


def _record_type(kind: type, fields: tuple[str, ...]) -> Any:
    """The type of a feature's record, with its functions.

    It stands in the user's module under a name of its own, so that compiled kernels, which know it, can be kept.
    """
    if (kind, fields) in _types:
        return _types[kind, fields]
    source = "".join(getsource(modules[name]) for name in _modules(kind))
    digest = blake2b(f"{source}{fields}".encode(), digest_size=8).hexdigest()
    make: Any = namedtuple  # mypy wants a name that it can read
    made = make(f"{kind.__name__}_{digest}", fields)
    made.__module__ = kind.__module__
    setattr(modules[kind.__module__], made.__name__, made)
    for name, written in _functions(kind).items():
        _FUNCTIONS[name].version(made)(written)
    add_source(f"{made.__name__}\n{source}".encode())
    _types[kind, fields] = made
    return made


def _modules(kind: type) -> list[str]:
    """Modules of a class and its bases."""
    return list(dict.fromkeys(one.__module__ for one in kind.__mro__ if one.__module__ != "builtins"))
