"""Documents of independent segments by rules that look at no references: put together from the best of each segment.

The probability of such a document is the product of those of its segments. So the best derivation of a document has the
best one of each segment, and its K best have none but the K best of each (Huang & Chiang 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.pool import Candidates
from gpusearch.mbr.decide import most_probable, rank


@dataclass(frozen=True, eq=False)
class Joined:
    """The K best documents, best first; logarithms, since products of many probabilities would be 0."""

    rows: NDArray[np.int64]
    """[K, S] the candidate of each segment."""
    log_values: NDArray[np.float64]
    """[K] of the probability of the translation or derivation, nats."""
    scores: NDArray[np.float64]
    """[K] sums, nats; NaN where unknown."""
    log_weights: NDArray[np.float64]
    """[K] of the probability of the translation, nats."""


def joined(segments: Sequence[Candidates], rule: Literal["maxtrans", "maxderiv"], keep: int) -> Joined:
    """The best `keep` documents, as far as there are so many.

    Of equal ones the one with the better score wins, as in :func:`~gpusearch.mbr.decide.most_probable`.

    Args:
        segments: S segments with their candidates.
    """
    rows, best = np.zeros((1, 0), np.int64), np.zeros((3, 1))
    for one in segments:
        decision = most_probable(one.pool, rule)
        top = decision.ranking[:keep]
        with np.errstate(divide="ignore"):
            own = np.stack([np.log(decision.values), one.pool.scores, np.log(one.pool.weights)])[:, top]
        # Of sorted lists, the i-th (from 1) with the j-th has i * j - 1 others that are at least as good.
        counts = np.minimum(len(top), keep // np.arange(1, len(rows) + 1))
        first = np.repeat(np.arange(len(rows)), counts)
        second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
        sums = best[:, first] + own[:, second]
        order = rank(*sums)[:keep]
        rows, best = np.column_stack([rows[first[order]], top[second[order]]]), sums[:, order]
    return Joined(rows, *best)
