"""The driver that runs a step in phases, so that what is no kernel can judge proposals between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_BOUND,
    BELOW_SCORE,
    OPEN,
    RESTING,
    SENTENCE_WORDS,
    Problem,
    Proposals,
    Search,
    State,
)
from gpusearch.model.host_answers import HostAnswers
from gpusearch.search.asking import MOST_ANSWERS, SHARES, AskingDriver
from gpusearch.search.driver import Lanes, paced

Integers = NDArray[np.int64]

# More than any score: the bound of kernels decides nothing by itself.
_UNBOUNDED = 1 << 62


class Judge(Protocol):
    """Part of the score that is computed outside kernels, for many lanes at a time; all numbers are 2^-40 nat.

    A lane's path is the same in any batch if what is said of a proposal depends on its lane's row alone.
    """

    headroom: int | None
    """The most that any proposal can gain by this part of the score; None if that is not known. Proposals whose other
    parts fall short of the threshold by more are rejected before they come here."""

    def full(self, state: State, lanes: Lanes) -> Integers:
        """This part of the score of lanes, int64[L], from nothing; what the judge keeps of them begins anew."""

    def bound(self, state: State, proposals: Proposals) -> Integers:
        """Upper bounds of `delta`, int64[R], asked before the language models are; cheap."""

    def delta(self, state: State, proposals: Proposals) -> Integers:
        """Change of this part of the score, int64[R], if the proposals were accepted: `full` then - `full` now."""

    def commit(self, state: State, proposals: Proposals) -> None:
        """These proposals are accepted; the state is still the one before them."""


def make_proposals(problem: Problem, lanes: Lanes) -> Proposals:
    """Room for a proposal of each lane; none is there yet."""
    count = len(lanes)
    words = int(problem.sentence[:, SENTENCE_WORDS].max(initial=0)) + 1

    def zeros() -> Integers:
        return np.zeros(count, np.int64)

    return Proposals(
        lane=np.array(lanes, np.int64),
        stage=np.full(count, RESTING, np.int64),
        operation=zeros(),
        sentence=zeros(),
        first=zeros(),
        replaced=zeros(),
        count=zeros(),
        option=np.zeros((count, words), np.int32),
        origin=np.zeros((count, words), np.int32),
        covers=np.zeros((count, words), np.int32),
        threshold=zeros(),
        total=zeros(),
        outside=zeros(),
    )


def take(proposals: Proposals, rows: Integers) -> Proposals:
    """Some rows, copied."""
    return Proposals(*(field[rows] for field in proposals))


class StepwiseDriver(AskingDriver):
    """Each phase of a step is a launch over all lanes (`gpusearch.kernels.stepwise`); judges take part between them.

    Without judges the path of a lane is that of `CpuDriver`, whatever the other lanes are.

    Args:
        answers: language models on the host, as in `AskingDriver`.
        judges: asked in their order; cheap ones first.
    """

    def __init__(
        self,
        problem: Problem,
        search: Search,
        state: State,
        threads: int,
        answers: HostAnswers | None = None,
        judges: Sequence[Judge] = (),
        *,
        most_answers: int = MOST_ANSWERS,
    ) -> None:
        super().__init__(problem, search, state, threads, answers or HostAnswers(()), most_answers=most_answers)
        from gpusearch.kernels import stepwise

        self._phases = stepwise
        self._judges = judges
        self._cut_short = False

    def refresh(self, lanes: Lanes) -> None:
        """Recompute scores and LM states of lanes from their phrases, and what judges keep of them."""
        super().refresh(lanes)
        for judge in self._judges:
            self.state.score[lanes] += judge.full(self.state, lanes)

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes until each rests."""
        self._begin(lanes)
        tick = paced(tick)
        proposals = make_proposals(self.problem, lanes)
        rows = np.arange(len(lanes))
        bounds = np.zeros((len(self._judges), len(lanes)), np.int64)
        while len(rows):
            self._share(
                self._phases.advance_rows, rows, proposals, self._headroom(), self._stop, tick=tick, shares=SHARES
            )
            rows = rows[proposals.stage[rows] != RESTING]
            self._forget(proposals.lane[rows])
            self._bound(proposals, rows, bounds)
            self._score(proposals, rows[proposals.stage[rows] == OPEN], tick)
            self._judge(proposals, rows[proposals.stage[rows] == ACCEPTED], bounds)
        self._cut_short = False

    def _begin(self, lanes: Lanes) -> None:
        """Before a run, which may be cut short."""
        self._stop[0] = 0
        if self._cut_short:  # what judges keep may be ahead of the state
            self.refresh(lanes)
        self._renumber(lanes)
        self._cut_short = True

    def _headroom(self) -> int:
        """The most that all judges together can add."""
        each = [judge.headroom for judge in self._judges]
        return min(sum(_UNBOUNDED if most is None else most for most in each), _UNBOUNDED)

    def _bound(self, proposals: Proposals, rows: Integers, bounds: Integers) -> None:
        """Add the judges' bounds, which go into `bounds`; reject what cannot exceed its threshold with them."""
        if not self._judges or not len(rows):
            return
        asked = take(proposals, rows)
        for judge, bound in zip(self._judges, bounds, strict=True):
            bound[rows] = judge.bound(self.state, asked)
            proposals.outside[rows] += bound[rows]
        proposals.stage[rows[_below(proposals, rows)]] = BELOW_BOUND

    def _score(self, proposals: Proposals, rows: Integers, tick: Callable[[], None]) -> None:
        """The exact words of open rows; asks language models on the host until none of them waits."""
        question = np.full((len(proposals.lane), 3), -1, np.int64)
        while len(rows):
            self._share(self._phases.score_rows, rows, proposals, question, tick=tick, shares=SHARES)
            rows = rows[question[rows, 0] >= 0]
            self._answer(question[rows], tick)

    def _judge(self, proposals: Proposals, rows: Integers, bounds: Integers) -> None:
        """Trade the judges' bounds for what they say, one judge after the other."""
        for judge, bound in zip(self._judges, bounds, strict=True):
            if len(rows):
                proposals.outside[rows] += judge.delta(self.state, take(proposals, rows)) - bound[rows]
                below = _below(proposals, rows)
                proposals.stage[rows[below]] = BELOW_SCORE
                rows = rows[~below]
        if len(rows):
            asked = take(proposals, rows)
            for judge in self._judges:
                judge.commit(self.state, asked)


def _below(proposals: Proposals, rows: Integers) -> NDArray[np.bool_]:
    """Which rows do not exceed their threshold."""
    return proposals.total[rows] + proposals.outside[rows] <= proposals.threshold[rows]
