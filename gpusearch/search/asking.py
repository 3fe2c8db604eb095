"""The driver for searches with language models on the host."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import Problem, Search, State
from gpusearch.model.host_answers import HostAnswers
from gpusearch.model.texts import lane_texts
from gpusearch.search.driver import CpuDriver, Lanes, paced

# Answers kept at most, some 60 bytes each; beyond them all are forgotten, and what is still needed is asked again.
MOST_ANSWERS = 1 << 23
# Parts of the lanes handed out to each thread: rounds are short, and each part costs 20 microseconds.
SHARES = 2
# Phrase slots of lanes whose words are asked for together.
_SLOTS = 1 << 20


class AskingDriver(CpuDriver):
    """`CpuDriver` with language models on the host.

    A lane whose step needs an answer that is not known waits, its state untouched. When every lane rests or waits, the
    questions of all are asked together, and those that waited go on. Neither the order of the questions nor what is
    remembered of the answers can change a path.

    Args:
        answers: what the language models of the problem that are on the host have said; there may be none.
        most_answers: how many are remembered.
    """

    def __init__(
        self,
        problem: Problem,
        search: Search,
        state: State,
        threads: int,
        answers: HostAnswers,
        *,
        most_answers: int = MOST_ANSWERS,
    ) -> None:
        super().__init__(answers.equip(problem), search, state, threads)
        from gpusearch.kernels import asking

        self._asking = asking
        self._answers = answers
        self._most_answers = most_answers
        self._question = np.full((len(state.unit), 3), -1, np.int64)
        # How often answers had been forgotten when the LM states of each lane were numbered.
        self._numbered = np.zeros(len(state.unit), np.int64)
        self._forgotten = 0

    def start(self, lanes: Lanes) -> None:
        """Put random monotone translations into lanes."""
        self._share(self._asking.draw_lanes, lanes)
        self.refresh(lanes)

    def refresh(self, lanes: Lanes) -> None:
        """Recompute scores and LM states of lanes from their phrases."""
        self._await({self._pool.submit(self._ask_for_texts, lanes)}, None)
        self._share(self._kernels.refresh_lanes, lanes)
        self._numbered[lanes] = self._forgotten

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes until each rests."""
        self._stop[0] = 0
        self._renumber(lanes)
        tick = paced(tick)
        while len(lanes):
            self._share(self._asking.run_asking_lanes, lanes, self._stop, self._question, tick=tick, shares=SHARES)
            lanes = lanes[self._question[lanes, 0] >= 0]
            self._answer(self._question[lanes], tick)
            self._forget(lanes)

    def _answer(self, questions: NDArray[np.int64], tick: Callable[[], None]) -> None:
        """Ask what lanes or proposals want to know, int64[*, 3]: model, state, word."""
        if len(questions):
            # In another thread: an interrupt must not cut KenLM's processes short.
            self._await({self._pool.submit(self._answers.answer, questions)}, tick)

    def _forget(self, lanes: Lanes) -> None:
        """Where there are too many answers: forget all but those that the present translations of lanes need.

        To be called while no proposal is accepted but not committed: that needs answers, too.
        """
        if self._answers.count <= self._most_answers:
            return
        self._answers.forget()
        self._forgotten += 1
        self._scratch = threading.local()  # its memo goes by the old numbers
        self._renumber(lanes)
        # No more than half of what is kept may be in use all the time.
        self._most_answers = max(self._most_answers, 2 * self._answers.count)

    def _renumber(self, lanes: Lanes) -> None:
        """Bring lanes up to date whose LM states were numbered before answers were forgotten."""
        old = lanes[self._numbered[lanes] < self._forgotten]
        if len(old):
            self.refresh(old)

    def _ask_for_texts(self, lanes: Lanes) -> None:
        """Ask for every word of the translations of lanes: `refresh` and commits never wait."""
        for part in np.array_split(lanes, 1 + self.state.option.shape[1] * len(lanes) // _SLOTS):
            texts = lane_texts(self.problem, self.state, part)
            for model in self._answers.models:
                self._answers.follow(model, texts.words(self.problem, model), texts.counts + 1)

    def _share(
        self,
        kernel: Callable[..., None],
        lanes: Lanes,
        *rest: object,
        tick: Callable[[], None] | None = None,
        shares: int = SHARES,
    ) -> None:
        self.problem = self._answers.equip(self.problem)
        super()._share(kernel, lanes, *rest, tick=tick, shares=shares)
