"""The utilities of all pairs, in blocks that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.mbr.utility import Index, Pairs, Utility

MEMORY = 1 << 30
"""Bytes that a block of statistics may take where nothing else is said."""
_BYTES_A_PAIR = 100  # statistics of some ten orders in float32, and the score's own float64 tensors


def blocks(
    utility: Utility, pairs: Pairs, rows: Index, columns: Index, memory: int = MEMORY
) -> Iterator[tuple[slice, torch.Tensor]]:
    """Utilities of texts `rows` against texts `columns`: slices of `rows` and float64 tensors [their length, R]."""
    step = max(1, memory // (_BYTES_A_PAIR * max(1, len(columns))))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        yield part, utility.score(pairs.statistics(rows[part], columns))


def utilities(
    utility: Utility, hypotheses: Sequence[str], references: Sequence[str], *, segment: int = 0, memory: int = MEMORY
) -> NDArray[np.float64]:
    """Utility of each hypothesis where each of the references is right, [H, R].

    Args:
        hypotheses, references: any texts; each different one is looked at once.
        segment: number in the input, for utilities that depend on it.
    """
    place = {text: number for number, text in enumerate(dict.fromkeys([*hypotheses, *references]))}
    pairs = utility.prepare(list(place), segment)
    rows, columns = (np.array([place[text] for text in texts], np.int64) for texts in (hypotheses, references))
    result = np.empty((len(rows), len(columns)))
    for part, block in blocks(utility, pairs, rows, columns, memory):
        result[part] = block.cpu().numpy()
    return result
