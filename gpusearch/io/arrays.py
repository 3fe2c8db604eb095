"""Arrays in an npz file: one after the other, so that they need not be in memory together, and without pickle."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.io.files import replaced

Save = Callable[[str, NDArray[np.generic]], None]
"""Takes an array under a name."""


@contextmanager
def array_file(path: Path) -> Iterator[Save]:
    """A new npz file that takes arrays one by one; equal arrays give equal bytes. It appears when it is whole."""
    with replaced(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:

        def save(name: str, values: NDArray[np.generic]) -> None:
            # ZipInfo has a fixed date.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, values, allow_pickle=False)

        yield save


class Arrays:
    """The arrays of an npz file that is open, read one by one.

    Args:
        what: the file is expected to be, for messages.
    """

    def __init__(self, archive: zipfile.ZipFile, path: Path, what: str) -> None:
        self._archive, self._path, self._what = archive, path, what
        self.names = [name.removesuffix(".npy") for name in archive.namelist()]

    def read(self, name: str, kinds: str, dimensions: int) -> NDArray[Any]:
        """An array.

        Args:
            kinds: NumPy's letters of the types that it may have: b truth, i and u integers, f floats, U text.
            dimensions: that it must have.

        Raises:
            InputError: no such array, one of another type or number of dimensions, or one that needs pickle.
        """
        with _reading(self._path, self._what), self._archive.open(f"{name}.npy") as entry:
            values: NDArray[Any] = np.lib.format.read_array(entry, allow_pickle=False)
        if values.dtype.kind not in kinds or values.ndim != dimensions:
            found = f"{name}: {values.dtype} {list(values.shape)}"
            raise InputError(f"not the file that was expected ({found})", path=self._path, expected=self._what)
        return values


@contextmanager
def open_arrays(path: Path, what: str) -> Iterator[Arrays]:
    """The arrays of an npz file; no pickle is read.

    Raises:
        InputError: not an npz file; says that `what` was expected.
    """
    with _reading(path, what):
        archive = zipfile.ZipFile(path)
    with archive:
        yield Arrays(archive, path, what)


def read_arrays(path: Path, forms: Mapping[str, tuple[str, int]], what: str) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file, by name.

    Args:
        forms: of each the kinds and the number of dimensions, as :meth:`Arrays.read` takes them.

    Raises:
        InputError: not an npz file, or one that lacks an array or has another form of it; says that `what` was
            expected.
    """
    with open_arrays(path, what) as arrays:
        return {name: arrays.read(name, *form) for name, form in forms.items()}


@contextmanager
def _reading(path: Path, what: str) -> Iterator[None]:
    """While nothing but bytes are read: neither zipfile nor NumPy says all that damaged ones may raise."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"not the file that was expected ({reason})", path=path, expected=what) from error
