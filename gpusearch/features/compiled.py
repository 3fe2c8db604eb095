"""Features that users write in Numba's subset of Python: compiled into the kernels like those that are built in.

A class with ``compiled = True`` and one value, made with the options of its configuration (``user.py``):

    scope                     "sentence" or "document"
    counts                    tables of counts that it asks for, such as ("words",); may be absent
    prepare(self, room)       what its functions read: a dict of arrays; may be absent
    value(self, document)     the value of a translated document in plain Python, nats: for reports, and as a check
    full(my, problem, search, state, scratch, lane)
    delta(my, problem, search, state, scratch, lane, change)
    bound, gap, commit        may be absent

The functions follow the rules of kernels (``kernels/README.md``), ``kernels/document.py`` says what they see and return
(there `commit` is called `keep`); `my` holds the arrays under their names. What they call must be marked ``@shared``.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from hashlib import blake2b
from inspect import getsource
from sys import modules
from typing import Any

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.features.user import scope_of
from gpusearch.kernels import document as kernels
from gpusearch.kernels.target import add_source

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

    def record(self, room: Room) -> tuple[Any, ...]:
        """See `gpusearch.features.protocol.Feature`."""
        arrays: dict[str, Any] = self.written.prepare(room) if hasattr(self.written, "prepare") else {}
        arrays = arrays or {"nothing": np.zeros(1, np.int64)}
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
                raise InputError(f"{name} of feature {self.name}", found=type(array).__name__, expected="integers")
        return tuple.__new__(_record_type(type(self.written), tuple(arrays)), arrays.values())

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        return float(self.written.value(document))

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Nothing is known of its values."""
        return np.zeros(len(material.problem.unit))

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        return getsource(type(self.written)).encode() + repr(sorted(vars(self.written).items())).encode()


def compiled_feature(name: str, written: Any) -> CompiledFeature:
    """A user's compiled feature.

    Raises:
        InputError: it lacks what it needs.
    """
    for needed in ("full", "delta", "value"):
        if not hasattr(written, needed):
            raise InputError(f"feature {name} has no function {needed}", found=type(written).__name__)
    return CompiledFeature(name, written, scope_of(name, written), tuple(getattr(written, "counts", ())))


_types: dict[tuple[type, tuple[str, ...]], Any] = {}


def _record_type(kind: type, fields: tuple[str, ...]) -> Any:
    """The type of a feature's record, with its functions.

    It stands in the user's module under a name of its own, so that compiled kernels, which know it, can be kept.
    """
    if (kind, fields) in _types:
        return _types[kind, fields]
    source = getsource(kind)
    digest = blake2b(f"{source}{fields}".encode(), digest_size=8).hexdigest()
    make: Any = namedtuple  # mypy wants a name that it can read
    made = make(f"{kind.__name__}_{digest}", fields)
    made.__module__ = kind.__module__
    setattr(modules[kind.__module__], made.__name__, made)
    for name, function in _FUNCTIONS.items():
        if name in vars(kind):
            written = vars(kind)[name]
            function.version(made)(getattr(written, "__func__", written))
    module = getsource(modules[kind.__module__])
    add_source(f"{made.__name__}\n{module}".encode())
    _types[kind, fields] = made
    return made
