"""The samplers of `gpusearch sample`: Gibbs, Metropolis, and Metropolis chains that exchange temperatures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.samples import OF_GIBBS
from gpusearch.config import Config
from gpusearch.kernels.records import UNIT_WORDS, Search
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.search.driver import Driver
from gpusearch.search.gibbs import iteration_steps
from gpusearch.search.gibbs import sampler as gibbs_sampler
from gpusearch.search.hastings import make_hastings
from gpusearch.search.operators import PROPOSED
from gpusearch.search.policies import make_ladder
from gpusearch.search.run import search_settings
from gpusearch.search.state import UNLIMITED
from gpusearch.search.temperature import temperature_levels
from gpusearch.search.tempering import Ladder, TemperingDriver


@dataclass(frozen=True, eq=False)
class Sampler:
    """How a batch is sampled."""

    search: Search
    steps: NDArray[np.int64]
    """[U] steps of an iteration."""
    ladder: Ladder | None
    """Where each chain of samples is the cold end of a ladder."""

    @property
    def levels(self) -> int:
        """Lanes of each chain of samples."""
        return len(self.ladder.first) if self.ladder else 1

    def driver(self, driver: Driver, batch: Batch) -> Driver:
        """A driver that does what its search alone does not."""
        return TemperingDriver(driver, batch.problem, self.ladder) if self.ladder else driver


def make_sampler(config: Config, model: Model, batch: Batch) -> Sampler:
    """The `[sample]` group, and what it takes from `[search]`, for a batch."""
    sample, problem = config.sample, batch.problem
    search = search_settings(config, model, batch)
    if sample.method == "gibbs":
        gibbs = gibbs_sampler(sample, batch.options.longest, [sample.scale])
        return Sampler(search._replace(gibbs=gibbs), iteration_steps(problem, gibbs), None)
    words = problem.unit[:, UNIT_WORDS]
    steps = np.maximum(np.ceil(sample.proposals * words), 1).astype(np.int64)
    search = search._replace(hastings=make_hastings(problem, search))
    cold = 1 / sample.scale
    if sample.method == "metropolis":
        return Sampler(search._replace(temperature=temperature_levels([cold])), steps, None)
    tempering = config.search.tempering
    hot = max(model.temperature(tempering.hot), 2 * cold)
    never = np.full(len(words), UNLIMITED)
    ladder = make_ladder(tempering, problem, (cold, hot), sample.burn_in * steps, never)
    return Sampler(search._replace(temperature=temperature_levels([])), steps, ladder)


def operators_of(method: str) -> tuple[str, ...]:
    """Names of the rows of the tallies."""
    return OF_GIBBS if method == "gibbs" else PROPOSED
