"""Weights of the option draw."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.model.option_draw import draw_weights, exponential

UNIT = 1 << 40

option_sets = st.lists(st.lists(st.integers(-(1 << 50), 1 << 50), min_size=1, max_size=40), max_size=6)


def weights(sets: list[list[int]], draw: str = "score", temperature: float = 0.4, uniform: float = 0.1) -> list:
    first = np.cumsum([0, *map(len, sets)])
    scores = np.array([score for options in sets for score in options], np.int64)
    running = draw_weights(scores, first, draw=draw, temperature=temperature * UNIT, uniform=uniform)
    return [np.diff(running[a:b], prepend=0) for a, b in pairwise(first)]


@given(option_sets, st.floats(0.01, 10), st.floats(0, 1))
def test_score_weights_are_the_mixture_of_softmax_and_uniform(
    sets: list[list[int]], temperature: float, uniform: float
) -> None:
    for options, made in zip(sets, weights(sets, temperature=temperature, uniform=uniform), strict=True):
        scores = np.array(options, np.float64) / UNIT / temperature
        softmax = np.exp(scores - scores.max())
        expected = (1 - uniform) * softmax / softmax.sum() + uniform / len(options)
        assert made.min() >= 1
        assert 2**30 < made.sum() < 2**31
        np.testing.assert_allclose(made / made.sum(), expected, atol=1e-7)


@given(option_sets)
def test_uniform_weights_are_equal(sets: list[list[int]]) -> None:
    for made in weights(sets, draw="uniform"):
        assert set(made.tolist()) == {1}


def test_the_exponential_is_that_of_the_library_but_for_rounding() -> None:
    x = -np.concatenate(([0.0], np.geomspace(1e-12, 700, 10_000)))
    np.testing.assert_allclose(exponential(x), np.exp(x), rtol=2**-48)


def test_the_tables_are_the_same_on_every_machine() -> None:
    """Numbers from one machine: another processor or library must give them too (golden paths depend on it)."""
    made = weights([[0, -(UNIT // 3), -UNIT, -5 * UNIT], [7]])
    assert [part.tolist() for part in made] == [[1328001016, 607501639, 158289147, 53691839], [2147483646]]


def test_an_unknown_draw_is_named() -> None:
    with pytest.raises(InputError, match="unknown option draw"):
        weights([[1]], draw="greedy")
