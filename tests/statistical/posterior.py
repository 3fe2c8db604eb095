"""The Gibbs sampler's transition matrices on short sentences, and what its chains come to, by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gpusearch.cores import usable_cores
from gpusearch.kernels.gibbs_blocks import block_of_step, put_candidate
from gpusearch.kernels.judge import judge
from gpusearch.kernels.operations import trim
from gpusearch.kernels.records import (
    ACCEPTED,
    GIBBS_WINDOW,
    LIMIT_STEPS,
    SENTENCE_SLOT,
    SENTENCE_WORDS,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    UNIT_WORDS,
    Gibbs,
    State,
)
from gpusearch.kernels.target import cpu_driver, exact
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.driver import CpuDriver
from gpusearch.search.enumeration import Enumerated
from gpusearch.search.gibbs import iteration_steps
from gpusearch.search.state import make_scratch, make_state
from tests.paths import InterpretedDriver, cpu

LEAST = -(1 << 62)
# Of drivers; no result depends on it.
THREADS = usable_cores()
# Change of the score of a candidate that is not in its block.
ABSENT = LEAST


@cpu_driver
def list_candidates(problem, search, state, scratch, lane, step, change, rows):
    """The block of a step: (operator, candidates), the exact change of each, and the row of options that it makes."""
    operator, local, first, replaced, candidates, one, two, three = block_of_step(problem, search, state, lane, step)
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
    length = state.length[lane, local]
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    for candidate in range(candidates):
        change[candidate] = ABSENT
        count = put_candidate(
            problem, search, state, scratch, lane, sentence, operator, first, replaced, one, two, three, candidate
        )
        if count < 0:
            continue
        for k in range(rows.shape[1]):
            rows[candidate, k] = state.option[lane, k]
        for k in range(count):
            rows[candidate, slots + first + k] = scratch.option[k]
        for k in range(first + replaced, length):
            rows[candidate, slots + k + count - replaced] = state.option[lane, slots + k]
        for k in range(length + count - replaced, length):
            rows[candidate, slots + k] = -1
        place, old, new = trim(problem, state, scratch, lane, sentence, first, replaced, count)
        if place < 0:
            change[candidate] = 0
            continue
        stage, total = judge(problem, search, state, scratch, lane, sentence, place, old, new, LEAST)
        if stage == ACCEPTED:
            change[candidate] = total
    return operator, candidates


def derivation_of(options: list[int]) -> tuple[int, ...]:
    """A row of a state without what fills its end, as `Enumerated.states` has it."""
    while options and options[-1] < 0:
        options = options[:-1]
    return tuple(options)


def states_of_lanes(scene: Enumerated, unit: int, *, interpreted: bool = False) -> State:
    """A lane for each derivation of a unit, its sums by a driver."""
    problem, states = scene.problem, scene.states[unit]
    first, sentences = problem.unit[unit, [UNIT_FIRST_SENTENCE, UNIT_SENTENCES]]
    lanes = np.arange(len(states))
    values = len(scene.batch.options.model.features.names)
    state = make_state(problem, np.full(len(states), unit), lanes, values)
    for lane, options in enumerate(states):
        state.option[lane, : len(options)] = options
    for local, row in enumerate(problem.sentence[first : first + sentences].astype(np.int64)):
        here = state.option[:, row[SENTENCE_SLOT] : row[SENTENCE_SLOT] + row[SENTENCE_WORDS]]
        state.length[:, local] = (here >= 0).sum(axis=1)
    driver = (InterpretedDriver if interpreted else cpu(1))(problem, scene.search, state)
    driver.refresh(lanes)
    driver.close()
    return state


def transition_matrices(
    scene: Enumerated, unit: int, gibbs: Gibbs, scale: float, *, interpreted: bool = False
) -> Iterator[tuple[int, csr_array]]:
    """(operator, transition matrix) of every block of the sequential scan of a unit.

    Probabilities of a block's members are in proportion to exp(scale * change), as a softmax in floating point.
    """
    problem, search, states = scene.problem, scene.search._replace(gibbs=gibbs), scene.states[unit]
    number = {options: index for index, options in enumerate(states)}
    state = states_of_lanes(scene, unit, interpreted=interpreted)
    change, rows = np.zeros(4096, np.int64), np.zeros((4096, state.option.shape[1]), np.int32)
    records: tuple[Any, ...] = (problem, search, state, make_scratch(problem))
    members: Callable[..., tuple[int, int]] = list_candidates
    if interpreted:
        records, members = tuple(exact(record) for record in records), list_candidates.py_func
    sweeps = max(1, int(gibbs.number[GIBBS_WINDOW]) - 1)
    blocks = int(iteration_steps(problem, gibbs)[unit])
    of_word = blocks // int(problem.unit[unit, UNIT_WORDS])
    for step in range(blocks * sweeps):
        if step >= blocks and step % of_word != of_word - 1:
            continue  # only blocks of new segmentations differ from sweep to sweep
        entries: list[tuple[int, int, float]] = []
        for lane in range(len(states)):
            operator, candidates = members(*records, lane, step, change, rows)
            there = np.flatnonzero(change[:candidates] > ABSENT) if candidates else []
            if not len(there):
                entries.append((lane, lane, 1.0))
                continue
            weight = np.exp(scale * change[there] / SCORE_UNITS)
            for candidate, share in zip(there, weight / weight.sum(), strict=True):
                entries.append((lane, number[derivation_of(rows[candidate].tolist())], share))
        source, target, share = zip(*entries, strict=True)
        shape = (len(states), len(states))
        yield operator, csr_array((np.array(share), (np.array(source), np.array(target))), shape=shape)


def last_states(scene: Enumerated, gibbs: Gibbs, chains: int, iterations: int) -> list[NDArray[np.int64]]:
    """For each unit how often each of its derivations is the last state of a chain."""
    problem, search = scene.problem, scene.search._replace(gibbs=gibbs)
    values = len(scene.batch.options.model.features.names)
    steps = iteration_steps(problem, gibbs)
    counts = []
    for unit in range(len(problem.unit)):
        state = make_state(problem, np.full(chains, unit), np.arange(chains), values)
        state.limit[:, LIMIT_STEPS] = steps[unit] * iterations
        driver = CpuDriver(problem, search, state, THREADS)
        driver.start(np.arange(chains))
        driver.run(np.arange(chains), lambda: None)
        driver.close()
        counts.append(count_states(scene, state, unit))
    return counts


def count_states(
    scene: Enumerated, state: State, unit: int, lanes: NDArray[np.bool_] | slice = slice(None)
) -> NDArray[np.int64]:
    """How often each derivation of a unit is in some lanes of a state."""
    number = {options: index for index, options in enumerate(scene.states[unit])}
    distinct, times = np.unique(state.option[lanes], axis=0, return_counts=True)
    found = np.zeros(len(number), np.int64)
    for options, count in zip(distinct.tolist(), times, strict=True):
        found[number[derivation_of(options)]] += count
    return found
