"""Whether counts fit probabilities."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np
from scipy.stats import chisquare

Outcome = TypeVar("Outcome", bound=Hashable)

# Seeds are fixed: a fair draw fails one of ten thousand tests at this level, and none of these.
LEVEL = 1e-4


def p_value(observed: Counter[Outcome], expected: Mapping[Outcome, float]) -> float:
    """Chi-square; outcomes that are expected less than ten times count as one."""
    total = sum(observed.values())
    assert math.isclose(sum(expected.values()), 1, rel_tol=1e-9)
    assert not {outcome for outcome in observed if expected.get(outcome, 0) == 0}
    rows = [(observed[outcome], total * probability) for outcome, probability in expected.items()]
    often = [row for row in rows if row[1] >= 10]
    rare = [row for row in rows if row[1] < 10]
    if sum(row[1] for row in rare) >= 10:
        often.append((sum(row[0] for row in rare), sum(row[1] for row in rare)))
    counts, means = np.array(often, float).T
    if len(counts) < 2:
        return 1.0
    return float(chisquare(counts, means * counts.sum() / means.sum()).pvalue)
