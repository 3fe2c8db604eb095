"""Options beside samples: their file is read as it was written, or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusearch.candidates.sample_options import HASH_BYTES, OptionTable, read_options, write_options
from gpusearch.errors import InputError

TABLE = OptionTable(
    sentence=np.array([0, 0], np.int32),
    span=np.array([[0, 1], [0, 2]], np.int32),
    table=np.array([0, 0], np.int32),
    values=np.array([[-1.0, -2.0], [-1.5, -0.5]], np.float32),
    first_word=np.array([0, 1, 3], np.int64),
    word=np.array([0, 1, 0], np.int32),
    hash=np.zeros((2, HASH_BYTES), np.uint8),
    vocabulary=["a", "b"],
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_options(tmp_path / "options.npz", TABLE)
    found = read_options(tmp_path / "options.npz", TABLE.vocabulary)
    assert found.same_as(TABLE) and [found.target(option) for option in range(2)] == [["a"], ["b", "a"]]


@pytest.mark.parametrize(
    "other",
    [
        {"span": np.zeros((2, 3), np.int32)},
        {"span": np.array([[0, 1], [-1, 2]], np.int32)},
        {"span": np.array([[0, 1], [2, 2]], np.int32)},
        {"table": np.zeros(1, np.int32)},
        {"values": np.zeros((3, 2), np.float32)},
        {"hash": np.zeros((2, 4), np.uint8)},
        {"first_word": np.array([0, 3], np.int64)},
        {"first_word": np.array([0, 4, 3], np.int64)},
        {"first_word": np.array([0, 1, 2], np.int64)},
        {"word": np.array([0, 2, 0], np.int32)},
        {"word": np.array([0, -1, 0], np.int32)},
    ],
)
def test_parts_that_do_not_fit_each_other(other: dict[str, Any], tmp_path: Path) -> None:
    write_options(tmp_path / "options.npz", replace(TABLE, **other))
    with pytest.raises(InputError, match=r"options\.npz: options of samples whose parts do not fit each other"):
        read_options(tmp_path / "options.npz", TABLE.vocabulary)


@pytest.mark.parametrize("other", [{"values": np.zeros(2, np.float32)}, {"word": np.zeros(3)}])
def test_arrays_of_another_form(other: dict[str, Any], tmp_path: Path) -> None:
    write_options(tmp_path / "options.npz", replace(TABLE, **other))
    with pytest.raises(InputError, match=r"not the file that was expected \(.*\); expected options of samples"):
        read_options(tmp_path / "options.npz", TABLE.vocabulary)
