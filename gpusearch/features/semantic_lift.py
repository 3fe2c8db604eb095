"""What a word gains at most under the semantic document language model when words of its history change."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.semantic import BINS, LENGTH_BITS, LENGTHS, VECTOR_BITS, Semantic

CHANGES = 4
"""Numbers of words that have a row of their own."""
# Two cosines of the kernel, each rounded down twice: 2^-20, and a unit of the root, which is at least 2^13 here.
_ROUNDING = 2.0**-11


def lifts(model: Semantic, sign: int) -> NDArray[np.int32]:
    """By how much the value of a word of each cell rises at most (sign 1), or falls (-1, and below 0); 2^-20 nat.

    Where m words of a history come or go, its sum moves by 2m vectors at most: what goes is replaced by older words,
    and what comes drives the oldest out. A sum of length N turns by asin(2m / N) at most then, and no cosine moves by
    more than the chord of this angle.

    Returns:
        int32 ``[CHANGES + 1, cells]``: of m = 1, 2, ... CHANGES words, and of any number.
    """
    value = sign * model.value.astype(np.int64)
    longest = float(np.linalg.norm(model.vector.astype(np.float64), axis=1).max(initial=0)) / (1 << VECTOR_BITS)
    top = np.full((CHANGES + 1, len(value)), value.max())
    for changing in range(1, CHANGES + 1):
        for length in range(1, LENGTHS):
            ratio = 2 * changing * longest * (1 << (VECTOR_BITS - LENGTH_BITS)) / length
            if ratio < 1:
                chord = 2 * longest * math.sin(math.asin(ratio) / 2)
                reach = math.ceil(BINS / 2 * (chord + _ROUNDING))
                cells = slice(length * BINS, (length + 1) * BINS)
                top[changing - 1, cells] = _greatest_within(value[:BINS], reach)
    lift: NDArray[np.int32] = (sign * (top - value)).astype(np.int32)
    return lift


def _greatest_within(value: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Of each place the greatest value that is at most so many places away."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(value, reach, mode="edge"), 2 * reach + 1)
    greatest: NDArray[np.int64] = around.max(axis=1)
    return greatest
