"""docs/complaints.md and the tests that carry its numbers fit each other."""

from __future__ import annotations

import re
from pathlib import Path


def test_every_answered_row_has_a_test(repository: Path) -> None:
    """A row that claims an answer has a test marked with its number; a test's number is a row."""
    text = (repository / "docs" / "complaints.md").read_text(encoding="utf-8")
    answered, _, to_come = text.partition("## To come")
    rows = {int(number) for number in re.findall(r"^\| (\d+) \|", answered, re.MULTILINE)}
    later = {int(number) for number in re.findall(r"^\| (\d+) \|", to_come, re.MULTILINE)}
    assert rows.isdisjoint(later)
    assert rows | later == set(range(1, 36))
    marks = {
        int(number)
        for file in (repository / "tests").rglob("test_*.py")
        for number in re.findall(r"pytest\.mark\.complaint\((\d+)\)", file.read_text(encoding="utf-8"))
    }
    assert rows <= marks
    assert marks <= rows | later
