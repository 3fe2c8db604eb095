"""Arrays in an npz file: one after the other, so that they need not be in memory together, and without pickle."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
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


def read_arrays(path: Path, names: Sequence[str], what: str) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file, by name.

    Raises:
        InputError: not an npz file, or one that lacks an array or needs pickle; says that `what` was expected.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}
    except (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"not the file that was expected ({error})", path=path, expected=what) from None
