"""R-hat, split and nested, as ArviZ has them; the overlap of two halves of the chains."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gpusearch.search.diagnostics import agreement, nested_r_hat, split_r_hat
from gpusearch.search.sample_report import Report, UnitReport
from tests.candidates.test_ess import random_chains, waves


@pytest.mark.parametrize(
    ("shape", "mixing", "drifting"),
    [
        ((2, 4), 1.5588610562593952, 2.0467515253296154),
        ((3, 7), 0.9856566167979028, 2.1221470484642646),
        ((4, 50), 1.0349394118896895, 1.7450265023624898),
    ],
)
def test_split_r_hat_of_arviz(shape: tuple[int, int], mixing: float, drifting: float) -> None:
    """What ArviZ 0.23.4 says (method rank) of the same draws, and of their running sums."""
    draws = waves(*shape)
    assert_allclose([split_r_hat(draws), split_r_hat(draws.cumsum(axis=1))], [mixing, drifting], rtol=1e-9)


def test_split_r_hat_equals_arviz_where_it_is_installed() -> None:
    """Last run with ArviZ 0.23.4."""
    arviz = pytest.importorskip("arviz")
    for values in random_chains(200):
        if len(values) > 1:  # of one chain ArviZ says nothing
            assert_allclose(split_r_hat(values), float(arviz.rhat(values)), rtol=1e-9)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((4, 50), (1.0027637043827988, 1.231264430686055)), ((6, 7), (1.0021521545502916, 1.0035859027532772))],
)
def test_nested_r_hat_of_arviz(shape: tuple[int, int], expected: tuple[float, float]) -> None:
    """What ArviZ-stats 0.8.0 says (method identity) of two superchains."""
    draws, superchains = waves(*shape), np.repeat([0, 1], shape[0] // 2)
    found = [nested_r_hat(values, superchains) for values in (draws, draws.cumsum(axis=1))]
    assert_allclose(found, expected, rtol=1e-9)


def test_nested_r_hat_by_hand() -> None:
    """Margossian et al. (2024), equations 4 to 8: one draw a chain is enough; a chain may be its own superchain."""
    draws = np.array([[1.0], [3.0], [4.0], [8.0]])
    means, within = np.array([2.0, 6.0]), (2.0 + 8.0) / 2
    assert nested_r_hat(draws, [0, 0, 1, 1]) == pytest.approx(np.sqrt(1 + means.var(ddof=1) / within))
    alone = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 5.0]])
    expected = np.sqrt(1 + np.array([2.0, 3.0]).var(ddof=1) / ((1.0 + 3.0) / 2))
    assert nested_r_hat(alone, [0, 1]) == pytest.approx(expected)


def test_draws_that_say_nothing() -> None:
    same = np.ones((4, 10))
    assert split_r_hat(same) == nested_r_hat(same, [0, 0, 1, 1]) == 1.0
    apart = np.repeat([[1.0], [1.0], [2.0], [2.0]], 10, axis=1)
    assert split_r_hat(apart) == nested_r_hat(apart, [0, 0, 1, 1]) == np.inf
    assert np.isnan(split_r_hat(np.ones((4, 3)))) and np.isnan(split_r_hat(np.full((4, 10), np.nan)))
    assert np.isnan(nested_r_hat(np.array([[1.0], [2.0]]), [0, 1]))  # one draw each: nothing says how it varies
    assert np.isnan(nested_r_hat(same, [0, 0, 0, 0])) and np.isnan(nested_r_hat(same, [0, 0, 0, 1]))


def test_agreement_is_the_overlap_over_source_words() -> None:
    """Two options for one word, one for two others; half of the chains takes the first, half the second."""
    words = np.array([1, 1, 2])
    one, other = [0, 2, -1], [1, 2, -1]
    assert agreement(np.array([[one, one, one, one]]), words) == 1.0
    assert agreement(np.array([[one, one, other, other]]), words) == pytest.approx(2 / 3)
    assert agreement(np.array([[one, other, other, one]]), words) == 1.0
    assert agreement(np.array([[one, one, one, other]]), words) == pytest.approx((0.5 + 2) / 3)
    assert np.isnan(agreement(np.array([[one]]), words))


@pytest.mark.parametrize(
    ("split", "nested", "overlap", "disagrees"),
    [
        (1.0, 1.0, 0.9, False),
        (1.2, 1.0, 0.9, True),
        (1.0, np.inf, 0.9, True),
        (1.0, 1.0, 0.4, True),
        (np.nan, np.nan, np.nan, False),
        (np.nan, np.nan, 0.4, True),
    ],
)
def test_chains_disagree_in_scores_or_in_phrases(split: float, nested: float, overlap: float, disagrees: bool) -> None:
    """Chains of equal scores may be in different translations; what is not known is no disagreement."""
    good, other = UnitReport(0, 0, 4, 1.0, 1.0, 99.0, 0.95), UnitReport(2, 1, 5, split, nested, 99.0, overlap)
    warning = Report(10, 4, [good, other]).warning()
    assert ("disagree in 1 of 2 units" in warning and "document 3, segment 2" in warning) == disagrees
    assert disagrees or not warning


def test_units_of_which_nothing_is_known_are_told() -> None:
    """One chain of less than four samples; not those of which anything is known."""
    nan = float("nan")
    silent, known = UnitReport(0, 0, 4, nan, nan, 1.0, nan), UnitReport(0, 1, 4, nan, nan, 1.0, 0.9)
    assert "cannot be said of 1 of 2 units: that takes two chains" in Report(1, 1, [silent, known]).note()
    assert "(1 x 3 here)" in Report(3, 1, [silent]).note()
    assert not Report(1, 2, [known]).note()
