"""The best state that each lane has had, for chains that go on from it or are to end in it."""

from __future__ import annotations

import numpy as np

from gpusearch.kernels.records import State
from gpusearch.search.driver import Driver, Lanes


class BestStates:
    """Room for one state of each lane."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._score = np.zeros(len(state.unit), np.int64)
        self._option = state.option.copy()
        self._length = state.length.copy()

    def keep(self, lanes: Lanes) -> None:
        """Keep what lanes are now, whatever they were."""
        self._score[lanes] = self._state.score[lanes]
        self._option[lanes] = self._state.option[lanes]
        self._length[lanes] = self._state.length[lanes]

    def keep_better(self, lanes: Lanes) -> None:
        """Keep what lanes are now where that scores higher."""
        self.keep(lanes[self._state.score[lanes] > self._score[lanes]])

    def put_back(self, driver: Driver, lanes: Lanes) -> None:
        """Make lanes what they were at best, unless what they are now scores higher; of equals the first stays."""
        worse = lanes[self._state.score[lanes] <= self._score[lanes]]
        if len(worse):
            self._state.option[worse] = self._option[worse]
            self._state.length[worse] = self._length[worse]
            driver.refresh(worse)
