"""Metropolis chains and tempering's cold chains have the enumerated distribution: operation by operation, and by draws.

Sentences of 2 to 5 words of the laws100k parity model with its reordering model, as in ``test_gibbs.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gpusearch.config import OperationsConfig, SearchConfig
from gpusearch.kernels.records import (
    DISTORTION_WEIGHT,
    LIMIT_STEPS,
    LINEARISE,
    LONGEST,
    OPERATIONS,
    UNIT_WORDS,
    VALUE_BITS,
    VALUES,
    Search,
    State,
)
from gpusearch.model.model import Model
from gpusearch.search.driver import CpuDriver
from gpusearch.search.enumeration import Enumerated, enumerate_derivations
from gpusearch.search.hastings import make_hastings
from gpusearch.search.settings import make_search
from gpusearch.search.state import make_state
from gpusearch.search.temperature import geometric, temperature_levels
from gpusearch.search.tempering import Ladder, TemperingDriver
from tests.parity_model import laws_documents
from tests.statistical.enumerated_draws import Draws
from tests.statistical.posterior import THREADS, count_states, states_of_lanes
from tests.statistical.test_gibbs import SCALES
from tests.statistical.verdict import Verdict

pytestmark = [pytest.mark.stat, pytest.mark.timeout(7200)]

MIXES: dict[str, dict[str, float]] = {
    "default": {},
    "permute and move": {"permute": 40, "move": 80, "move_right": 0.3},
    "insertion": {"insertion": 200, "resegment": 60, "resegment_swap": 0},
    "split and swap": {"split_and_swap": 200, "resegment_swap": 0},
}
# Proposals a source word before the last state is looked at. Where the distribution is peaked, single proposals seldom
# lead from one of its peaks to another: KL falls by a factor e in some 200 of them for the slowest sentence.
BURN_IN, LONG_BURN_IN, LONG_BURN_IN_OF_LADDERS = 80, 2500, 800


def short_scenes(model: Model, parity: Path, wanted: int, longest: int, most: int) -> list[Enumerated]:
    """Sentences, each with a table limit of its own."""
    short = {tuple(s) for document in laws_documents(parity) for s in document if 2 <= len(s) <= longest}
    each = sorted(short, key=lambda s: (len(s), s))
    spread = [each[k * (len(each) - 1) // (wanted - 1)] for k in range(wanted)]
    return [enumerate_derivations(model, [list(sentence)], most) for sentence in spread]


@pytest.fixture(scope="module")
def scenes(laws_model: Model, parity: Path, full: bool) -> list[Enumerated]:
    """For draws; few and small ones in the quick run."""
    return short_scenes(laws_model, parity, 30, 5, 2000) if full else short_scenes(laws_model, parity, 4, 5, 400)


@pytest.fixture(scope="module")
def small_scenes(laws_model: Model, parity: Path, full: bool) -> list[Enumerated]:
    """For enumeration of all draws."""
    return short_scenes(laws_model, parity, 12, 4, 150) if full else short_scenes(laws_model, parity, 3, 3, 60)


def metropolis(scene: Enumerated, mix: dict[str, float]) -> Search:
    """The search of a scene with a mix of operations, thresholds with their ratios, temperatures those of the lanes."""
    number = scene.search.number
    search = make_search(
        SearchConfig(operations=OperationsConfig(**mix)),
        longest=int(number[LONGEST]),
        values=int(number[VALUES]),
        distortion_weight=int(number[DISTORTION_WEIGHT]) >> VALUE_BITS,
    )
    return search._replace(temperature=temperature_levels([]), hastings=make_hastings(scene.problem, search))


def transition_matrix(draws: Draws, scene: Enumerated, scale: float) -> csr_array:
    """Of an operation: the probability of a draw and that it is accepted, summed over all that lead to a state."""
    states, score = scene.states[0], scene.score[0]
    number = {options: index for index, options in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for now in range(len(states)):
        for probability, options, ratio in draws.of(now):
            after = now if options is None else number[options]
            accepted = min(1.0, np.exp(min(scale * (score[after] - score[now]) - ratio, 0.0)))
            matrix[now, after] += probability * accepted
            matrix[now, now] += probability * (1 - accepted)
    return csr_array(matrix)


@pytest.mark.parametrize("mix", ["default", "permute and move", "insertion"])
def test_every_operation_keeps_the_distribution(
    small_scenes: list[Enumerated], mix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pi P = pi and detailed balance within 1e-9 for every operation that metropolis has, each draw with its ratio from
    the kernel; from every derivation they lead to every other one."""
    moves = np.zeros(OPERATIONS)
    for place, scene in enumerate(small_scenes):
        scale = SCALES[place % len(SCALES)]
        search, pi = metropolis(scene, MIXES[mix]), scene.posterior(0, scale)
        state = states_of_lanes(scene, 0)
        reached: Any = 0
        for operation in range(OPERATIONS):
            if operation == LINEARISE:
                continue
            with monkeypatch.context() as patch:
                matrix = transition_matrix(Draws(patch, scene.problem, search, state, operation), scene, scale)
            assert abs(matrix.sum(axis=1) - 1).max() < 1e-12
            assert np.abs(pi @ matrix - pi).max() < 1e-9
            flow = (matrix * pi[:, None]).tocsr()
            assert abs(flow - flow.T).max() < 1e-9
            moves[operation] += 1 - (pi * matrix.diagonal()).sum()
            reached = reached + matrix
        assert connected_components(reached, connection="strong")[0] == 1
    assert (np.delete(moves, LINEARISE) > 0).all(), moves


def lanes_of(scene: Enumerated, chains: int, scale: float, burn_in: int = BURN_IN) -> State:
    """Chains of the scene's unit that end after their burn-in."""
    values = len(scene.batch.options.model.features.names)
    state = make_state(scene.problem, np.zeros(chains, int), np.arange(chains), values)
    state.limit[:, LIMIT_STEPS] = burn_in * scene.problem.unit[0, UNIT_WORDS]
    state.limit[:, -1] = temperature_levels([1 / scale]).level[0]
    return state


def last_states(scene: Enumerated, search: Search, chains: int, scale: float, burn_in: int) -> NDArray[np.int64]:
    """How often each derivation is the last state of a chain."""
    state = lanes_of(scene, chains, scale, burn_in)
    driver = CpuDriver(scene.problem, search, state, THREADS)
    driver.start(np.arange(chains))
    driver.run(np.arange(chains), lambda: None)
    driver.close()
    return count_states(scene, state, 0)


def grid(scenes: list[Enumerated], full: bool) -> Iterator[tuple[Enumerated, float, str]]:
    """Every sentence with every mix at one of the scales; in the quick run with two of the mixes, where the larger
    scales tell more."""
    scales = SCALES if full else SCALES[1:]
    for place, scene in enumerate(scenes):
        for turn, mix in enumerate(MIXES):
            if full or (turn - place) % len(MIXES) < 2:
                yield scene, scales[(place + turn) % len(scales)], mix


def test_last_states_have_the_distribution(
    scenes: list[Enumerated], full: bool, repetitions: Callable[[int], int]
) -> None:
    """20,000 chains (2,000 in the quick run) a cell."""
    verdict = Verdict()
    for scene, scale, mix in grid(scenes, full):
        burn_in = LONG_BURN_IN if full and scale > 1 else BURN_IN
        counts = last_states(scene, metropolis(scene, MIXES[mix]), repetitions(20_000), scale, burn_in)
        verdict.add(counts, scene, scale)
    verdict.check()


def test_cold_chains_have_the_distribution(
    scenes: list[Enumerated], full: bool, repetitions: Callable[[int], int]
) -> None:
    """The cold ones of 20,000 ladders of three chains (2,000 in the quick run), some of whose temperatures move in the
    first half."""
    verdict, ladders = Verdict(), repetitions(20_000)
    for place, scene in enumerate(scenes):
        scale = SCALES[place % len(SCALES)]
        state = lanes_of(scene, 3 * ladders, scale, LONG_BURN_IN_OF_LADDERS if full and scale > 1 else BURN_IN)
        steps = int(state.limit[0, LIMIT_STEPS])
        one = np.ones(len(scene.problem.unit), np.int64)
        first = np.array(geometric(1 / scale, 4 / scale, 3))
        ladder = Ladder(first, 4 * one, steps // 2 * (place % 2) * one, (steps + 1) * one)
        driver = CpuDriver(scene.problem, metropolis(scene, {}), state, THREADS)
        tempering = TemperingDriver(driver, scene.problem, ladder)
        lanes = np.arange(3 * ladders)
        tempering.start(lanes)
        tempering.run(lanes, lambda: None)
        tempering.close()
        assert (tempering.swaps[0] > 0).all() and (tempering.swaps[1] < tempering.swaps[0]).all()
        verdict.add(count_states(scene, state, 0, tempering.level == 0), scene, scale)
    verdict.check(notices=full)
