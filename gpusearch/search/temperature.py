"""Temperatures as the integers that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import TEMPERATURE_BITS, Temperature

# Temperatures that kernels can hold, nats.
HOTTEST = 2.0**8


def integer_temperature(nats: NDArray[np.float64] | Sequence[float]) -> NDArray[np.int64]:
    """Temperatures in 2^-28 nat; `HOTTEST` at most."""
    return np.rint(np.minimum(nats, HOTTEST) * (1 << TEMPERATURE_BITS)).astype(np.int64)


def temperature_levels(nats: Sequence[float]) -> Temperature:
    """Temperatures of a search, each for an equal share of its steps; without any, lanes have their own."""
    return Temperature(integer_temperature(nats))


def geometric(first: float, last: float, count: int) -> list[float]:
    """`count` numbers from one to the other, each the same multiple of the one before. In decimals: the logarithm of
    a library may differ in its last bit from machine to machine."""
    start = Decimal(first)
    rise = (Decimal(last) / start).ln()
    return [float(start * (rise * place / max(count - 1, 1)).exp()) for place in range(count)]
