"""The random numbers: Random123's known answers on every target, and the draws made from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from gpusearch.kernels.fixed import logarithm_table, minus_log_long
from gpusearch.kernels.philox import (
    CHAIN,
    INITIAL,
    PROPOSAL,
    STEP,
    TAKEN,
    below,
    next_word,
    open_stream,
    philox,
    truncated_geometric,
    uniform,
)
from gpusearch.kernels.records import LONGEST_DRAW, RANDOM
from gpusearch.kernels.target import OPTIONS, cpu_driver, exact
from tests.known_answers import PHILOX, philox_on_cuda

WORDS = st.integers(0, 2**32 - 1)
ONE = 1 << 32


@numba.njit(**OPTIONS)
def compiled_philox(counter, key):
    return philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1])


@numba.njit(**OPTIONS)
def compiled_words(random, words):
    for place in range(len(words)):
        words[place] = next_word(random)


@pytest.mark.parametrize(("counter", "key", "answer"), PHILOX)
def test_known_answers(counter: tuple[int, ...], key: tuple[int, ...], answer: tuple[int, ...]) -> None:
    """kat_vectors of Random123 1.14, philox4x32-10."""
    assert philox(*counter, *key) == answer
    assert compiled_philox(np.array(counter), np.array(key)) == answer


@pytest.mark.gpu
def test_known_answers_on_cuda() -> None:
    assert philox_on_cuda() == [answer for _, _, answer in PHILOX]


@given(step=st.integers(0, 2**63 - 1), chain=WORDS, keys=st.tuples(WORDS, WORDS), purpose=st.sampled_from([0, 1 << 20]))
def test_stream_is_the_blocks_of_its_counter(step: int, chain: int, keys: tuple[int, int], purpose: int) -> None:
    """Counter: low and high word of the step, chain, block; interpreted and compiled."""
    expected = [
        word for block in range(3) for word in philox(step & 0xFFFFFFFF, step >> 32, chain, purpose + block, *keys)
    ]
    stream = np.zeros(RANDOM, np.int64)
    open_stream(exact(stream), *keys, step, chain, purpose)
    assert [next_word(exact(stream)) for _ in range(12)] == expected
    open_stream(stream, *keys, step, chain, purpose)
    found = np.zeros(12, np.int64)
    compiled_words(stream, found)
    assert found.tolist() == expected


def test_purposes_do_not_overlap() -> None:
    assert INITIAL - PROPOSAL >= 1 << 20


def holding(word: int) -> object:
    """A stream that gives this word next."""
    stream = np.zeros(RANDOM, np.int64)
    stream[TAKEN], stream[1] = 1, word
    return exact(stream)


@given(word=WORDS, count=st.integers(1, 2**31 - 1))
def test_uniform_is_the_whole_part_of_a_fraction(word: int, count: int) -> None:
    assert uniform(holding(word), count) == int(Fraction(word, ONE) * count) < count


@given(word=WORDS, total=st.integers(1, ONE))
def test_below_is_the_whole_part_of_a_fraction(word: int, total: int) -> None:
    assert below(holding(word), total) == int(Fraction(word, ONE) * total) < total


def survival(decay: float) -> np.ndarray:
    return np.round(np.float64(decay) ** np.arange(LONGEST_DRAW + 1)[None] * ONE).astype(np.int64)


def geometric(decay: float, most: int) -> list[Fraction]:
    """P(k), k = 1 .. most."""
    powers = [Fraction(decay) ** (k - 1) for k in range(1, most + 1)]
    return [power / sum(powers) for power in powers]


@given(word=WORDS, decay=st.floats(0, 0.999), most=st.integers(1, 100))
def test_truncated_geometric_inverts_the_distribution(word: int, decay: float, most: int) -> None:
    """The word's place in 0 .. 1 lies within the step of the drawn number, but for the table's rounding."""
    drawn = truncated_geometric(holding(word), exact(survival(decay)), 0, most)
    most = min(most, LONGEST_DRAW)
    assert 1 <= drawn <= most
    # Small words mean long draws: the table holds what survives.
    shortest, one = Fraction(decay) ** most, 1 - Fraction(decay) ** most
    behind, from_here = ((Fraction(decay) ** k - shortest) / one for k in (drawn, drawn - 1))
    rounding = Fraction(4, ONE) / one
    assert behind - rounding <= Fraction(word, ONE) <= from_here + rounding


@pytest.mark.stat
@pytest.mark.parametrize(("decay", "most"), [(0.5, 6), (0.9, 12), (0.1, 3), (0.0, 4), (0.99, 100)])
def test_truncated_geometric_by_frequency(decay: float, most: int, repetitions: Callable[[int], int]) -> None:
    draws = repetitions(100_000)
    observed = Counter(_draw(truncated_geometric, step, exact(survival(decay)), 0, most) for step in range(draws))
    expected = np.array([float(p) for p in geometric(decay, min(most, LONGEST_DRAW))])
    assert _p_value(observed, expected, draws, first=1) > 1e-4


@pytest.mark.stat
@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_uniform_and_below_by_frequency(count: int, repetitions: Callable[[int], int]) -> None:
    draws = repetitions(100_000)
    expected = np.full(count, 1 / count)
    for draw in (uniform, below):
        observed = Counter(_draw(draw, step, count) for step in range(draws))
        assert _p_value(observed, expected, draws, first=0) > 1e-4


@pytest.mark.stat
def test_a_wrong_distribution_is_noticed(repetitions: Callable[[int], int]) -> None:
    """The chi-square above has the power to see a decay that is 10 % off."""
    draws = repetitions(100_000)
    observed = Counter(_draw(truncated_geometric, step, exact(survival(0.55)), 0, 6) for step in range(draws))
    assert _p_value(observed, np.array([float(p) for p in geometric(0.5, 6)]), draws, first=1) < 1e-6


def _draw(function: Callable[..., int], step: int, *arguments: object) -> int:
    stream = exact(np.zeros(RANDOM, np.int64))
    open_stream(stream, 11, 22, step, 3, PROPOSAL)
    assert stream[STEP] == step and stream[CHAIN] == 3
    return function(stream, *arguments)


def _p_value(observed: Counter[int], expected: np.ndarray, draws: int, *, first: int) -> float:
    counts = np.array([observed[first + k] for k in range(len(expected))], float)
    assert counts.sum() == draws
    kept = expected > 0
    assert counts[~kept].sum() == 0
    return 1.0 if kept.sum() == 1 else float(chisquare(counts[kept], expected[kept] * draws).pvalue)


@cpu_driver
def logarithms_of_words(table, counters, result):
    for row in range(counters.shape[0]):
        high, low, _, _ = philox(counters[row, 0], 0, counters[row, 1], PROPOSAL, counters[row, 2], counters[row, 3])
        result[row] = minus_log_long(table, high, low)


def test_compiled_words_are_right_wherever_they_go() -> None:
    """Products that overflow must not let the compiler conclude anything about their words."""
    counters = np.random.default_rng(1).integers(0, 1 << 32, (1000, 4))
    result = np.zeros(len(counters), np.int64)
    logarithms_of_words(logarithm_table(), counters, result)
    for (step, chain, low, high), found in zip(counters.tolist(), result.tolist(), strict=True):
        words = philox(step, 0, chain, PROPOSAL, low, high)
        assert found == minus_log_long(exact(logarithm_table()), *words[:2])
