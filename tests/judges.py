"""Judges of drivers that work stepwise: features that are computed outside kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import (
    LIMIT_STEPS,
    OPTION_SCORE,
    OPTION_WORDS,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Problem,
    Proposals,
    Search,
    State,
)
from gpusearch.search.driver import Driver, Lanes
from gpusearch.search.state import lane_hash, make_state
from gpusearch.search.stepwise import StepwiseDriver
from tests.paths import MakeDriver

Integers = NDArray[np.int64]
WEIGHT = 1 << 18
COLUMN = 2


def replaced_options(problem: Problem, state: State, proposals: Proposals, row: int) -> NDArray[np.int32]:
    """The phrases that give way to a proposal."""
    lane = proposals.lane[row]
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + proposals.sentence[row]
    first = problem.sentence[sentence, SENTENCE_SLOT] + proposals.first[row]
    return state.option[lane, first : first + proposals.replaced[row]]


def lane_options(problem: Problem, state: State, lane: int) -> NDArray[np.int32]:
    """All phrases of a lane."""
    first, count = problem.unit[state.unit[lane], [UNIT_FIRST_SENTENCE, UNIT_SENTENCES]]
    slots = problem.sentence[first : first + count, SENTENCE_SLOT]
    parts = [state.option[lane, s : s + n] for s, n in zip(slots, state.length[lane], strict=False)]
    return np.concatenate(parts)


class OptionJudge:
    """A feature of the options, computed outside: what the kernels' own sums would do as well."""

    def __init__(self, problem: Problem, headroom: int | None, loose: int) -> None:
        self.problem, self.headroom, self.loose = problem, headroom, loose
        self.worth = problem.option_value[:, COLUMN].astype(np.int64) * WEIGHT

    def full(self, state: State, lanes: Lanes) -> Integers:
        return np.array([self.worth[lane_options(self.problem, state, lane)].sum() for lane in lanes.tolist()], int)

    def bound(self, state: State, proposals: Proposals) -> Integers:
        return self._delta(state, proposals) + self.loose

    def delta(self, state: State, proposals: Proposals) -> Integers:
        return self._delta(state, proposals)

    def _delta(self, state: State, proposals: Proposals) -> Integers:
        change = np.zeros(len(proposals.lane), np.int64)
        for row, count in enumerate(proposals.count.tolist()):
            change[row] = self.worth[proposals.option[row, :count]].sum()
            change[row] -= self.worth[replaced_options(self.problem, state, proposals, row)].sum()
        return change

    def commit(self, state: State, proposals: Proposals) -> None:
        assert (proposals.total + proposals.outside > proposals.threshold).all()


class LengthJudge:
    """A feature of the whole document that keeps a count of its own: -weight * abs(words - wanted)."""

    headroom = None

    def __init__(self, problem: Problem, lanes: int, wanted: int) -> None:
        self.problem, self.wanted = problem, wanted
        self.words = np.zeros(lanes, np.int64)

    def _worth(self, words: Integers) -> Integers:
        return -(1 << 47) * np.abs(words - self.wanted)

    def _count(self, options: NDArray[np.int32]) -> int:
        return int(self.problem.option_place[options, OPTION_WORDS].sum())

    def full(self, state: State, lanes: Lanes) -> Integers:
        self.words[lanes] = [self._count(lane_options(self.problem, state, lane)) for lane in lanes.tolist()]
        return self._worth(self.words[lanes])

    def _more(self, state: State, proposals: Proposals) -> Integers:
        return np.array(
            [
                self._count(proposals.option[row, :count])
                - self._count(replaced_options(self.problem, state, proposals, row))
                for row, count in enumerate(proposals.count.tolist())
            ],
            np.int64,
        )

    def bound(self, state: State, proposals: Proposals) -> Integers:
        return (1 << 47) * np.abs(self._more(state, proposals))

    def delta(self, state: State, proposals: Proposals) -> Integers:
        now = self.words[proposals.lane]
        return self._worth(now + self._more(state, proposals)) - self._worth(now)

    def commit(self, state: State, proposals: Proposals) -> None:
        self.words[proposals.lane] += self._more(state, proposals)


class InterruptedJudge(LengthJudge):
    """Each so-manieth time that it is told of what was accepted, an interrupt comes; 0: never."""

    def __init__(self, problem: Problem, lanes: int, wanted: int, every: int) -> None:
        super().__init__(problem, lanes, wanted)
        self.every, self.told = every, 0

    def commit(self, state: State, proposals: Proposals) -> None:
        super().commit(state, proposals)
        self.told += 1
        if self.every and self.told % self.every == 0:
            raise KeyboardInterrupt


def run_through(driver: Driver, lanes: Lanes, steps: int) -> None:
    """Run lanes to a step, whatever interrupts come."""
    driver.state.limit[lanes, LIMIT_STEPS] = steps
    while (driver.state.step[lanes] < steps).any():
        try:
            driver.run(lanes, lambda: None)
        except KeyboardInterrupt:
            continue


def check_interrupts(driver: type[StepwiseDriver], problem: Problem, search: Search, values: int, steps: int) -> State:
    """Interrupts change nothing: hashes of chains are the same, scores and counts those of a fresh start from their
    phrases. Returns the state of the chains that were interrupted."""
    lanes, hashes = np.arange(4), []
    for every in (0, 3):
        state = make_state(problem, np.zeros(4, int), lanes, values)
        judge = InterruptedJudge(problem, 4, 14, every)
        running = driver(problem, search, state, 2, judges=[judge])
        running.start(lanes)
        run_through(running, lanes, steps)
        assert judge.told > 3
        score, words = state.score.copy(), judge.words.copy()
        running.refresh(lanes)
        assert np.array_equal(state.score, score) and np.array_equal(judge.words, words)
        running.close()
        hashes.append([lane_hash(problem, state, lane) for lane in lanes.tolist()])
    assert hashes[0] == hashes[1]
    return state


def outside(driver: type[StepwiseDriver], judge_of: Callable[[Problem], OptionJudge]) -> MakeDriver:
    """Drivers that have a part of the options' scores judged outside."""

    def make(problem: Problem, search: Search, state: State) -> Driver:
        judge = judge_of(problem)
        score = problem.option_score.copy()
        score[:, OPTION_SCORE] -= judge.worth
        return driver(problem._replace(option_score=score), search, state, 1, judges=[judge])

    return make


class NothingJudge:
    """Adds nothing, and counts what comes to it."""

    def __init__(self, headroom: int | None) -> None:
        self.headroom, self.asked = headroom, 0

    def full(self, state: State, lanes: Lanes) -> Integers:
        return np.zeros(len(lanes), np.int64)

    def bound(self, state: State, proposals: Proposals) -> Integers:
        self.asked += len(proposals.lane)
        return self.delta(state, proposals)

    def delta(self, state: State, proposals: Proposals) -> Integers:
        return np.zeros(len(proposals.lane), np.int64)

    def commit(self, state: State, proposals: Proposals) -> None:
        pass
