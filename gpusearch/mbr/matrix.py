"""The utilities of all pairs, in blocks that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.mbr.utility import Index, Pairs, Utility

MEMORY = 1 << 30
"""Bytes that a block of pairs may take where nothing else is said."""


def blocks(
    utility: Utility, pairs: Pairs, rows: Index, columns: Index, memory: int = MEMORY
) -> Iterator[tuple[slice, torch.Tensor]]:
    """Utilities of texts `rows` against texts `columns`: slices of `rows` and float64 tensors [their length, R].

    Args:
        memory: bytes that a block may take while it is made, besides the texts and their n-grams.

    Raises:
        InputError: one row takes more.
    """
    step = pairs.room.rows(memory, len(columns))
    if len(rows) and not step:
        raise InputError(
            "the utilities of a candidate do not fit the memory",
            found=f"{pairs.room.need(1, len(columns)) / 2**20:.1f} MiB with {len(columns):,} references",
            expected=f"at most {memory / 2**20:.1f} MiB",
            hint="allow more (--memory), or give fewer candidates",
        )
    for start in range(0, len(rows), max(1, step)):
        part = slice(start, start + step)
        yield part, utility.score(pairs.statistics(rows[part], columns))


def all_pairs(utility: Utility, pairs: Pairs, rows: Index, columns: Index, memory: int = MEMORY) -> NDArray[np.float64]:
    """The blocks of texts `rows` against texts `columns` as one matrix [H, R], which stays in memory as a whole.

    Raises:
        InputError: see :func:`blocks`.
    """
    values = np.empty((len(rows), len(columns)))
    for part, block in blocks(utility, pairs, rows, columns, memory):
        values[part] = block.cpu().numpy()
    return values


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
    return all_pairs(utility, pairs, rows, columns, memory)
