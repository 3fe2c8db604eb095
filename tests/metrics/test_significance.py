"""Paired tests: right where the truth is known, and repeatable."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from gpusearch.errors import InputError
from gpusearch.metrics import approximate_randomization, evaluate, make_metric, paired_bootstrap
from gpusearch.metrics.base import Statistics


def ratio(statistics: Statistics) -> float:
    return float(100 * statistics[0] / max(statistics[1], 1))


def systems(generator: np.random.Generator, documents: int, advantage: float) -> tuple[Statistics, Statistics]:
    """Matches and totals of two systems on documents of different difficulty and length."""
    totals = generator.integers(20, 200, documents)
    rates = generator.uniform(0.2, 0.6, documents)
    first = generator.binomial(totals, rates + advantage)
    other = generator.binomial(totals, rates)
    return np.stack([first, totals], 1), np.stack([other, totals], 1)


def test_observed_scores_and_repeatability() -> None:
    first, other = systems(np.random.default_rng(3), 12, 0.05)
    result = paired_bootstrap(first, other, ratio, resamples=200, seed=5)
    assert result.score == ratio(first.sum(0)) and result.other == ratio(other.sum(0))
    assert result.difference == result.score - result.other
    assert result.score_interval[0] < result.score < result.score_interval[1]
    assert result.difference_interval[0] < result.difference < result.difference_interval[1]
    assert (result.units, result.resamples, result.seed) == (12, 200, 5)
    assert paired_bootstrap(first, other, ratio, resamples=200, seed=5) == result
    assert paired_bootstrap(first, other, ratio, resamples=200, seed=6) != result


def test_exchange_of_the_systems() -> None:
    """The same resamples are used: everything changes its sign, and p stays."""
    first, other = systems(np.random.default_rng(4), 9, 0.02)
    one, two = (paired_bootstrap(a, b, ratio, resamples=300) for a, b in ((first, other), (other, first)))
    assert one.p_value == two.p_value and one.difference == -two.difference
    low, high = two.difference_interval
    assert one.difference_interval == pytest.approx((-high, -low))
    assert approximate_randomization(first, other, ratio) == approximate_randomization(other, first, ratio)


def test_a_system_against_itself() -> None:
    first, _ = systems(np.random.default_rng(5), 20, 0.0)
    assert paired_bootstrap(first, first, ratio).p_value == 1.0
    assert approximate_randomization(first, first, ratio) == 1.0


def test_randomization_of_few_documents_is_exact() -> None:
    """All 2^5 exchanges, enumerated in plain Python."""
    first, other = systems(np.random.default_rng(6), 5, 0.1)
    observed = abs(ratio(first.sum(0)) - ratio(other.sum(0)))
    extreme = 0
    for swaps in product([False, True], repeat=5):
        mask = np.array(swaps)[:, None]
        one, two = np.where(mask, other, first), np.where(mask, first, other)
        extreme += abs(ratio(one.sum(0)) - ratio(two.sum(0))) >= observed - 1e-9
    assert approximate_randomization(first, other, ratio) == extreme / 32


def test_random_exchanges_approach_the_exact_value() -> None:
    first, other = systems(np.random.default_rng(7), 11, 0.02)
    exact = approximate_randomization(first, other, ratio, trials=2**11)
    drawn = approximate_randomization(first, other, ratio, trials=2**11 - 1, seed=2)
    assert exact != drawn and drawn == pytest.approx(exact, abs=4 * (0.25 / 2**11) ** 0.5)


@pytest.mark.stat
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_equal_systems_are_rarely_told_apart(test: str, repetitions: Callable[[int], int]) -> None:
    """Of equal systems about 5 % have p <= 0.05 (the bootstrap may have some more: it is approximate)."""
    generator = np.random.default_rng(8)
    count = repetitions(1000)
    found = 0
    for _ in range(count):
        first, other = systems(generator, 30, 0.0)
        if test == "bootstrap":
            p_value = paired_bootstrap(first, other, ratio, resamples=199).p_value
        else:
            p_value = approximate_randomization(first, other, ratio, trials=199)
        found += p_value <= 0.05
    rate = 0.05 if test == "randomization" else 0.08
    assert found <= binom.isf(1e-4, count, rate)
    assert found >= binom.ppf(1e-4, count, 0.03)


@pytest.mark.stat
def test_a_better_system_is_found(repetitions: Callable[[int], int]) -> None:
    """The same tests have power: 6 points on 30 documents are found nearly always."""
    generator = np.random.default_rng(9)
    count = repetitions(300)
    pairs = [systems(generator, 30, 0.06) for _ in range(count)]
    assert sum(paired_bootstrap(*pair, ratio, resamples=199).p_value <= 0.05 for pair in pairs) >= 0.9 * count
    assert sum(approximate_randomization(*pair, ratio, trials=199) <= 0.05 for pair in pairs) >= 0.9 * count


@pytest.mark.stat
def test_intervals_cover(repetitions: Callable[[int], int]) -> None:
    """95 % intervals of the difference hold the true one in about 95 % of the samples."""
    generator = np.random.default_rng(10)
    count = repetitions(1000)
    held = 0
    for _ in range(count):
        low, high = paired_bootstrap(*systems(generator, 40, 0.04), ratio, resamples=199).difference_interval
        held += low <= 4.0 <= high
    assert binom.ppf(1e-4, count, 0.91) <= held <= binom.isf(1e-4, count, 0.97)


def test_any_metric() -> None:
    """Statistics of documents are all that a test needs; the score it reports is the metric's."""
    hypotheses = [f"line {number} of some text" for number in range(8)]
    others = [f"line {number} with other text" for number in range(8)]
    references = [f"line {number} of the text" for number in range(8)]
    metric = make_metric("bleu")
    rows = [metric.statistics(texts, references) for texts in (hypotheses, others)]
    result = paired_bootstrap(*rows, metric.score, resamples=50)
    assert result.score == evaluate(hypotheses, references, metrics=["bleu"])[0].score
    assert result.difference > 0


def test_faults() -> None:
    rows = np.ones((3, 2), np.int64)
    with pytest.raises(InputError, match="a paired test of different texts; found 3 and 2 units"):
        paired_bootstrap(rows, rows[:2], ratio)
    with pytest.raises(InputError, match="a paired test needs several documents; found 1; expected 2 or more"):
        approximate_randomization(rows[:1], rows[:1], ratio)
