"""Exchange of sentences: against plain Python, which scores whole documents from nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpusearch.kernels import reference
from gpusearch.kernels.crossover import cross
from gpusearch.kernels.records import LIMIT_STEPS, Problem, Search, State
from gpusearch.kernels.target import exact
from gpusearch.search.driver import CpuDriver
from gpusearch.search.state import make_scratch, make_state
from tests.feature_forms import ALL
from tests.paths import Case

CHAINS = 3


def chains_of(case: Case) -> tuple[Problem, Search, State]:
    """A document by some chains that have made a few steps."""
    problem, search, values = case.problem()
    state = make_state(problem, np.zeros(CHAINS, int), np.arange(CHAINS), values)
    state.limit[:, LIMIT_STEPS] = 15
    driver = CpuDriver(problem, search, state, 1)
    driver.start(np.arange(CHAINS))
    driver.run(np.arange(CHAINS), lambda: None)
    driver.close()
    return problem, search, state


def by_hand(problem: Problem, search: Search, chains: list[list[list[int]]], number: int) -> list[list[int]]:
    """Each sentence of each chain in turn, taken where the document scores higher, until a round changes nothing."""
    here, changed = [list(sentence) for sentence in chains[number]], True
    score = reference.full(problem, search, here).score
    while changed:
        changed = False
        for local in range(len(here)):
            for donor in chains:
                after = [*here[:local], list(donor[local]), *here[local + 1 :]]
                value = reference.full(problem, search, after).score
                if value > score:
                    here, score, changed = after, value, True
    return here


def test_sentences_are_exchanged_as_by_hand(repetitions: Callable[[int], int]) -> None:
    taken = 0
    for seed in range(repetitions(60)):
        case = replace(Case(seed, sentences=(3, 5, 0, 4, 2)), features=ALL)
        problem, search, state = chains_of(case)
        plain = exact(problem), exact(search)
        chains = [reference.translation(problem, state, lane) for lane in range(CHAINS)]
        option, length = state.option.copy(), state.length.copy()
        assert cross(*(exact(r) for r in (problem, search, state, make_scratch(problem))), 0, exact(option),
                     exact(length), exact(np.ones(1, np.int64))) == 0  # fmt: skip
        assert (state.option == option).all(), "stopped before it began"
        for lane in range(CHAINS):
            taken += cross(*(exact(r) for r in (problem, search, state, make_scratch(problem))), lane, exact(option),
                           exact(length), exact(np.zeros(1, np.int64)))  # fmt: skip
            found = reference.translation(problem, state, lane)
            assert found == by_hand(*plain, chains, lane)
            assert state.score[lane] == reference.full(*plain, found).score
    assert taken > 0
