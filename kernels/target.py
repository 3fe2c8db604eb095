"""The targets. A function marked ``@shared`` runs interpreted, compiled by Numba for the CPU, and inside a CUDA kernel.

Rules of a shared function: signed 64-bit integers only (mixing signed and unsigned gives float64), no float but for a
root that integers correct (``semantic.py``), no closure, no allocation; arguments are records of arrays
(``records.py``). Interpreted, arrays are wrapped by ``exact`` so that arithmetic is that of Python's unbounded integers
and a store that does not fit is an error. Compiled, integers wrap around: a product must stay below 2^63, or be a
`wrapping_product`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.extending import intrinsic, overload

from gpusearch.kernels.indices import unsigned_indices
from gpusearch.kernels.inlining import InliningCompiler

Function = TypeVar("Function", bound=Callable[..., Any])

# Everything is inlined into the driver: a call would pass each array of each record through the stack, hundreds of
# words, and a step took 2.7 times as long. No reference counts (nothing is allocated), no bounds checks, C's division.
OPTIONS: Any = {
    "_nrt": False,
    "boundscheck": False,
    "error_model": "numpy",
    "forceinline": True,
    "no_cfunc_wrapper": True,
}


def _register(function: Callable[..., Any], choose: Callable[..., Any], options: Any = OPTIONS) -> None:
    """Have compiled what `choose` returns for the types of arguments, wherever the function is called."""
    overload(function, target="cpu", strict=False, jit_options=options | {"pipeline_class": InliningCompiler})(choose)
    overload(function, target="generic", strict=False, jit_options=options)(choose)


def shared(function: Function) -> Function:
    """Register a plain function for every compiled target; the function itself stays what it was."""
    _register(function, lambda *_: unsigned_indices(function))
    return function


def _is_empty(kind: Any) -> bool:
    """Whether a Numba type is that of ()."""
    return isinstance(kind, numba.types.BaseTuple) and len(kind) == 0


def _typed_product(context: Any, left: Any, right: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.mul(*arguments)

    return numba.types.int64(numba.types.int64, numba.types.int64), generate


_product: Any = intrinsic(_typed_product)


def wrapping_product(left: Any, right: Any) -> Any:
    """A product that may wrap around: compiled, only its low 64 bits are right, for any use of them.

    Numba promises LLVM that the products of ``*`` do not overflow. What follows from one that does may then be wrong in
    bits that no overflow could touch.
    """
    return left * right


_register(wrapping_product, lambda left, right: lambda left, right: _product(left, right))


# Of what is called rarely: it stays a function, which keeps a driver small and its compilation short.
APART: Any = OPTIONS | {"forceinline": False}


def optional(absent: Callable[..., Any], *, apart: bool = False) -> Callable[[Function], Function]:
    """`shared` for a function whose first argument may be (), a record that is not there: then `absent` is it.

    Which of them is known when a driver is compiled: what is not there costs nothing. With `apart` the function is not
    inlined.
    """
    options = APART if apart else OPTIONS

    def register(function: Function) -> Function:
        @wraps(function)
        def chosen(record: Any, *arguments: Any) -> Any:
            return (function if record else absent)(record, *arguments)

        _register(chosen, lambda record, *_: unsigned_indices(absent if _is_empty(record) else function), options)
        return cast(Function, chosen)

    return register


def by_type(default: Callable[..., Any]) -> Any:
    """A shared function with a version of its own for each type of its first argument, a named tuple.

    Versions are registered by ``@function.version(Type)``; `default` serves all other types. Which one it is is known
    when a driver is compiled.
    """
    return _with_versions(default, lambda _: default)


def by_type_with(other: Any, present: Callable[..., Any], absent: Callable[..., Any]) -> Any:
    """`by_type` whose default is `present` for types that have a version of another such function, else `absent`."""
    return _with_versions(present, lambda kind: present if kind in other.versions else absent)


def each_type(declaration: Callable[..., Any]) -> Any:
    """`by_type` for a function that every type must have a version of; the declaration has no body but its docstring.

    Raises, when it is called or a driver is compiled:
        TypeError: a type has none.
    """
    return _with_versions(declaration, lambda _: None)


def _with_versions(declaration: Callable[..., Any], default: Callable[[type], Callable[..., Any] | None]) -> Any:
    versions: dict[Any, Callable[..., Any]] = {}

    def of(kind: type) -> Callable[..., Any]:
        found = versions.get(kind) or default(kind)
        if found is None:
            raise TypeError(f"{kind.__name__} has no version of {declaration.__name__}")
        return found

    @wraps(declaration)
    def chosen(record: Any, *arguments: Any) -> Any:
        return of(type(record))(record, *arguments)

    def version(kind: type) -> Callable[[Function], Function]:
        def register(function: Function) -> Function:
            versions[kind] = function
            return shared(function)

        return register

    _register(chosen, lambda record, *_: unsigned_indices(of(getattr(record, "instance_class", type(record)))))
    found: Any = chosen
    found.version, found.versions = version, versions
    return found


# Sources of functions that are none of ours, but compiled into drivers; drivers that are compiled or will be.
_foreign: list[bytes] = []
_drivers: list[Any] = []


def add_source(source: bytes) -> None:
    """From now on drivers may be compiled with functions of a user's source, and are kept apart from others.

    Drivers that were made before are no longer kept at all: where they would be is for our own functions.
    """
    from numba.core.caching import NullCache

    if source not in _foreign:
        _foreign.append(source)
        for driver in _drivers:
            driver._cache = NullCache()
        _drivers.clear()


def _folder() -> Path:
    """Where a driver that is made now is kept."""
    if not _foreign:
        return cache_folder()
    return cache_folder() / blake2b(b"\0".join(sorted(_foreign)), digest_size=8).hexdigest()


@cache
def cache_folder() -> Path:
    """Where compiled drivers are kept: ``$GPUSEARCH_CACHE``, else the user's cache folder.

    The name carries a hash of all kernel sources and of Numba's version: Numba looks at the driver's own file only,
    and would go on using a driver whose helpers have changed.
    """
    digest = blake2b(numba.__version__.encode(), digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    base = os.environ.get("GPUSEARCH_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "gpusearch")
    return Path(base).expanduser() / f"kernels-{digest.hexdigest()}"


@contextmanager
def _cache() -> Iterator[None]:
    """What is marked for compilation meanwhile is kept in our folder."""
    folder = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(_folder())
        yield
    finally:
        numba.config.CACHE_DIR = folder


def cpu_driver(function: Function) -> Function:
    """Compile a driver for the CPU: releases the GIL (one call a thread), kept in the on-disk cache."""
    with _cache():
        compiled: Function = numba.njit(cache=True, nogil=True, **APART)(function)
    _drivers.append(compiled)
    return compiled


def cuda_driver(function: Function, registers: int | None = None) -> Any:
    """Compile a kernel for CUDA, or wrap it for the simulator; it is kept in the on-disk cache, too.

    With `registers` a thread gets no more of them: more threads are resident, and what does not fit spills into local
    memory. Such variants are not kept: Numba's cache would not tell them apart.
    """
    from numba import cuda

    if numba.config.ENABLE_CUDASIM:
        return cuda.jit(function)
    with _cache():
        compiled = cuda.jit(function, cache=registers is None, max_registers=registers)
    if registers is None:
        _drivers.append(compiled)
    return compiled


class Exact:
    """An array whose items are Python integers and whose stores are checked against the array's type."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        item = self.array[index]
        return Exact(item) if hasattr(item, "shape") and item.shape else int(item)

    def __setitem__(self, index: Any, value: int) -> None:
        # An index below zero would wrap around silently here and write elsewhere when compiled.
        for i in index if isinstance(index, tuple) else (index,):
            if i < 0:
                raise IndexError(f"store at index {index}")
        self.array[index] = value
        if int(self.array[index]) != value:
            raise OverflowError(f"{value} does not fit {self.array.dtype}")


def exact(record: Any) -> Any:
    """The record (array, or named tuple of records) with every array wrapped by `Exact`."""
    if isinstance(record, tuple):
        return type(record)(*(exact(field) for field in record))
    return Exact(record)


def plain(record: Any) -> Any:
    """What `exact` was given."""
    if isinstance(record, tuple):
        return type(record)(*(plain(field) for field in record))
    return record.array if isinstance(record, Exact) else record


def interpreted(record: Any) -> Any:
    """`exact` where the caller runs interpreted, as kernels do in the simulator; the record itself when compiled."""
    return exact(record)


_register(interpreted, lambda record: lambda record: record)
