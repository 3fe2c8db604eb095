"""Tables of aligned columns."""

from __future__ import annotations

import pytest

from gpusearch.table import aligned


def test_sides_and_widths() -> None:
    """Each column is as wide as its widest cell, an empty one too; lines have no blanks at their ends."""
    rows = [("", "long one", "", "x"), ("name", "1", "", ""), ("n", "23", "", "last")]
    assert aligned(rows, "<>><") == ["      long one    x", "name         1", "n           23    last"]
    assert aligned(rows[1:], "<<<<") == ["name  1", "n     23    last"]
    assert aligned([], "") == []


def test_every_cell_has_its_side() -> None:
    with pytest.raises(ValueError, match="argument"):
        aligned([("a", "b")], "<")
