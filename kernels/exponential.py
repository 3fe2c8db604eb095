"""The exponential of the kernels, for numbers below 0: integers, by two tables and a series."""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cache

import numpy as np

from gpusearch.kernels.records import SCORE_BITS
from gpusearch.kernels.target import shared

# exp(-k / 2^PART_BITS) for k < 2^PART_BITS, and behind them exp(-k) for k < WHOLES; exp(-WHOLES) is below 2^-41.
PART_BITS = 8
PARTS = 1 << PART_BITS
WHOLES = 29
REST_BITS = SCORE_BITS - PART_BITS
ONE = 1 << SCORE_BITS
HALF_BITS = SCORE_BITS // 2


@cache
def exponential_table():
    """int64[PARTS + WHOLES] in 2^-40, made of exact decimals, rounded to the nearest; not to be written to."""
    context = Context(prec=50, rounding=ROUND_HALF_EVEN)
    powers = [Decimal(-k) / PARTS for k in range(PARTS)] + [Decimal(-k) for k in range(WHOLES)]
    table = np.array([int((context.exp(power) * ONE).to_integral_value(ROUND_HALF_EVEN)) for power in powers], np.int64)
    table.flags.writeable = False
    return table


@shared
def fraction_of(number, share):
    """The product of two numbers from 0 to 1, in 2^-40, rounded down; it may be 1 too small."""
    low = number & ((1 << HALF_BITS) - 1)
    return ((number >> HALF_BITS) * share >> HALF_BITS) + (low * share >> SCORE_BITS)


@shared
def exponential(table, number):
    """exp(-number / 2^40) in 2^-40, for numbers from 0 on; the error is below 2^-37."""
    whole = number >> SCORE_BITS
    if whole >= WHOLES:
        return 0
    rest = number & ((1 << REST_BITS) - 1)
    # 1 - r + r^2 / 2 - r^3 / 6 + r^4 / 24; the next term is below 2^-46.
    series = ONE - (rest >> 2)
    series = ONE - fraction_of(rest, series) // 3
    series = ONE - (fraction_of(rest, series) >> 1)
    series = ONE - fraction_of(rest, series)
    part = table[(number >> REST_BITS) & (PARTS - 1)] + 0
    return fraction_of(fraction_of(table[PARTS + whole] + 0, part), series)
