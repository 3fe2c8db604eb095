"""Weights of the option draw: how often a search tries each translation option of a span.

Made on the host from integer scores. Every operation here rounds the same way on every machine (no library
exponential, sums of integers), so the tables, and with them the paths of the chains, are the same everywhere.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError

# Below 2^31, so that a 32-bit random word times the total of a span fits a signed 64-bit integer.
TOTAL = (1 << 31) - 1
_SHARE_BITS = 30


def draw_weights(
    scores: NDArray[np.int64],
    first: NDArray[np.int64],
    *,
    draw: str,
    temperature: float,
    uniform: float,
) -> NDArray[np.int64]:
    """Cumulative draw weights of the options, counted anew in each set.

    ``draw="score"``: softmax of ``score / temperature``, mixed with a part `uniform` of equal weights (design §4);
    every option has a weight of at least 1. ``draw="uniform"``: equal weights (Hardmeier et al. 2012, §3.1).

    Args:
        scores: ``[O]`` isolated scores, 2^-40 nat, sets one after the other.
        first: ``[G + 1]`` index of the first option of each set, none of them empty; ends with O.
        temperature: in units of 2^-40 nat, above 0.

    Returns:
        ``[O]``: sums from the first option of the set on; the last one of a set is below 2^31.
    """
    counts = np.diff(first)
    if draw == "uniform":
        return np.arange(1, len(scores) + 1) - np.repeat(first[:-1], counts)
    if draw != "score":
        raise InputError("unknown option draw", found=repr(draw), expected="score or uniform")
    if len(scores) == 0:
        return np.empty(0, np.int64)
    if int(counts.max()) >= 1 << 20:
        raise InputError("too many options of one span", found=int(counts.max()), expected="less than 2^20")
    best = np.maximum.reduceat(scores, first[:-1])
    distance = (scores - np.repeat(best, counts)).astype(np.float64) / temperature
    share = np.rint(exponential(distance) * (1 << _SHARE_BITS)).astype(np.int64)
    total = np.repeat(np.add.reduceat(share, first[:-1]), counts)
    # All in integers from here on. The remainder keeps a set's total at or below TOTAL: divisions round down.
    count = np.repeat(counts, counts)
    even = TOTAL - count
    uniform_part = np.int64(round(uniform * (1 << _SHARE_BITS)))
    score_part = (1 << _SHARE_BITS) - uniform_part
    from_scores = ((even * score_part) >> _SHARE_BITS) * share // total
    from_uniform = ((even * uniform_part) >> _SHARE_BITS) // count
    running = np.cumsum(1 + from_scores + from_uniform)
    before = np.concatenate(([0], running))[first[:-1]]
    return running - np.repeat(before, counts)


def exponential(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """e^x for x <= 0 within 2^-48, by multiplications, additions and scalings alone.

    The exponential of a mathematical library differs in its last bit between processors; these operations do not.
    """
    x = np.maximum(x, -700.0)
    power = np.rint(x * (1.0 / math.log(2.0)))
    # ln 2 in two parts, the first short enough that its multiples are exact (Cody and Waite 1980).
    rest = x - power * 0.693145751953125
    rest = rest - power * 1.42860682030941723212e-6
    result = np.ones_like(rest)
    for term in range(14, 0, -1):
        result = result * (rest * (1.0 / term))
        result = result + 1.0
    return np.ldexp(result, power.astype(np.int32))
