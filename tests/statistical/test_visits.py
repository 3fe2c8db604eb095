"""Sentences of a document are visited in proportion to their source words, evenly, and longer and longer."""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby

import numpy as np
import pytest

from gpusearch.kernels.philox import PROPOSAL, open_stream
from gpusearch.kernels.records import RANDOM, Problem, Search
from gpusearch.kernels.target import exact
from gpusearch.kernels.visits import VISITS, visited_sentence
from tests.random_language import random_language
from tests.random_problem import PlainSettings, random_problem
from tests.statistical.chi_square import LEVEL, p_value

WORDS = (4, 1, 0, 3)


def scene(longest_visit: int = 4096) -> tuple[Problem, Search]:
    settings = PlainSettings(longest_visit=longest_visit)
    problem, search, _ = random_problem(2, random_language(0), sentences=WORDS, settings=settings)
    return exact(problem), exact(search)


def visited(problem: Problem, search: Search, steps: range, chain: int = 0) -> list[int]:
    """The sentence of each step of a chain."""
    random = exact(np.zeros(RANDOM, np.int64))
    found = []
    for step in steps:
        open_stream(random, 11, 12, step, chain, PROPOSAL)
        found.append(int(visited_sentence(problem, search, random, 0)))
    return found


@pytest.mark.stat
@pytest.mark.parametrize("step", [0, 1, 5, 1_000_003])
def test_in_proportion_to_their_source_words(step: int) -> None:
    problem, search = scene()
    counts = Counter(visited(problem, search, range(step, step + 1), chain)[0] for chain in range(8_000))
    assert p_value(counts, {0: 4 / 8, 1: 1 / 8, 3: 3 / 8}) > LEVEL
    assert p_value(counts, {0: 4.4 / 8, 1: 1 / 8, 3: 2.6 / 8}) < LEVEL


@pytest.mark.parametrize("chain", range(5))
@pytest.mark.parametrize("doubling", [2**5, 2**9, 2**12])
def test_evenly_in_each_doubling(doubling: int, chain: int) -> None:
    """Points at multiples of the golden ratio miss the share of an interval by less than their number's logarithm."""
    problem, search = scene()
    steps = Counter(visited(problem, search, range(doubling, 2 * doubling), chain))
    length = visit_length(doubling, 4096)
    visits = doubling // length
    for sentence, words in enumerate(WORDS):
        assert abs(steps[sentence] / length - visits * words / sum(WORDS)) <= 1 + math.log2(visits) / 4


def visit_length(step: int, longest: int) -> int:
    """Steps of the visit that a step belongs to, by its definition."""
    doubling = 2 ** int(math.log2(max(step, 1)))
    room = max(1.0, min(longest, doubling / (VISITS * len(WORDS))))
    return 2 ** int(math.log2(room))


@pytest.mark.parametrize("longest", [1, 3, 8, 4096])
def test_visits_are_as_long_as_the_steps_so_far_allow(longest: int) -> None:
    """No run of one sentence ends within a visit."""
    problem, search = scene(longest)
    start = 0
    for _, run in groupby(visited(problem, search, range(3_000))):
        assert start % visit_length(start, longest) == 0
        start += len(list(run))
    assert visit_length(2_999, longest) == {1: 1, 3: 2, 8: 8, 4096: 64}[longest]


def test_a_step_has_the_same_sentence_whatever_was_looked_at_before() -> None:
    problem, search = scene()
    for steps in (range(0, 2_000, 37), range(1_999, -1, -29)):
        alone = [visited(problem, search, range(step, step + 1))[0] for step in steps]
        assert visited(problem, search, steps) == alone
    # Another chain, another key: nothing of the last visit is left in the stream.
    random = exact(np.zeros(RANDOM, np.int64))
    for chain in range(20):
        open_stream(random, 11, 12, 500, chain, PROPOSAL)
        assert visited_sentence(problem, search, random, 0) == visited(problem, search, range(500, 501), chain)[0]
