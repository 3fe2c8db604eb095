"""How much a decision owes to which references were drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.pool import Pool
from gpusearch.mbr.expected import under
from gpusearch.mbr.utility import Index, Pairs, Utility


@dataclass(frozen=True)
class Bootstrap:
    """A decision under resamples of the references, as many each as the weights are worth."""

    share: float
    """Of the resamples in which the same candidate is the best (or as good)."""
    utility: tuple[float, float]
    """95 % interval of its expected utility."""
    lead: tuple[float, float]
    """95 % interval of what it is ahead of the best of the others; negative where it is behind."""
    resamples: int


def bootstrap(
    utility: Utility,
    pairs: Pairs,
    pool: Pool,
    rows: Index,
    left_out: NDArray[np.float64],
    chosen: int,
    resamples: int,
    seed: int,
    memory: int,
) -> Bootstrap:
    """Percentile bootstrap of a choice among candidates `rows` [H].

    Args:
        left_out: [H] see :func:`~gpusearch.mbr.expected.under`.
        chosen: one of `rows`.
    """
    size = max(1, round(pool.effective))
    drawn = np.random.default_rng(seed).multinomial(size, pool.weights / pool.weights.sum(), size=resamples)
    values = under(utility, pairs, rows, drawn.T / size, left_out, memory)
    mine = rows == chosen
    own = values[mine][0]
    lead = own - values[~mine].max(axis=0) if len(rows) > 1 else np.zeros(resamples)

    def interval(of: NDArray[np.float64]) -> tuple[float, float]:
        low, high = np.quantile(of, [0.025, 0.975])
        return float(low), float(high)

    return Bootstrap(float((lead >= -1e-9).mean()), interval(own), interval(lead), resamples)
