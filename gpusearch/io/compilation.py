"""Numba compilation of the readers' kernels, with a disk cache that notices every change of their sources."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

Array = np.ndarray[Any, Any]
Integer = Any  # Numba types it
Function = TypeVar("Function", bound=Callable[..., Any])

_FOLDER = Path(__file__).parent
_SOURCES = ("sequences.py", "bytewise.py", "columns.py", "ngrams.py")
# Numba's own stubs know neither all options of njit nor those of config.
_njit: Callable[..., Any] = numba.njit
_config: Any = numba.config
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@cache
def _cache_folder(chosen: str, folder: Path) -> str:
    """Numba hashes the file of a kernel, not those of its helpers: the folder's name stands for all of them.

    These are the readers' files and, for a kernel of another package, the files beside it.
    """
    beside = sorted(folder.glob("*.py")) if folder != _FOLDER else []
    sources = hashlib.blake2b(digest_size=8)
    for path in (*(_FOLDER / name for name in _SOURCES), *beside):
        sources.update(path.read_bytes())
    return str((Path(chosen) if chosen else _FOLDER / "__pycache__") / f"readers-{sources.hexdigest()}")


def compiled(function: Function) -> Function:
    """Compile for the CPU, without the GIL; kept on disk where there is a folder to keep it in."""
    chosen = _config.CACHE_DIR
    _config.CACHE_DIR = _cache_folder(chosen, Path(function.__code__.co_filename).parent)
    try:
        kernel: Function = _njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # Numba found no folder that can be written to
        kernel = _njit(**_OPTIONS)(function)
    finally:
        _config.CACHE_DIR = chosen
    return kernel


def helper(function: Function) -> Function:
    """Compile for calls by compiled functions only: without the wrappers that calls from Python need."""
    kernel: Function = _njit(no_cpython_wrapper=True, **_OPTIONS)(function)
    return kernel
