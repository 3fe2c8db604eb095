"""Rows of results.csv: date, commit, machine, what, value, unit."""

from __future__ import annotations

import csv
import datetime
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from profiling.keep_test_result import processor

COLUMNS = ("date", "commit", "machine", "what", "value", "unit")
RESULTS = Path(__file__).with_name("results.csv")


def keep(rows: Iterable[tuple[str, str, str]], path: Path = RESULTS) -> None:
    """Append rows of what, value and unit, as measured now on this machine with the present commit."""
    common = measured_now()
    is_new = not path.exists()
    with open(path, "a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerows((*common, *row) for row in rows)


def measured_now() -> tuple[str, str, str]:
    """Date, commit and machine."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    machine = f"{processor()}, {len(os.sched_getaffinity(0))} cores"
    return datetime.date.today().isoformat(), commit.stdout.strip(), machine
