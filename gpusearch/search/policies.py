"""Search policies as the integers that kernels read: temperatures, level by level."""

from __future__ import annotations

import math
from decimal import Decimal

from gpusearch.config.policies import AnnealingConfig
from gpusearch.config.search import SearchConfig
from gpusearch.kernels.records import Search
from gpusearch.model.model import Model
from gpusearch.search.temperature import temperature_levels


def with_policy(search: Search, config: SearchConfig, model: Model) -> Search:
    """The settings of a search, made those of its policy."""
    if config.policy == "annealing":
        nats = [model.temperature(relative) for relative in annealing_temperatures(config.annealing)]
        return search._replace(temperature=temperature_levels(nats))
    return search


def policy_parts(config: SearchConfig, model: Model) -> list[str]:
    """What a signature says of the policy; temperatures in nats."""
    if config.policy == "annealing":
        annealing = config.annealing
        first, last = model.temperature(annealing.start), model.temperature(annealing.end)
        levels = ("delta",) if annealing.schedule == "aarts-laarhoven" else ("levels",)
        parts = [f"annealing.{name}:{getattr(annealing, name):g}" for name in (*levels, "climb")]
        return [f"annealing.schedule:{annealing.schedule}", f"temperature:{first:.4g}..{last:.4g}nat", *parts]
    return []


def annealing_temperatures(config: AnnealingConfig) -> list[float]:
    """The schedule: a temperature for each level, zeros for the climb at its end."""
    cooling = _cooling(config)
    climb = math.ceil(len(cooling) * config.climb / (1 - config.climb))
    return [float(value) for value in cooling] + [0.0] * climb


def _cooling(config: AnnealingConfig) -> list[Decimal]:
    """Temperatures from start to end. In decimals: the logarithm of a library may differ in its last bit."""
    first, last = Decimal(config.start), Decimal(config.end)
    if first == 0:
        return [first] * config.levels
    if config.schedule == "aarts-laarhoven":
        step = (1 + Decimal(config.delta)).ln() / 3
        return [max(1 / (1 / first + step * level), last) for level in range(config.cooling_levels())]
    shares = [Decimal(level) / max(config.levels - 1, 1) for level in range(config.levels)]
    if config.schedule == "linear":
        return [first + (last - first) * share for share in shares]
    fall = (last / first).ln()
    return [first * (fall * share).exp() for share in shares]
