"""Arrays in files: what is written is read, and nothing else ends in a traceback."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.io.arrays import array_file, open_arrays, read_arrays

WRITTEN = {"numbers": np.arange(20), "words": np.array(["xy", "z"]), "matrix": np.eye(3), "one": np.array(0.5)}
FORMS = {"numbers": ("i", 1), "words": ("U", 1), "matrix": ("f", 2), "one": ("f", 0)}


def npy(values: NDArray[Any]) -> bytes:
    """What a .npy file of one array holds."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, values)
    return stream.getvalue()


def write(path: Path) -> Path:
    with array_file(path) as save:
        for name, values in WRITTEN.items():
            save(name, values)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Byte for byte the same each time, by NumPy itself too."""
    first, second = write(tmp_path / "first.npz"), write(tmp_path / "second.npz")
    assert first.read_bytes() == second.read_bytes()
    found = read_arrays(first, FORMS, "arrays")
    with np.load(first, allow_pickle=False) as loaded, open_arrays(first, "arrays") as arrays:
        assert arrays.names == list(WRITTEN)
        for name, values in WRITTEN.items():
            np.testing.assert_array_equal(found[name], values, strict=True)
            np.testing.assert_array_equal(loaded[name], values, strict=True)


OTHERS: dict[str, Callable[[Path], object]] = {
    "one array": lambda path: path.write_bytes(npy(np.arange(20))),
    "pickle": lambda path: np.savez(path, **WRITTEN | {"numbers": np.array([None])}),
    "lacks one": lambda path: np.savez(path, numbers=np.arange(3)),
    "another type": lambda path: np.savez(path, **WRITTEN | {"words": np.arange(2)}),
    "another number of dimensions": lambda path: np.savez(path, **WRITTEN | {"matrix": np.arange(9.0)}),
    "text": lambda path: path.write_text("numbers"),
    "nothing": lambda path: path.write_bytes(b""),
    "a folder": lambda path: path.mkdir(),
    "absent": lambda path: None,
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_files_are_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    OTHERS[kind](path)
    with pytest.raises(InputError) as error:
        read_arrays(path, FORMS, "arrays of mine")
    assert f"{path}: not the file that was expected (" in str(error.value)
    assert str(error.value).endswith("; expected arrays of mine")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file without compression, so that a changed byte comes through to NumPy where a checksum does not see it."""
    path = tmp_path_factory.mktemp("arrays") / "stored.npz"
    np.savez(path, **WRITTEN)
    return path


@given(damage=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_bytes_are_said_or_do_no_harm(stored: Path, damage: list[tuple[float, int]]) -> None:
    """Whatever zipfile and NumPy raise."""
    content = bytearray(stored.read_bytes())
    for place, byte in damage:
        content[int(place * len(content))] = byte
    path = stored.with_name("damaged.npz")
    path.write_bytes(content)
    try:
        read_arrays(path, FORMS, "arrays")
    except InputError:
        return


@pytest.mark.parametrize(("place", "byte"), [(10, b")"), (60, b"'"), (60, b"9")])
def test_damage_that_numpy_does_not_expect(place: int, byte: bytes, tmp_path: Path) -> None:
    """In the header of an array, which is parsed as Python; the checksum fits."""
    content = npy(np.arange(20))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("numbers.npy", content[:place] + byte + content[place + 1 :])
    with pytest.raises(InputError, match="not the file that was expected"):
        read_arrays(tmp_path / "x.npz", {"numbers": ("i", 1)}, "arrays")
