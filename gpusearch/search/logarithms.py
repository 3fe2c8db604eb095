"""`gpusearch.kernels.fixed` for arrays on the host: the same integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.fixed import INNER_BITS, INTERVAL_BITS, INTERVALS, LN2, LN2_BITS, PLACE_BITS, logarithm_table
from gpusearch.kernels.records import NEVER

Integers = NDArray[np.int64]


def leading_bits(number: Integers) -> Integers:
    """Place of the highest bit that is set, for 1 <= number < 2^63."""
    large = number >> 31 != 0
    # Of 31 bits, which floats hold exactly.
    part = np.where(large, number >> 31, number).astype(np.float64)
    return np.frexp(part)[1].astype(np.int64) - 1 + np.where(large, 31, 0)


def _mantissas(number: Integers, place: Integers) -> Integers:
    """ln(number / 2^place) in 2^-41 nat."""
    cut = place - (INTERVAL_BITS + PLACE_BITS)
    digits = (number >> np.maximum(cut, 0)) << np.maximum(-cut, 0)
    t = digits & ((1 << PLACE_BITS) - 1)
    value, linear, square, cube = np.moveaxis(logarithm_table()[(digits >> PLACE_BITS) & (INTERVALS - 1)], -1, 0)
    slope = square + (t * cube >> PLACE_BITS)
    slope = linear + (t * slope >> PLACE_BITS)
    return np.asarray(value + (t * slope >> PLACE_BITS), np.int64)


def log_ratios(above: NDArray[np.integer] | int, below: NDArray[np.integer] | int) -> Integers:
    """ln(above / below) of whole numbers in 2^-40 nat; `NEVER` where `above` is 0."""
    numbers = [np.asarray(number, np.int64) for number in (above, below)]
    places = [leading_bits(np.maximum(number, 1)) for number in numbers]
    parts = [_mantissas(np.maximum(number, 1), place) for number, place in zip(numbers, places, strict=True)]
    inner = ((places[0] - places[1]) * LN2 >> (LN2_BITS - INNER_BITS)) + parts[0] - parts[1]
    return np.where(numbers[0] > 0, (inner + 1) >> 1, NEVER)


def minus_logs(high: Integers, low: Integers) -> Integers:
    """-ln u of 64-bit draws in 2^-40 nat: `gpusearch.kernels.fixed.minus_log_long`."""
    large = high >> 30 != 0
    number = np.where(large, high << 30 | low >> 2, (high & (1 << 30) - 1) << 33 | low << 1 | 1)
    place = leading_bits(number)
    inner = ((np.where(large, 62, 65) - place) * LN2 >> (LN2_BITS - INNER_BITS)) - _mantissas(number, place)
    return np.asarray((inner + 1) >> 1, np.int64)
