"""Rows of results.csv: date, commit, machine, what, value, unit."""

from __future__ import annotations

import csv
import datetime
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from profiling.keep_test_result import commit, processor

COLUMNS = ("date", "commit", "machine", "what", "value", "unit")
RESULTS = Path(__file__).with_name("results.csv")


def keep(rows: Iterable[tuple[str, str, str]], path: Path = RESULTS) -> None:
    """Append rows of what, value and unit, as measured now on this machine with the present commit."""
    common = measured_now()
    append(path, COLUMNS, [(*common, *row) for row in rows])


def append(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Append rows to a CSV file, under a header where it is new."""
    is_new = not path.exists()
    with open(path, "a", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([columns, *rows] if is_new else rows)


def measured_now() -> tuple[str, str, str]:
    """Date, commit and machine."""
    machine = f"{processor()}, {len(os.sched_getaffinity(0))} cores"
    return datetime.date.today().isoformat(), commit(), machine
