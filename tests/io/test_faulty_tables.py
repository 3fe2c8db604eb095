"""Faulty tables and language models: each file with its exact message."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpusearch.errors import InputError
from gpusearch.io.arpa import read_arpa
from gpusearch.io.phrase_table import read_phrase_table
from gpusearch.io.reordering_table import read_reordering_table

FOLDER = Path(__file__).parent.parent / "data" / "faulty" / "tables"
TABLE = [line.split("\t") for line in (FOLDER / "messages.tsv").read_text(encoding="utf-8").split("\n")[1:-1]]
READERS: dict[str, Callable[..., Any]] = {
    "phrase": read_phrase_table,
    "reordering": read_reordering_table,
    "arpa": read_arpa,
}


@pytest.mark.parametrize(
    ("file", "reader", "options", "message"), TABLE, ids=["".join(row[:3]).replace(" ", "") for row in TABLE]
)
def test_faulty_file(monkeypatch: pytest.MonkeyPatch, file: str, reader: str, options: str, message: str) -> None:
    monkeypatch.chdir(FOLDER)
    before = sorted(os.listdir())
    with pytest.raises(InputError) as error:
        READERS[reader](file, **(json.loads(options) if options else {}))
    assert str(error.value) == message
    assert error.value.exit_code == 2
    assert sorted(os.listdir()) == before  # no compiled form of what cannot be read


def test_every_faulty_file_has_its_message() -> None:
    assert set(os.listdir(FOLDER)) - {"messages.tsv"} == {row[0] for row in TABLE if not row[0].startswith("absent")}
