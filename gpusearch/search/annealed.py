"""Annealed Gibbs sampling for the best derivation: the scale rises over the run, and each chain keeps its best state.

Arun et al. (2010), section 4, name it as the way to the mode of the distribution; Geman & Geman (1984).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config
from gpusearch.kernels.records import LIMIT_PAUSE, Problem, Search, State
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.search.best import BestStates
from gpusearch.search.driver import Driver, Lanes
from gpusearch.search.gibbs import LARGEST_SCALE, LEAST_SCALE, iteration_steps, sampler
from gpusearch.search.limits import Limits
from gpusearch.search.temperature import geometric

# Temperatures of the geometric schedule; each gets an equal share of the steps.
TEMPERATURES = 64


def annealing_scales(config: Config, model: Model) -> NDArray[np.float64]:
    """Scales from hot to cold. Temperatures are configured in units of the model's own deviation."""
    hot, cold = config.sample.anneal_first, config.sample.anneal_last
    nats = [model.temperature(relative) for relative in geometric(hot, cold, TEMPERATURES)]
    return np.clip(1 / np.array(nats), LEAST_SCALE, LARGEST_SCALE)


def annealed_settings(search: Search, config: Config, model: Model, batch: Batch) -> Search:
    """The settings of a search, made those of an annealed sampler."""
    return search._replace(gibbs=sampler(config.sample, batch.options.longest, annealing_scales(config, model)))


class BestDriver:
    """A driver whose chains rest in the best state that they had at the end of an iteration.

    Args:
        driver: runs the chains.
        problem, search: its own.
        limits: when a chain is done; then its best state is put back.
    """

    def __init__(self, driver: Driver, problem: Problem, search: Search, limits: Limits) -> None:
        assert search.gibbs
        self._driver, self._limits = driver, limits
        self._iteration = iteration_steps(problem, search.gibbs)
        self.state: State = driver.state
        self.name = driver.name
        self._best = BestStates(self.state)

    def start(self, lanes: Lanes) -> None:
        """Put random monotone translations into lanes."""
        self._driver.start(lanes)
        self._best.keep(lanes)

    def refresh(self, lanes: Lanes) -> None:
        """Recompute scores and LM states of lanes from their phrases."""
        self._driver.refresh(lanes)
        self._best.keep(lanes)

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes until each rests; what `tick` raises leaves each in its best state so far."""
        state = self.state
        goal = state.limit[lanes, LIMIT_PAUSE].copy()
        try:
            while len(active := lanes[self._active(lanes, goal)]):
                step = self._iteration[state.unit[active]]
                ahead = (state.step[active] // step + 1) * step
                wanted = goal[np.isin(lanes, active)]
                state.limit[active, LIMIT_PAUSE] = np.minimum(wanted, ahead)
                self._driver.run(active, tick)
                # Not where something else made them pause: what is kept must not depend on that.
                looked = (state.step[active] % step == 0) | self._limits.over(state, active)
                self._best.keep_better(active[looked])
        except BaseException:
            self._best.put_back(self._driver, lanes)
            raise
        finally:
            state.limit[lanes, LIMIT_PAUSE] = goal
        self._best.put_back(self._driver, lanes[self._limits.over(state, lanes)])

    def close(self) -> None:
        """Give the device back."""
        self._driver.close()

    def _active(self, lanes: Lanes, goal: NDArray[np.int64]) -> NDArray[np.bool_]:
        return ~self._limits.over(self.state, lanes) & (self.state.step[lanes] < goal)
