"""Rows that profiling keeps."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from profiling import results


def test_rows_stand_under_one_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a table is appended to; outside a repository the commit is not known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("GPUSEARCH_COMMIT", raising=False)
    table = tmp_path / "results.csv"
    results.keep([("a, b", "1", "s"), ("c", "2", "")], table)
    monkeypatch.setenv("GPUSEARCH_COMMIT", "abc1234")
    results.keep([("d", "3", "")], table)
    header, *rows = csv.reader(table.read_text(encoding="utf-8").split("\n")[:-1])
    assert tuple(header) == results.COLUMNS
    assert [(row[1], *row[3:]) for row in rows] == [
        ("unknown", "a, b", "1", "s"),
        ("unknown", "c", "2", ""),
        ("abc1234", "d", "3", ""),
    ]
