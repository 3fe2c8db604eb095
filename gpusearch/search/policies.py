"""Search policies as what kernels read, and temperatures level by level."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from gpusearch.config.policies import AnnealingConfig, MetropolisConfig, TemperingConfig
from gpusearch.config.search import SearchConfig
from gpusearch.errors import InputError
from gpusearch.kernels.records import UNIT_WORDS, Problem, Search, Temperature
from gpusearch.kernels.sweep import sweep
from gpusearch.model.model import Model
from gpusearch.search.driver import Driver
from gpusearch.search.hastings import make_hastings
from gpusearch.search.temperature import HOTTEST, geometric, temperature_levels
from gpusearch.search.tempering import Ladder, TemperingDriver


def with_policy(search: Search, config: SearchConfig, model: Model, problem: Problem) -> Search:
    """The settings of a search on a problem, made those of its policy."""
    if config.active_policy == "sweep":
        return search._replace(sweep=sweep())
    if config.active_policy == "annealing":
        return search._replace(temperature=_levels(annealing_temperatures(config.annealing), model))
    if config.active_policy == "metropolis":
        levels = _levels(metropolis_temperatures(config.metropolis), model)
        return search._replace(temperature=levels, hastings=make_hastings(problem, search))
    if config.active_policy == "tempering":
        return search._replace(temperature=temperature_levels([]), hastings=make_hastings(problem, search))
    return search


def with_ladders(
    driver: Driver, config: SearchConfig, model: Model, problem: Problem, steps: NDArray[np.int64]
) -> TemperingDriver:
    """A driver whose chains temper; `steps`, int64[U], are those of a chain of each unit."""
    tempering = config.tempering
    ends = model.temperature(tempering.cold), model.temperature(tempering.hot)
    burn_in = np.floor(tempering.burn_in * steps).astype(np.int64)
    climb = steps - np.floor(tempering.climb * steps).astype(np.int64)
    return TemperingDriver(driver, problem, make_ladder(tempering, problem, ends, burn_in, climb))


def make_ladder(
    tempering: TemperingConfig,
    problem: Problem,
    ends: tuple[float, float],
    burn_in: NDArray[np.int64],
    climb: NDArray[np.int64],
) -> Ladder:
    """Ladders between two temperatures, nats; `burn_in` and `climb` as in `Ladder`."""
    cold, hot = (min(nats, HOTTEST) for nats in ends)
    return Ladder(
        first=np.array(geometric(cold, hot, tempering.levels)),
        interval=np.maximum(np.ceil(tempering.swap_every * problem.unit[:, UNIT_WORDS]), 1).astype(np.int64),
        burn_in=burn_in,
        climb=climb,
    )


def ladder_lanes(lanes: int, config: SearchConfig) -> int:
    """So many of the lanes that are held at once as make whole ladders.

    Raises:
        InputError: there is no room for one.
    """
    levels = config.tempering.levels
    if 0 < lanes < levels:
        raise InputError(
            "chains of a ladder run side by side, and there is no room for them",
            found=f"room for {lanes}",
            expected=f"search.tempering.levels = {levels}",
            hint="take fewer levels, a larger max_lanes, or shorter documents",
        )
    return lanes // levels * levels


def policy_parts(config: SearchConfig, model: Model) -> list[str]:
    """What a signature says of the policy; temperatures in nats."""
    if config.active_policy == "annealing":
        annealing = config.annealing
        first, last = model.temperature(annealing.start), model.temperature(annealing.end)
        shown = ("delta",) if annealing.schedule == "aarts-laarhoven" else ("levels",)
        parts = [f"annealing.schedule:{annealing.schedule}", f"temperature:{first:.4g}..{last:.4g}nat"]
        return parts + [f"annealing.{name}:{getattr(annealing, name):g}" for name in (*shown, "climb")]
    if config.active_policy == "metropolis":
        temperature = model.temperature(config.metropolis.temperature)
        return [f"temperature:{temperature:.4g}nat", f"metropolis.climb:{config.metropolis.climb:g}"]
    if config.active_policy == "tempering":
        tempering = config.tempering
        cold, hot = model.temperature(tempering.cold), model.temperature(tempering.hot)
        parts = [f"temperature:{cold:.4g}..{hot:.4g}nat"]
        return parts + [
            f"tempering.{name}:{getattr(tempering, name):g}" for name in ("levels", "swap_every", "burn_in", "climb")
        ]
    return []


def _levels(relative: list[float], model: Model) -> Temperature:
    return temperature_levels([model.temperature(value) for value in relative])


def metropolis_temperatures(config: MetropolisConfig) -> list[float]:
    """A temperature for each hundredth of the steps: the same for all, zeros for the climb at the end."""
    climb = math.ceil(100 * config.climb)
    return [config.temperature] * (100 - climb) + [0.0] * climb


def annealing_temperatures(config: AnnealingConfig) -> list[float]:
    """The schedule: a temperature for each level, zeros for the climb at its end."""
    cooling = _cooling(config)
    climb = math.ceil(len(cooling) * config.climb / (1 - config.climb))
    return cooling + [0.0] * climb


def _cooling(config: AnnealingConfig) -> list[float]:
    """Temperatures from start to end, from decimals: the same on every machine."""
    first, last = Decimal(config.start), Decimal(config.end)
    if first == 0:
        return [0.0] * config.levels
    if config.schedule == "aarts-laarhoven":
        step = (1 + Decimal(config.delta)).ln() / 3
        return [float(max(1 / (1 / first + step * level), last)) for level in range(config.cooling_levels())]
    if config.schedule == "geometric":
        return geometric(config.start, config.end, config.levels)
    shares = [Decimal(level) / max(config.levels - 1, 1) for level in range(config.levels)]
    return [float(first + (last - first) * share) for share in shares]
