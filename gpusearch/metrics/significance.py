"""Is one system better than another? Paired tests on statistics of documents.

Documents are resampled, not sentences: sentences of a document are not independent of each other, least of all
where a document is translated as a whole. With few documents no test finds much; their number is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.metrics.base import Statistics

Score = Callable[[Statistics], float]
Interval = tuple[float, float]


@dataclass(frozen=True)
class PairedBootstrap:
    """Scores of two systems, and of their difference, with percentile intervals."""

    score: float
    other: float
    difference: float
    """``score - other``"""
    score_interval: Interval
    other_interval: Interval
    difference_interval: Interval
    p_value: float
    """Two-sided."""
    units: int
    resamples: int
    seed: int


def paired_bootstrap(
    statistics: Statistics,
    other: Statistics,
    score: Score,
    *,
    resamples: int = 1000,
    seed: int = 1,
    confidence: float = 0.95,
) -> PairedBootstrap:
    """Paired bootstrap (Koehn 2004): both systems are scored on the same resamples of the documents.

    The p-value is the share of resamples in which the difference strays from its mean at least as far as the
    observed difference is from 0 (the resamples shifted to the null hypothesis; Riezler & Maxwell 2005).

    Args:
        statistics, other: rows of the two systems for the same D documents [D, k].
        score: of summed statistics.
        resamples: number of resamples.
        seed: all randomness follows from it.
        confidence: probability that the intervals cover.

    Raises:
        InputError: another number of documents, or fewer than two.
    """
    units = _check(statistics, other)
    generator = np.random.default_rng(seed)
    draws = generator.integers(units, size=(resamples, units))
    counts = np.zeros((resamples, units), statistics.dtype)
    np.add.at(counts, (np.arange(resamples)[:, None], draws), 1)
    scores = _scores(counts @ statistics, score)
    others = _scores(counts @ other, score)
    differences = scores - others
    observed, observed_other = score(statistics.sum(axis=0)), score(other.sum(axis=0))
    difference = observed - observed_other
    extreme = int((np.abs(differences - differences.mean()) >= abs(difference)).sum())

    def interval(values: NDArray[np.float64]) -> Interval:
        low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
        return float(low), float(high)

    return PairedBootstrap(
        observed,
        observed_other,
        difference,
        interval(scores),
        interval(others),
        interval(differences),
        (extreme + 1) / (resamples + 1),
        units,
        resamples,
        seed,
    )


def approximate_randomization(
    statistics: Statistics, other: Statistics, score: Score, *, trials: int = 10_000, seed: int = 1
) -> float:
    """Two-sided p-value of the randomisation test (Riezler & Maxwell 2005).

    Documents are exchanged between the systems at random; p is the share of exchanges whose difference is at
    least the observed one. Where all ``2^D`` exchanges are no more than ``trials``, each is made once and p is
    exact.

    Args:
        statistics, other: rows of the two systems for the same D documents [D, k].
        score: of summed statistics.
        trials: number of random exchanges.
        seed: all randomness follows from it.

    Raises:
        InputError: another number of documents, or fewer than two.
    """
    units = _check(statistics, other)
    exact = 2**units <= trials
    if exact:
        swaps = (np.arange(2**units)[:, None] >> np.arange(units)) & 1
    else:
        swaps = np.random.default_rng(seed).integers(2, size=(trials, units))
    moved = swaps.astype(statistics.dtype) @ (other - statistics)
    first = _scores(statistics.sum(axis=0) + moved, score)
    second = _scores(other.sum(axis=0) - moved, score)
    observed = abs(score(statistics.sum(axis=0)) - score(other.sum(axis=0)))
    # An exchange of all documents gives the observed difference but for rounding.
    extreme = int((np.abs(first - second) >= observed - 1e-9).sum())
    return extreme / len(swaps) if exact else (extreme + 1) / (trials + 1)


def _check(statistics: Statistics, other: Statistics) -> int:
    if statistics.shape != other.shape:
        found = f"{len(statistics)} and {len(other)} units"
        raise InputError("a paired test of different texts", found=found, expected="the same documents of both")
    if len(statistics) < 2:
        raise InputError("a paired test needs several documents", found=f"{len(statistics)}", expected="2 or more")
    return len(statistics)


def _scores(sums: Statistics, score: Score) -> NDArray[np.float64]:
    return np.array([score(row) for row in sums])
