"""Temperatures as the integers that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpusearch.kernels.records import TEMPERATURE_BITS, Temperature

# Temperatures that kernels can hold, nats.
HOTTEST = 2.0**8


def integer_temperature(nats: float) -> int:
    """A temperature in 2^-28 nat; `HOTTEST` at most."""
    return round(min(nats, HOTTEST) * (1 << TEMPERATURE_BITS))


def temperature_levels(nats: Sequence[float]) -> Temperature:
    """Temperatures of a search, each for an equal share of its steps; without any, lanes have their own."""
    return Temperature(np.array([integer_temperature(value) for value in nats], np.int64))
