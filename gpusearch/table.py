"""Tables for people: columns of equal width."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Lines of columns two blanks apart, each as wide as its widest cell.

    Args:
        sides: for each column whether cells stand to its left (``<``) or right (``>``).
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    ]
