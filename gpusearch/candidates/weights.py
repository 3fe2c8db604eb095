"""How much each sample or entry of a list counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.ess import effective_sample_size
from gpusearch.errors import InputError

Weighting = Literal["score", "uniform", "multiplicity", "ess"]


@dataclass(frozen=True, eq=False)
class Mass:
    """Weights of M entries that sum to 1, and how many independent samples they are worth: the expectation of a number
    under the weights is as unsure as the mean of so many independent draws."""

    weights: NDArray[np.float64]
    effective: float


def weigh(
    how: Weighting,
    texts: NDArray[np.int64],
    derivations: NDArray[np.int64],
    scores: NDArray[np.float64],
    chains: NDArray[np.int64] | None = None,
    scale: float = 1.0,
) -> Mass:
    """Weights of M entries.

    Args:
        how: ``score``: each different derivation in proportion to ``exp(scale * score)`` (its first entry counts), for
            lists of the best; worth Kish's effective size ``1 / sum of squared weights``. ``uniform``: each different
            text alike, worth as much as there are. ``multiplicity``: each entry alike, for samples; worth the bulk
            effective sample size of their scores over all chains (where scores are unknown: of whether they say the
            most frequent text), but no more than there are, which is what they are worth where nobody knows the chains.
            ``ess``: each chain in proportion to what its own scores are worth (:func:`chain_sizes`), its entries alike;
            worth the sum.
        texts, derivations, scores, chains: [M], see :class:`~gpusearch.candidates.draws.Draws`.
        scale: of ``score``: 1 / temperature, per nat; 0 or more.

    Raises:
        InputError: ``score`` or ``ess`` without finite scores, ``ess`` without chains, a scale that is none.
    """
    if not 0 <= scale < float("inf"):
        raise InputError("unusable scale of scores", found=scale, expected="a finite number of 0 or more")
    if not len(texts):
        return Mass(np.zeros(0), 0.0)
    if how in ("score", "ess") and not np.isfinite(scores).all():
        raise InputError(
            f"weights by {how} need scores", found="entries without a finite score", hint="take multiplicity or uniform"
        )
    if how == "multiplicity":
        if chains is None:
            effective = float(len(texts))
        else:
            known = np.isfinite(scores).all()
            effective = _together(scores if known else texts == np.bincount(texts).argmax(), chains)
        return Mass(np.full(len(texts), 1 / len(texts)), effective)
    if how == "ess":
        return _by_effective_size(scores, chains)
    weights = np.zeros(len(texts))
    first = np.unique(derivations if how == "score" else texts, return_index=True)[1]
    with np.errstate(over="ignore"):  # what is so far below the best has no weight
        weights[first] = np.exp(scale * (scores[first] - scores[first].max())) if how == "score" else 1.0
    weights /= weights.sum()
    return Mass(weights, float(1 / np.square(weights).sum()))


def _by_effective_size(scores: NDArray[np.float64], chains: NDArray[np.int64] | None) -> Mass:
    if chains is None:
        raise InputError("weights by ess need chains", found="entries without a chain", hint="take multiplicity")
    _, chain, count = np.unique(chains, return_inverse=True, return_counts=True)
    sizes = chain_sizes(scores, chain)
    return Mass((sizes / count)[chain] / sizes.sum(), float(sizes.sum()))


def chain_sizes(scores: NDArray[np.float64], chain: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many independent samples each of C chains is worth, by its scores alone.

    Their effective sample size, but no more than their number, and that of fewer than 4, which say nothing of it. Nor
    do draws that are all the same: the chain is stuck, or in the state that has almost all the probability. It is worth
    as many draws as a run of this score has among independent ones on the average, ``1 / (1 - q)``, where q is the
    share of the score among the draws of the other chains: 1 where these are elsewhere, all its draws where these are
    there, too, or where there are no others.

    Args:
        scores: [M] finite.
        chain: [M] the chain of each, 0 .. C - 1.

    Returns:
        [C], above 0.
    """
    order = np.argsort(chain, kind="stable")
    each = np.split(scores[order], np.flatnonzero(np.diff(chain[order])) + 1)
    values, times = np.unique(scores, return_counts=True)
    return np.array([_size(own, values, times) for own in each])


def _size(own: NDArray[np.float64], values: NDArray[np.float64], times: NDArray[np.int64]) -> float:
    """Of a chain, where each of `values` was drawn so many `times` by all chains."""
    draws = len(own)
    size = effective_sample_size(own, "mean")
    if np.isnan(size):
        return float(draws)
    if own.min() < own.max():
        return min(size, float(draws))
    others = int(times.sum()) - draws
    unlike = others - (int(times[np.searchsorted(values, own[0])]) - draws)
    return min(draws, others / unlike) if unlike else float(draws)


def _together(values: NDArray[Any], chains: NDArray[np.int64]) -> float:
    """How many independent samples the draws of all chains are worth, each draw alike; no more than there are."""
    draws = len(values)
    _, chain, count = np.unique(chains, return_inverse=True, return_counts=True)
    if count.min() == count.max():  # the same number that `gpusearch sample` ends with
        size = effective_sample_size(values[np.argsort(chain, kind="stable")].reshape(len(count), -1))
        return float(draws) if np.isnan(size) else min(size, float(draws))
    # The variance of a mean over chains that are worth e of their n draws is the sum of (n / M)^2 / e.
    return min(draws**2 / float((count**2 / chain_sizes(values, chain)).sum()), float(draws))
