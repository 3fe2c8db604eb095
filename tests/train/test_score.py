"""Discounts of phrase counts."""

from __future__ import annotations

import numpy as np
import pytest

from gpusearch.train.score import estimate_discounts


def test_discounts_follow_the_formula() -> None:
    """n_1 to n_4 are 100, 40, 20, 10: Y = 100/180."""
    discounts = estimate_discounts(np.array([100, 40, 20, 10, 300]))
    assert discounts.values == pytest.approx([1 - 2 * 5 / 9 * 0.4, 2 - 3 * 5 / 9 * 0.5, 3 - 4 * 5 / 9 * 0.5])
    assert discounts.pairs == 300


def test_figures_that_give_no_discount_give_half_a_count() -> None:
    """No pair occurs once; none twice; far more thrice than twice, so that D_2 would be below 0."""
    for counts in ([0, 0, 0, 0, 7], [5, 0, 0, 0, 5]):
        assert list(estimate_discounts(np.array(counts)).values) == [0.5, 0.5, 0.5]
    first, second, third = estimate_discounts(np.array([100, 10, 400, 100, 700])).values
    assert (first, second, third) == pytest.approx((100 / 120, 0.5, 3 - 4 * 100 / 120 / 4))
