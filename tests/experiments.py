"""A test set for the experiments of configs/, and readers of what they write."""

from __future__ import annotations

import csv
import importlib.util
from itertools import takewhile
from pathlib import Path

from lxml import etree

TEXTS = {
    "fr": "la maison bleue .\nune maison\nle chien ne dort pas dans la maison bleue .\nla maison\nun chien dort\n",
    "en": "the blue house .\na house\nthe dog does not sleep in the blue house .\nthe house\na dog sleeps\n",
    "docs": "a\na\nb\nb\nc\n",
}


def write_test_set(folder: Path, split: str = "test") -> Path:
    """Make a folder of three documents for the tiny model, or add a split to it; returns it."""
    folder.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (folder / f"{split}.{name}").write_text(text, encoding="utf-8")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table of numbers."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def tables_of(path: Path) -> list[list[list[str]]]:
    """The cells of the Markdown tables of a file, without their headers."""
    tables: list[list[list[str]]] = []
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines):
        if line.startswith("|---"):
            rows = takewhile(lambda row: row.startswith("|"), lines[number + 1 :])
            tables.append([[cell.strip() for cell in row.strip("|").split("|")] for row in rows])
    return tables


def check_figure(path: Path, *texts: str) -> None:
    """A figure is there if there is what draws it, with these texts in it."""
    assert path.exists() == (importlib.util.find_spec("matplotlib") is not None)
    if path.exists():
        found = " ".join(etree.parse(path).getroot().itertext())
        assert all(text in found for text in texts)
