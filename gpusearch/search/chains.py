"""Many chains on many units, a batch of lanes at a time: a lane that is done makes room for the next in the queue.

Letters: ``U`` units, ``C`` chains, ``L`` lanes of the batch, ``P`` slots and ``S`` sentences of a unit, ``K`` values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import (
    LIMIT_PAUSE,
    OPERATIONS,
    STAGES,
    UNIT_SENTENCES,
    UNIT_WORDS,
    Problem,
    State,
)
from gpusearch.search.driver import Driver, Lanes
from gpusearch.search.limits import Limits


@dataclass
class Finals:
    """What the chains of a batch of units have become."""

    score: NDArray[np.int64]
    """``[U, C]``, 2^-40 nat."""
    step: NDArray[np.int64]
    """``[U, C]``: proposals made."""
    rejected: NDArray[np.int64]
    """``[U, C]``: consecutive rejections at the end."""
    tally: NDArray[np.int64]
    """``[OPERATIONS, STAGES]``: how far the proposals of all lanes came."""
    option: list[NDArray[np.int32]]
    """For each unit ``[C, P]``: phrases as in `State.option`."""
    length: list[NDArray[np.int32]]
    """For each unit ``[C, S]``: phrases of each sentence."""
    trace: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    """For each step (of the document) at which all chains were looked at, their scores ``[U, C]``."""
    complete: bool = True
    """False where a time limit or an interrupt ended the search early."""
    interrupted: bool = False

    def best_so_far(self) -> int:
        """Sum of the best scores of the units that a chain has finished."""
        begun = self.step > 0
        best = np.where(begun, self.score, np.iinfo(np.int64).min).max(axis=1)
        return int(best[begun.any(axis=1)].sum())

    def options(self, problem: Problem, unit: int, chain: int) -> list[NDArray[np.int32]]:
        """The phrases of each sentence of a unit in target order, as a chain left them."""
        row, result, slot = self.option[unit][chain], [], 0
        first = int(problem.unit[unit, 0])
        for local, count in enumerate(self.length[unit][chain]):
            result.append(row[slot : slot + count])
            slot += int(problem.sentence[first + local, 0]) + 1
        return result


class Start(Protocol):
    """Puts phrases into lanes whose unit and chain are set."""

    def __call__(self, driver: Driver, lanes: Lanes) -> None: ...


Ended = Callable[[State, int], None]
"""Looks at a lane of a state whose chain is done."""


# Part of the lanes that must rest before others take their places, where lanes share a device: a GPU with three
# quarters of its lanes is still busy, and exchanging lanes costs a copy.
REFILL = 0.25

# Score of a chain that has not come to a step of the trace yet.
UNSEEN = np.iinfo(np.int64).min


# Bytes that a chain on a unit takes while it waits for its turn.
WAITING = 128


class OutOfTime(Exception):
    """The time limit of a search is over."""


def finals_bytes(problem: Problem, chains: int, looks: int) -> int:
    """Memory of what `run_chains` keeps of all chains, with scores written down at so many steps; lanes not counted."""
    units = len(problem.unit)
    slots = int((problem.unit[:, UNIT_WORDS] + 2 * problem.unit[:, UNIT_SENTENCES]).sum())
    return chains * (4 * slots + units * (8 * (3 + looks) + WAITING))


def empty_finals(problem: Problem, chains: int) -> Finals:
    """Finals of chains that have not run."""
    units = len(problem.unit)
    slots = problem.unit[:, UNIT_WORDS] + problem.unit[:, UNIT_SENTENCES]
    return Finals(
        score=np.zeros((units, chains), np.int64),
        step=np.zeros((units, chains), np.int64),
        rejected=np.zeros((units, chains), np.int64),
        tally=np.zeros((OPERATIONS, STAGES), np.int64),
        option=[np.full((chains, int(count)), -1, np.int32) for count in slots],
        length=[np.zeros((chains, int(count)), np.int32) for count in problem.unit[:, UNIT_SENTENCES]],
    )


def run_chains(
    problem: Problem,
    driver: Driver,
    limits: Limits,
    start: Start,
    tick: Callable[[Finals, int], None],
    chains: int,
    *,
    start_all: bool = False,
    ended: Ended | None = None,
) -> Finals:
    """Run `chains` chains on every unit of the problem until each is done.

    Args:
        driver: its state has room for a batch of lanes, each large enough for the largest unit.
        limits: when a chain is done, and the steps at which its score is written down.
        start: fills lanes with first translations.
        tick: called about ten times a second with what is finished and the number of lanes that are; what it raises
            ends the search: `OutOfTime` and KeyboardInterrupt leave `complete` False.
        start_all: where the search is ended early, give each chain that has not begun its own first translation, so
            that it can go on from there; else it gets what the unit's first chain has.
        ended: told of each chain that is done.
    """
    finals = empty_finals(problem, chains)
    finals.trace = {step: np.full((len(problem.unit), chains), UNSEEN) for step in limits.looks}
    queue = deque(_tasks(problem, chains))
    state = driver.state
    free = list(range(len(state.unit) - 1, -1, -1))
    busy: list[int] = []
    finished = 0
    next_look = np.zeros(len(state.unit), np.int64)
    try:
        while True:
            fresh = _take(queue, free, state, limits)
            if fresh:
                next_look[fresh] = 0
                start(driver, np.array(fresh, np.int64))
                busy += fresh
            if not busy:
                return finals
            lanes = np.array(busy, np.int64)
            _look(finals, state, lanes, limits, next_look)
            enough = max(1, int(len(lanes) * REFILL)) if queue else None
            driver.run(lanes, partial(tick, finals, finished), enough)
            _look(finals, state, lanes, limits, next_look)
            over = limits.over(state, lanes)
            for lane in lanes[over].tolist():
                _harvest(finals, problem, state, lane)
                if ended is not None:
                    ended(state, lane)
            finished += int(over.sum())
            free += lanes[over].tolist()
            busy = lanes[~over].tolist()
    except (KeyboardInterrupt, OutOfTime) as reason:
        finals.complete = False
        finals.interrupted = isinstance(reason, KeyboardInterrupt)
        for lane in busy:
            _harvest(finals, problem, state, lane)
        finals.trace = {step: scores for step, scores in finals.trace.items() if (scores != UNSEEN).all()}
        _start_the_rest(finals, problem, driver, start, start_all)
        return finals


def _tasks(problem: Problem, chains: int) -> Iterator[tuple[int, int]]:
    """(unit, chain), large units first: they take longest, and lanes of a batch are of like size."""
    size = problem.unit[:, UNIT_WORDS]
    for unit in np.argsort(-size, kind="stable").tolist():
        for chain in range(chains):
            yield unit, chain


def _take(queue: deque[tuple[int, int]], free: list[int], state: State, limits: Limits) -> list[int]:
    """Put the next tasks of the queue into free lanes."""
    fresh = []
    while free and queue:
        lane, task = free.pop(), queue.popleft()
        reset_lanes(state, lane, *task)
        limits.set(state, lane, task[0])
        fresh.append(lane)
    return fresh


def reset_lanes(state: State, lane: int | NDArray[np.integer], unit: int, chain: int | NDArray[np.integer]) -> None:
    """Empty one lane or several, for chains of a unit that have not begun."""
    state.unit[lane], state.chain[lane] = unit, chain
    state.step[lane] = state.rejected[lane] = 0
    state.tally[lane] = 0
    state.option[lane] = -1
    state.length[lane] = 0


def _look(finals: Finals, state: State, lanes: Lanes, limits: Limits, next_look: NDArray[np.int64]) -> None:
    """Write down the scores of lanes that have come to a step of the trace, and send them to the next one.

    A chain that is done keeps its score for all later steps.
    """
    if not limits.looks:
        return
    over = limits.over(state, lanes)
    for lane, is_over in zip(lanes.tolist(), over.tolist(), strict=True):
        unit, chain = int(state.unit[lane]), int(state.chain[lane])
        while next_look[lane] < len(limits.looks) and (
            is_over or state.step[lane] >= limits.share(unit, limits.looks[next_look[lane]])
        ):
            finals.trace[limits.looks[next_look[lane]]][unit, chain] = state.score[lane]
            next_look[lane] += 1
        if next_look[lane] < len(limits.looks):
            state.limit[lane, LIMIT_PAUSE] = min(limits.share(unit, limits.looks[next_look[lane]]), limits.pause(unit))
        else:
            state.limit[lane, LIMIT_PAUSE] = limits.pause(unit)


def _harvest(finals: Finals, problem: Problem, state: State, lane: int) -> None:
    """Keep what a lane has become."""
    unit, chain = int(state.unit[lane]), int(state.chain[lane])
    finals.score[unit, chain] = state.score[lane]
    finals.step[unit, chain] = state.step[lane]
    finals.rejected[unit, chain] = state.rejected[lane]
    finals.tally += state.tally[lane]
    finals.option[unit][chain] = state.option[lane, : finals.option[unit].shape[1]]
    finals.length[unit][chain] = state.length[lane, : finals.length[unit].shape[1]]


def _start_the_rest(finals: Finals, problem: Problem, driver: Driver, start: Start, start_all: bool) -> None:
    """Give a translation to each chain that has not begun: its own first one, or what chain 0 of its unit has."""
    begun = np.array([length.any(axis=1) for length in finals.length]).reshape(finals.score.shape)
    tasks = np.argwhere(~begun) if start_all else np.argwhere(~begun[:, :1])
    room = len(driver.state.unit)
    for first in range(0, len(tasks), room):
        for lane, (unit, chain) in enumerate(tasks[first : first + room].tolist()):
            reset_lanes(driver.state, lane, unit, chain)
        lanes = np.arange(len(tasks[first : first + room]))
        start(driver, lanes)
        for lane in lanes.tolist():
            _harvest(finals, problem, driver.state, lane)
    if not start_all:
        for unit, chain in np.argwhere(~begun[:, 1:]).tolist():
            finals.option[unit][chain + 1] = finals.option[unit][0]
            finals.length[unit][chain + 1] = finals.length[unit][0]
            finals.score[unit, chain + 1] = finals.score[unit, 0]
