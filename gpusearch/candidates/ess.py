"""How many independent draws the draws of chains are worth: effective sample size, as ArviZ defines it.

Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), section 3, with Geyer's (1992) initial monotone sequence.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

_SHORTEST = 4


def effective_sample_size(draws: NDArray[Any], kind: Literal["bulk", "mean"] = "bulk") -> float:
    """Effective sample size of the draws of a number.

    Args:
        draws: [chains, draws], all of them after burn-in. Each chain is cut into halves, so that a drift counts.
        kind: ``bulk`` after normalisation of ranks, which needs no finite variance; ``mean`` of the draws themselves.

    Returns:
        NaN for fewer than 4 draws a chain or draws that are not finite. Draws that are all the same count in full.
    """
    values = np.atleast_2d(np.asarray(draws, np.float64))
    if values.shape[1] < _SHORTEST or not np.isfinite(values).all():
        return float("nan")
    halves = split_chains(values)
    return _of_chains(rank_normalised(halves) if kind == "bulk" else halves)


def split_chains(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """First and last halves [2 chains, draws // 2]; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def rank_normalised(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal scores of the ranks over all chains (Blom's 3/8)."""
    from scipy.special import ndtri  # slow to load, and not needed for what most ask
    from scipy.stats import rankdata

    ranks = rankdata(draws, method="average").reshape(draws.shape)
    return np.asarray(ndtri((ranks - 0.375) / (draws.size + 0.25)), np.float64)


def _of_chains(draws: NDArray[np.float64]) -> float:
    chains, length = draws.shape
    if draws.max() - draws.min() < np.finfo(np.float64).resolution:
        return float(draws.size)
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * length / (length - 1)
    total = covariance[0] + (draws.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    correlation = 1 - (within - covariance) / total
    correlation[0] = 1.0
    # Sums of neighbours (even lag, odd lag) are positive and fall in truth (Geyer); what does not is noise. Pairs that
    # begin behind the fourth draw from the end are not looked at.
    pairs = correlation[: 2 * (length // 2)].reshape(-1, 2)
    sums = pairs.sum(axis=1)
    last = max(0, (length - 3) // 2)
    stop = next((place for place in range(last) if sums[place] <= 0), last)
    # Of the pair where the sequence stops, the even lag may still count, once.
    rest = pairs[stop, 0] if sums[stop] >= 0 else max(0.0, pairs[stop, 0])
    time = -1 + 2 * np.minimum.accumulate(sums[:stop]).sum() + rest
    return float(draws.size / max(time, 1 / np.log10(draws.size)))


def _autocovariance(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each chain at lags 0 .. draws - 1, divided by the number of draws."""
    length = draws.shape[1]
    width = 2 ** int(np.ceil(np.log2(2 * length)))
    spectrum = np.fft.rfft(draws - draws.mean(axis=1, keepdims=True), width, axis=1)
    return np.fft.irfft(np.abs(spectrum) ** 2, width, axis=1)[:, :length] / length
