"""Chains that have come to an end begin anew: from a random translation, or from their best one after some proposals
that are taken whatever they score (iterated local search). Each ends in the best that it has found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import LIMIT_PAUSE, LIMIT_REJECTED, LIMIT_STEPS, Problem, Search, State
from gpusearch.search.best import BestStates
from gpusearch.search.driver import Driver, Lanes
from gpusearch.search.limits import Limits
from gpusearch.search.state import make_scratch


class RestartingDriver:
    """A driver whose lanes begin anew where their rejections end them: limit of rejections, or end of a sweep.

    Args:
        driver: runs the chains.
        problem, search: its own.
        limits: when a chain is done.
        restarts: how often a chain begins anew.
        proposals: how many are taken whatever they score, from the best translation on; 0: from a random one instead.
    """

    def __init__(
        self, driver: Driver, problem: Problem, search: Search, limits: Limits, restarts: int, proposals: int
    ) -> None:
        self._driver, self._problem, self._limits = driver, problem, limits
        self._search = search._replace(sweep=())  # proposals are drawn here after a sweep, too: one kernel for all
        self._restarts, self._proposals = restarts, proposals
        self.state: State = driver.state
        self.name = driver.name
        self._best = BestStates(self.state)
        self._left = np.zeros(len(self.state.unit), np.int64)

    def start(self, lanes: Lanes) -> None:
        """Put random monotone translations into lanes."""
        self._driver.start(lanes)
        self._begin(lanes)

    def refresh(self, lanes: Lanes) -> None:
        """Recompute scores and LM states of lanes from their phrases."""
        self._driver.refresh(lanes)
        self._begin(lanes)

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes until each rests; what `tick` raises leaves each in its best state so far."""
        active = lanes
        try:
            while len(active):
                self._driver.run(active, tick)
                self._best.keep_better(active)
                active = active[self._may_begin_anew(active)]
                if len(active):
                    self._begin_anew(active)
        except BaseException:
            self._best.put_back(self._driver, lanes)
            raise
        self._best.put_back(self._driver, lanes[self._limits.over(self.state, lanes)])

    def close(self) -> None:
        """Give the device back."""
        self._driver.close()

    def _begin(self, lanes: Lanes) -> None:
        self._best.keep(lanes)
        self._left[lanes] = self._restarts

    def _may_begin_anew(self, lanes: Lanes) -> NDArray[np.bool_]:
        limit = self.state.limit[lanes]
        step = self.state.step[lanes]
        ended = self.state.rejected[lanes] >= limit[:, LIMIT_REJECTED]
        return ended & (self._left[lanes] > 0) & (step < limit[:, LIMIT_STEPS]) & (step < limit[:, LIMIT_PAUSE])

    def _begin_anew(self, lanes: Lanes) -> None:
        self._left[lanes] -= 1
        self.state.rejected[lanes] = 0
        if not self._proposals:
            self._driver.start(lanes)
            return
        from gpusearch.kernels import perturb

        self._best.put_back(self._driver, lanes)
        perturb.perturb_lanes(
            self._problem, self._search, self.state, make_scratch(self._problem, memo=1), lanes, self._proposals
        )
        self._driver.refresh(lanes)
