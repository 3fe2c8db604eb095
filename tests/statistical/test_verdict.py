"""The verdict on samplers: what it accepts, and each of the faults that it is there to notice."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.statistical.verdict import Hypothesis, Verdict

SCORES = np.array([0.0, -1.0, -1.5, -2.0, -3.0])
CELLS, DRAWS = 60, 20_000


def scene_of(scores: NDArray[np.float64]) -> Any:
    def posterior(unit: int, scale: float) -> NDArray[np.float64]:
        weight = np.exp(scale * scores)
        return weight / weight.sum()

    return SimpleNamespace(posterior=posterior)


def counts_of(probability: NDArray[np.float64], off: float = 0.0) -> NDArray[np.int64]:
    """Expectations, moved up and down in turn by so many standard deviations each."""
    expected = DRAWS * probability
    sign = np.array([1, -1, 1, -1, 0])
    return np.rint(expected + off * sign * np.sqrt(expected)).astype(np.int64)


def verdict_on(scores: NDArray[np.float64], off: float) -> Verdict:
    verdict = Verdict()
    for _ in range(CELLS):
        verdict.add(counts_of(scene_of(scores).posterior(0, 1.0), off), scene_of(scores), 1.0)
    return verdict


def test_what_has_the_distribution_passes() -> None:
    verdict_on(SCORES, 0.0).check(full=True)


def test_what_is_off_a_little_everywhere_is_noticed() -> None:
    """No cell by itself, as Holm looks at them, but their sum."""
    verdict = verdict_on(SCORES, 1.2)
    assert not verdict.right.rejected() and min(verdict.right.p_values) > 0.1
    with pytest.raises(AssertionError):
        verdict.check(full=False)


def test_one_cell_that_is_off_is_noticed() -> None:
    """Not by the sum of all."""
    hypothesis = Hypothesis()
    for value in [1e-6, *[0.5] * (CELLS - 1)]:
        hypothesis.add(value, 5)
    assert hypothesis.rejected() and hypothesis.together() > 1e-3


def test_draws_that_do_not_tell_a_wrong_scale_are_noticed() -> None:
    """Derivations that score the same come as often at any scale."""
    verdict = verdict_on(np.zeros(5), 0.0)
    verdict.check(full=False, notices=False)
    for full in (False, True):
        with pytest.raises(AssertionError):
            verdict.check(full=full, notices=not full)


def test_a_divergence_of_more_than_twice_that_of_draws_is_noticed() -> None:
    with pytest.raises(AssertionError):
        verdict_on(SCORES, 2.0)
