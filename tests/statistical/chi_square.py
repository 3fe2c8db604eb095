"""Whether counts fit probabilities."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare

Outcome = TypeVar("Outcome", bound=Hashable)

# Seeds are fixed: a fair draw fails one of ten thousand tests at this level, and none of these.
LEVEL = 1e-4


def pooled(counts: NDArray[np.int64], probability: NDArray[np.float64], least: float = 5) -> tuple[float, int]:
    """Chi-square with cells pooled, rare ones together, to expectations of `least` or more; and the number of cells."""
    expected = probability * counts.sum()
    observed, means, pool = [], [], np.zeros(2)
    for cell in np.argsort(expected):
        pool += counts[cell], expected[cell]
        if pool[1] >= least:
            observed.append(pool[0])
            means.append(pool[1])
            pool = np.zeros(2)
    observed[-1] += pool[0]
    means[-1] += pool[1]
    if len(means) < 2:
        return 1.0, 1
    return float(chisquare(observed, np.array(means) * counts.sum() / sum(means)).pvalue), len(means)


def p_value(observed: Counter[Outcome], expected: Mapping[Outcome, float]) -> float:
    """Chi-square of outcomes; cells are pooled to expectations of 10."""
    assert math.isclose(sum(expected.values()), 1, rel_tol=1e-9)
    assert not {outcome for outcome in observed if expected.get(outcome, 0) == 0}
    counts = np.array([observed[outcome] for outcome in expected])
    return pooled(counts, np.array(list(expected.values())), 10)[0]
