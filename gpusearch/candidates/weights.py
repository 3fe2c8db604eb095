"""How much each sample or entry of a list counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.ess import effective_sample_size
from gpusearch.errors import InputError

Weighting = Literal["score", "uniform", "multiplicity", "ess"]


@dataclass(frozen=True, eq=False)
class Mass:
    """Weights of M entries that sum to 1, and how many independent samples they are worth."""

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
            lists of the best. ``uniform``: each different text alike. ``multiplicity``: each entry alike, for samples.
            ``ess``: each chain in proportion to the effective sample size of its scores, its entries alike.
        texts, derivations, scores, chains: [M], see :class:`~gpusearch.candidates.draws.Draws`.
        scale: of ``score``: 1 / temperature, per nat.

    Raises:
        InputError: ``score`` or ``ess`` without scores, ``ess`` without chains.
    """
    if not len(texts):
        return Mass(np.zeros(0), 0.0)
    if how in ("score", "ess") and np.isnan(scores).any():
        raise InputError(f"weights by {how} need scores", found="entries without a score")
    if how == "multiplicity":
        return Mass(np.full(len(texts), 1 / len(texts)), float(len(texts)))
    if how == "ess":
        return _by_effective_size(scores, chains)
    weights = np.zeros(len(texts))
    first = np.unique(derivations if how == "score" else texts, return_index=True)[1]
    weights[first] = np.exp(scale * (scores[first] - scores[first].max())) if how == "score" else 1.0
    weights /= weights.sum()
    return Mass(weights, float(1 / np.square(weights).sum()))  # Kish's effective size


def _by_effective_size(scores: NDArray[np.float64], chains: NDArray[np.int64] | None) -> Mass:
    if chains is None:
        raise InputError("weights by ess need chains", found="entries without a chain", hint="take multiplicity")
    weights, total = np.zeros(len(scores)), 0.0
    for chain in np.unique(chains):
        inside = chains == chain
        # Too few draws to tell: one is worth one.
        size = effective_sample_size(scores[inside], "mean")
        size = float(inside.sum()) if np.isnan(size) else size
        weights[inside] = size / inside.sum()
        total += size
    return Mass(weights / weights.sum(), total)
