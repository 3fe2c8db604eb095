"""Whether chains have come to the same distribution: R-hat, split and nested, and how far they agree in their phrases.

Vehtari et al. (2021): rank-normalised split R-hat, the larger one of the draws and of their distances from the median.
Margossian et al. (2024): nested R-hat, of many short chains in groups that share a first state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.ess import rank_normalised, split_chains

_SHORTEST = 4


def split_r_hat(draws: NDArray[Any]) -> float:
    """Rank-normalised split R-hat.

    Args:
        draws: [chains, draws]

    Returns:
        1 where all draws are equal, NaN for fewer than 4 draws a chain or draws that are not finite.
    """
    values = np.atleast_2d(np.asarray(draws, np.float64))
    if values.shape[1] < _SHORTEST or not np.isfinite(values).all():
        return float("nan")
    halves = split_chains(values)
    folded = np.abs(halves - np.median(halves))
    return max(_r_hat(rank_normalised(halves)), _r_hat(rank_normalised(folded)))


def _r_hat(draws: NDArray[np.float64]) -> float:
    length = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean()
    between = length * draws.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((between / within + length - 1) / length))


def nested_r_hat(draws: NDArray[Any], superchains: Sequence[int] | NDArray[np.integer]) -> float:
    """Nested R-hat.

    Args:
        draws: [chains, draws]; one draw a chain is enough where a superchain has two chains.
        superchains: [chains] number of each chain's superchain; of equal size, two at least.

    Returns:
        1 where all draws are equal; NaN where superchains are not of equal size, where there is only one, or where
        each is a single draw.
    """
    values = np.atleast_2d(np.asarray(draws, np.float64))
    groups = np.asarray(superchains)
    names, sizes = np.unique(groups, return_counts=True)
    if len(names) < 2 or (sizes != sizes[0]).any() or values.size == len(names) or not np.isfinite(values).all():
        return float("nan")
    means = np.stack([values[groups == name].mean(axis=1) for name in names])
    between = means.mean(axis=1).var(ddof=1)
    within = np.zeros(len(names))
    if values.shape[1] > 1:
        within += np.array([values[groups == name].var(axis=1, ddof=1).mean() for name in names])
    if sizes[0] > 1:
        within += means.var(axis=1, ddof=1)
    if within.mean() == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt(1 + between / within.mean()))


def agreement(options: NDArray[np.integer], words: NDArray[np.integer]) -> float:
    """How far two halves of the chains agree: the overlap of their distributions of the phrase over a source word.

    Args:
        options: [R, C, P] phrases of all samples, -1 where there is none.
        words: [O] source words of each option.

    Returns:
        the mean over source words, from 0 to 1; NaN for one chain.
    """
    rounds, chains, _ = options.shape
    half = chains // 2
    if half == 0 or rounds == 0:
        return float("nan")
    shares = []
    for part in (options[:, :half], options[:, half : 2 * half]):
        used = part[part >= 0]
        shares.append(np.bincount(used, minlength=len(words)) / (rounds * half))
    return float((np.minimum(*shares) * words).sum() / (shares[0] * words).sum())
