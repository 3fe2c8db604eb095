"""Metropolis chains and tempering's cold chains have the enumerated distribution: operation by operation, and by draws.

Sentences of 2 to 5 words of the laws100k parity model with its reordering model, as in ``test_gibbs.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

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
from gpusearch.search.enumeration import Enumerated
from gpusearch.search.hastings import make_hastings
from gpusearch.search.settings import make_search
from gpusearch.search.state import make_state
from gpusearch.search.temperature import geometric, temperature_levels
from gpusearch.search.tempering import Ladder, TemperingDriver
from tests.statistical.enumerated_draws import Draws
from tests.statistical.posterior import THREADS, count_states, states_of_lanes
from tests.statistical.scenes import SCALES, BurnIn, short_scenes
from tests.statistical.verdict import Verdict, check_reversible

pytestmark = [pytest.mark.stat, pytest.mark.timeout(7200)]

MIXES: dict[str, dict[str, float]] = {
    "default": {},
    "permute and move": {"permute": 40, "move": 80, "move_right": 0.3},
    "insertion": {"insertion": 200, "resegment": 60, "resegment_swap": 0},
    "split and swap": {"split_and_swap": 200, "resegment_swap": 0},
}
BURN_IN = BurnIn(small=160, large=500, order=2500)
LADDERS_BURN_IN = BurnIn(small=80, large=250, order=800)


@pytest.fixture(scope="module")
def scenes(laws_model: Model, parity: Path, full: bool) -> list[Enumerated]:
    """For draws; few and small ones in the quick run."""
    return short_scenes(laws_model, parity, 30, 5, 2000) if full else short_scenes(laws_model, parity, 4, 5, 400)


@pytest.fixture(scope="module")
def small_scenes(laws_model: Model, parity: Path, full: bool) -> list[Enumerated]:
    """For enumeration of all draws: five words with an option each have 261 derivations."""
    return short_scenes(laws_model, parity, 30, 5, 270) if full else short_scenes(laws_model, parity, 3, 3, 60)


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


def transition_matrices(draws: Draws, scene: Enumerated, scales: Sequence[float]) -> list[csr_array]:
    """Of an operation, at each scale: the probability of a draw and that it is accepted, summed over all that lead to a
    state."""
    states, score = scene.states[0], scene.score[0]
    number = {options: index for index, options in enumerate(states)}
    matrices = np.zeros((len(scales), len(states), len(states)))
    for now in range(len(states)):
        for probability, options, ratio in draws.of(now):
            after = now if options is None else number[options]
            accepted = np.exp(np.minimum(np.array(scales) * (score[after] - score[now]) - ratio, 0.0))
            matrices[:, now, after] += probability * accepted
            matrices[:, now, now] += probability * (1 - accepted)
    return [csr_array(matrix) for matrix in matrices]


def check_operations(
    scene: Enumerated, mix: dict[str, float], patch: pytest.MonkeyPatch
) -> tuple[NDArray[np.float64], bool]:
    """At each scale every operation in each sentence of a unit keeps the distribution, each draw with its ratio from
    the kernel.

    Returns:
        how often each operation moves; whether those that chains of this mix draw lead from every derivation to every
        other one, at each scale.
    """
    search, state = metropolis(scene, mix), states_of_lanes(scene, 0, interpreted=True)
    drawn = np.diff(search.operation, prepend=0) > 0
    moves, reached = np.zeros(OPERATIONS), [csr_array((len(scene.states[0]),) * 2)] * len(SCALES)
    for operation, sentence in product(range(OPERATIONS), range(len(scene.problem.sentence))):
        if operation == LINEARISE:
            continue
        with patch.context() as here:
            draws = Draws(here, scene.problem, search, state, operation, sentence)
            matrices = transition_matrices(draws, scene, SCALES)
        for scale, matrix in zip(SCALES, matrices, strict=True):
            pi = scene.posterior(0, scale)
            assert abs(matrix.sum(axis=1) - 1).max() < 1e-12
            check_reversible(matrix, pi)
            moves[operation] += 1 - (pi * matrix.diagonal()).sum()
        if drawn[operation]:
            reached = [before + matrix for before, matrix in zip(reached, matrices, strict=True)]
    return moves, all(connected_components(matrix, connection="strong")[0] == 1 for matrix in reached)


@pytest.mark.parametrize("mix", MIXES)
def test_every_operation_keeps_the_distribution(
    small_scenes: list[Enumerated], mix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those of the mix lead everywhere."""
    moves = np.zeros(OPERATIONS)
    for scene in small_scenes:
        of_scene, irreducible = check_operations(scene, MIXES[mix], monkeypatch)
        assert irreducible
        moves += of_scene
    assert (np.delete(moves, LINEARISE) > 0).all(), moves


def test_a_mix_that_leads_nowhere_is_noticed(small_scenes: list[Enumerated], monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations that chains of a mix never draw do not count among those that lead from one derivation to another."""
    scene = next(scene for scene in small_scenes if len({len(options) for options in scene.states[0]}) > 1)
    _, irreducible = check_operations(scene, {"swap": 0, "resegment": 0}, monkeypatch)
    assert not irreducible


def lanes_of(scene: Enumerated, chains: int, scale: float, burn_in: int) -> State:
    """Chains of the scene's unit that end after their burn-in."""
    values = len(scene.batch.options.model.features.names)
    state = make_state(scene.problem, np.zeros(chains, int), np.arange(chains), values)
    state.limit[:, LIMIT_STEPS] = burn_in * scene.problem.unit[0, UNIT_WORDS]
    state.limit[:, -1] = temperature_levels([1 / scale]).level[0]
    return state


def last_states(scene: Enumerated, mix: str, chains: int, scale: float, burn_in: int) -> NDArray[np.int64]:
    """How often each derivation is the last state of a chain."""
    state = lanes_of(scene, chains, scale, burn_in)
    driver = CpuDriver(scene.problem, metropolis(scene, MIXES[mix]), state, THREADS)
    driver.start(np.arange(chains))
    driver.run(np.arange(chains), lambda: None)
    driver.close()
    return count_states(scene, state, 0)


def test_last_states_have_the_distribution(
    scenes: list[Enumerated], full: bool, repetitions: Callable[[int], int]
) -> None:
    """20,000 chains (2,000 in the quick run) a cell: every sentence with every mix at every scale; in the quick run
    with two of the mixes, where the larger scales tell more."""
    verdict = Verdict()
    for place, scene in enumerate(scenes):
        for turn, mix in enumerate(MIXES):
            few = [SCALES[1 + (place + turn) % 2]] if (turn - place) % len(MIXES) < 2 else []
            for scale in SCALES if full else few:
                counts = last_states(scene, mix, repetitions(20_000), scale, BURN_IN.of(scene, scale))
                verdict.add(counts, scene, scale)
    verdict.check(full=full)


def cold_states(
    scene: Enumerated, ladders: int, scale: float, burn_in: int, *, adapted: bool = False
) -> NDArray[np.int64]:
    """How often each derivation is the last state of the cold chain of ladders of three; temperatures of an `adapted`
    one move in the first half."""
    state = lanes_of(scene, 3 * ladders, scale, burn_in)
    steps, one = int(state.limit[0, LIMIT_STEPS]), np.ones(1, np.int64)
    first = np.array(geometric(1 / scale, 4 / scale, 3))
    ladder = Ladder(first, 4 * one, steps // 2 * adapted * one, (steps + 1) * one)
    driver = CpuDriver(scene.problem, metropolis(scene, MIXES["default"]), state, THREADS)
    tempering = TemperingDriver(driver, scene.problem, ladder)
    lanes = np.arange(3 * ladders)
    tempering.start(lanes)
    tempering.run(lanes, lambda: None)
    tempering.close()
    assert (tempering.swaps[0] > 0).all() and (tempering.swaps[1] < tempering.swaps[0]).all()
    return count_states(scene, state, 0, tempering.level == 0)


def test_cold_chains_have_the_distribution(
    scenes: list[Enumerated], full: bool, repetitions: Callable[[int], int]
) -> None:
    """20,000 ladders (2,000 in the quick run) a cell: every sentence at every scale, in the quick run at one."""
    verdict, ladders = Verdict(), repetitions(20_000)
    for place, scene in enumerate(scenes):
        for turn, scale in enumerate(SCALES if full else [SCALES[place % len(SCALES)]]):
            burn_in, adapted = LADDERS_BURN_IN.of(scene, scale), (place + turn) % 2 > 0
            verdict.add(cold_states(scene, ladders, scale, burn_in, adapted=adapted), scene, scale)
    verdict.check(full=full, notices=full)
