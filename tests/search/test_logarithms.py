"""Logarithms of arrays on the host are the kernels' integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.kernels.fixed import leading_bit, logarithm_table, minus_log_long, minus_log_of_ratio
from gpusearch.kernels.records import NEVER
from gpusearch.kernels.target import exact
from gpusearch.search.logarithms import leading_bits, log_ratios, minus_logs

WORDS = st.integers(0, 2**32 - 1)


@given(st.lists(st.tuples(st.one_of(WORDS, st.integers(0, 3), st.just(1 << 31)), WORDS), min_size=1))
def test_draws(words: list[tuple[int, int]]) -> None:
    high, low = np.array(words, np.int64).T
    expected = [minus_log_long(exact(logarithm_table()), *pair) for pair in words]
    assert minus_logs(high, low).tolist() == expected


@given(st.lists(st.one_of(st.integers(1, 2**63 - 1), st.integers(0, 62).map(lambda k: 1 << k)), min_size=1))
def test_leading_bits(numbers: list[int]) -> None:
    assert leading_bits(np.array(numbers)).tolist() == [leading_bit(number) for number in numbers]


@given(st.integers(1, 2**36), st.integers(1, 2**36))
def test_ratios(above: int, below: int) -> None:
    """Within 2^-37 nat; of a part of a power of two exactly as the kernels have it."""
    assert abs(int(log_ratios(above, below)) / 2**40 - (np.log(above) - np.log(below))) < 2**-37
    assert abs(-int(log_ratios(above, 1 << 36)) - minus_log_of_ratio(exact(logarithm_table()), above, 36)) <= 1
    assert log_ratios(np.array([0, 1]), 1).tolist() == [NEVER, 0]
