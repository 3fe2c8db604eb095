"""Compiled: the proposals that many steps draw for one state, written down."""

from __future__ import annotations

from gpusearch.kernels.step import draw
from gpusearch.kernels.target import cpu_driver

# Columns before the options that are put in.
OPERATION, LOCAL, FIRST, REPLACED, COUNT = range(5)


@cpu_driver
def draw_steps(problem, search, state, scratch, lane, first_step, rows):
    """A row for each step from `first_step` on: the five numbers of a proposal and its options (-1 behind)."""
    for row in range(rows.shape[0]):
        operation, local, first, replaced, count = draw(problem, search, state, scratch, lane, first_step + row)
        rows[row, OPERATION] = operation
        rows[row, LOCAL] = local
        rows[row, FIRST] = first
        rows[row, REPLACED] = replaced
        rows[row, COUNT] = count
        for k in range(rows.shape[1] - 5):
            rows[row, 5 + k] = scratch.option[k] if first >= 0 and k < count else -1
