"""The integer logarithm against exact decimals: error, monotony, and equal integers compiled and interpreted."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.kernels.fixed import gumbel, logarithm_table, minus_log, minus_log_long, noise, times
from gpusearch.kernels.philox import philox
from gpusearch.kernels.target import cpu_driver, exact

CONTEXT = Context(prec=60)
UNIT = Decimal(1 << 40)
WORDS = st.integers(0, 2**32 - 1)
LONG_WORDS = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 63).flatmap(lambda k: st.integers(max(0, (1 << k) - 3), (1 << k) + 3)),
    st.integers(0, 63).map(lambda k: 2**64 - (1 << k)),
)


@cpu_driver
def compiled(table, words, result):
    """Every function of rows (high, low)."""
    for row in range(words.shape[0]):
        high, low = words[row, 0], words[row, 1]
        result[row, 0] = minus_log(table, low)
        result[row, 1] = minus_log_long(table, high, low)
        result[row, 2] = gumbel(table, high, low)
        result[row, 3] = noise(table, high, low, row, row, row)


@cpu_driver
def compiled_times(pair, result):
    result[0] = times(pair[0], pair[1])


def run(words: np.ndarray) -> np.ndarray:
    result = np.zeros((len(words), 4), np.int64)
    compiled(logarithm_table(), words, result)
    return result


def exact_minus_log(word: int, bits: int) -> Decimal:
    """-ln((word + 1/2) / 2^bits) in units of 2^-40."""
    return -CONTEXT.ln(Decimal(2 * word + 1) / Decimal(1 << (bits + 1))) * UNIT


@given(st.integers(0, 2**36), st.integers(-(2**52), 2**52))
def test_products_with_temperatures_are_rounded_down(temperature: int, value: int) -> None:
    """And compiled they do not overflow."""
    expected = temperature * value >> 28
    assert times(temperature, value) == expected
    found = np.zeros(1, np.int64)
    compiled_times(np.array([temperature, value]), found)
    assert found.tolist() == [expected]


@given(WORDS)
def test_short_draws(word: int) -> None:
    """Within 2^-38 nat."""
    found = minus_log(exact(logarithm_table()), word)
    assert abs(found - exact_minus_log(word, 32)) <= 4


@given(LONG_WORDS)
def test_long_draws(word: int) -> None:
    """Within 2^-36 nat."""
    found = minus_log_long(exact(logarithm_table()), word >> 32, word & 0xFFFFFFFF)
    assert abs(found - exact_minus_log(word, 64)) <= 16


@given(LONG_WORDS)
def test_gumbel_noise(word: int) -> None:
    """Within 2^-27 nat, and 2^-36 in the tail that wins; the least draw is the greatest value."""
    found = gumbel(exact(logarithm_table()), word >> 32, word & 0xFFFFFFFF)
    y = CONTEXT.divide(Decimal(2 * word + 1), Decimal(1 << 65))
    minus_log_u = -CONTEXT.ln(CONTEXT.subtract(Decimal(1), y))
    error = abs(found + CONTEXT.ln(minus_log_u) * UNIT)
    assert error <= (16 if word < 1 << 55 else 1 << 13)


def test_extremes() -> None:
    table = exact(logarithm_table())
    most = 2**32 - 1
    nats = [minus_log(table, most), minus_log(table, 0), minus_log_long(table, 0, 0), gumbel(table, 0, 0)]
    assert [value / 2**40 for value in nats] == pytest.approx([2.0**-33, 22.87386, 45.05457, 45.05457], rel=1e-5)
    assert 0 <= minus_log_long(table, most, most) <= 8
    assert gumbel(table, most, most) / 2**40 == pytest.approx(-3.80787, abs=1e-5)


@given(LONG_WORDS, LONG_WORDS)
def test_monotone(one: int, other: int) -> None:
    table = exact(logarithm_table())
    low, high = sorted((one, other))
    for less, more in ((low, high), (low, low + 1), (low, low + (1 << 27))):
        if more < 1 << 64:
            words = [(word >> 32, word & 0xFFFFFFFF) for word in (less, more)]
            assert minus_log_long(table, *words[0]) >= minus_log_long(table, *words[1])
            assert minus_log(table, less >> 32) >= minus_log(table, more >> 32)
            assert gumbel(table, *words[0]) >= gumbel(table, *words[1]) - (1 << 14)


def test_monotone_from_place_to_place(repetitions: Callable[[int], int]) -> None:
    """Neighbouring draws everywhere: at every border of two intervals, of two powers of 2, and in between."""
    rng = np.random.default_rng(3)
    begin = np.concatenate([(256 + np.arange(256)) << 24, 1 << np.arange(3, 32), rng.integers(8, 2**32, 1000)])
    many = repetitions(2000)
    short = (begin[:, None] - 2 + np.arange(many)).clip(0, 2**32 - 1)
    words = np.zeros((*short.shape, 2), np.int64)
    words[..., 1] = short
    assert (np.diff(run(words.reshape(-1, 2))[:, 0].reshape(short.shape)) <= 0).all()
    words[..., 0], words[..., 1] = short, rng.integers(0, 2**32)
    found = run(words.reshape(-1, 2)).reshape(*short.shape, 4)
    assert (np.diff(found[..., 1]) <= 0).all()


def test_compiled_is_interpreted() -> None:
    rng = np.random.default_rng(4)
    words = rng.integers(0, 1 << rng.integers(1, 33, (500, 2)))
    table = exact(logarithm_table())
    rows = [
        (minus_log(table, low), minus_log_long(table, high, low), gumbel(table, high, low))
        for high, low in words.tolist()
    ]
    found = run(words)
    assert found[:, :3].tolist() == [list(row) for row in rows]
    assert found[:, 3].tolist() == [noise(table, *words[k].tolist(), k, k, k) for k in range(500)]


def test_noise_is_that_of_its_counter() -> None:
    """Words 0 and 1 for even candidates, 2 and 3 for odd ones."""
    table = exact(logarithm_table())
    key, step, chain = (77, 88), (5 << 32) + 6, 9
    for candidate in (4, 5):
        words = philox(6, 5, chain, (1 << 22) + 2, *key)
        place = 2 * (candidate - 4)
        assert noise(table, *key, step, chain, candidate) == gumbel(table, words[place], words[place + 1])


def test_gumbel_draws_have_their_distribution(repetitions: Callable[[int], int]) -> None:
    """Mean is Euler's constant, variance pi^2 / 6."""
    many = repetitions(1_000_000)
    words = np.zeros((many, 2), np.int64)
    words[:] = 12, 34
    found = run(words)[:, 3] / 2**40
    assert abs(found.mean() - 0.5772157) < 6 * 1.2825 / many**0.5
    assert abs(found.var() - 1.644934) < 6 * 3.5 / many**0.5


def test_table_is_not_written_to() -> None:
    assert not logarithm_table().flags.writeable
