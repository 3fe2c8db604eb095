"""The table of `search_quality.py`: a row a run."""

from __future__ import annotations

import csv
from dataclasses import astuple, dataclass
from pathlib import Path

from profiling.results import append

COLUMNS = (
    "date", "commit", "machine", "series", "setting", "settings", "seed", "total", "CPU s",
    "above Moses", "below Moses",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What a run has come to."""

    date: str
    commit: str
    machine: str
    series: str
    setting: str
    settings: str
    """Keys and values of `[search]`."""
    seed: str
    total: float
    """Nats, over all sentences."""
    seconds: float
    """Of the CPU."""
    above: int | None = None
    """Sentences with more than Moses has; None where it has not run."""
    below: int | None = None

    def __str__(self) -> str:
        compared = "" if self.above is None else f"  {self.above} above, {self.below} below Moses"
        return f"{self.series}: {self.setting}, seed {self.seed}: {self.total:.2f}, {self.seconds:.1f} CPU s{compared}"


def read_rows(path: Path) -> list[Row]:
    """The rows of a table."""
    with open(path, encoding="utf-8", newline="") as stream:
        return [
            Row(*cells[:7], float(cells[7]), float(cells[8]), *(int(cell) if cell else None for cell in cells[9:]))
            for cells in list(csv.reader(stream))[1:]
        ]


def add_row(path: Path, row: Row) -> None:
    """Append a row, under a header where the table is new."""
    cells = [*astuple(row)[:7], f"{row.total:.4f}", f"{row.seconds:.2f}", row.above, row.below]
    append(path, COLUMNS, [cells])
