"""The one logarithm of the kernels: integers, by a table and interpolation. What is random and needs one takes it here.

A draw is a whole number w of k bits, uniform; it stands for u = (w + 1/2) / 2^k, which is neither 0 nor 1. Results are
int64 in 2^-40 nat.

ln x = e ln 2 + ln m with x = m 2^e, 1 <= m < 2. Each of 2^8 intervals of m has a cubic polynomial, through its ends and
the two places between; its coefficients are made once, on the host, with exact decimals, so they are the same on every
machine. Errors, in nat: the cubic 2^-40; m is cut to 37 bits behind the point, 2^-37; the rest, some units of 2^-41.
"""

from decimal import ROUND_FLOOR, Context, Decimal
from functools import cache

import numpy as np

from gpusearch.kernels.philox import NOISE, philox
from gpusearch.kernels.records import SCORE_BITS, TEMPERATURE_BITS
from gpusearch.kernels.target import shared

INTERVAL_BITS = 8
INTERVALS = 1 << INTERVAL_BITS
# Bits of a place within its interval. Products of a polynomial stay below 2^62.
PLACE_BITS = 29
# Bits behind the point of values within; one more than of results.
INNER_BITS = SCORE_BITS + 1
# ln 2 in 2^-53; 65 of them stay below 2^60. The floor of it in inner units is the table's value at 2.
LN2_BITS = 53
LN2 = 6243314768165359
# The first place of the table's rows; see `logarithm_table`.
VALUE, LINEAR, SQUARE, CUBE = range(4)


@cache
def logarithm_table():
    """int64[256, 4]: value at the interval's beginning and three coefficients, in 2^-41 nat; not to be written to.

    Of a place t in [0, 1) the polynomial is value + t (linear + t (square + t cube)). Each value is rounded down, and
    the coefficients of an interval add up to the next value exactly: together with the rounding down of every
    product that makes results monotone.
    """
    context = Context(prec=50, rounding=ROUND_FLOOR)

    def scaled(third):
        """Logarithm at a third of an interval, counted from 1."""
        return context.multiply(context.ln(1 + Decimal(third) / (3 * INTERVALS)), Decimal(1 << INNER_BITS))

    def floor(number):
        return int(number.to_integral_value(ROUND_FLOOR))

    table = np.zeros((INTERVALS, 4), np.int64)
    for interval in range(INTERVALS):
        first, *rest = (scaled(3 * interval + k) for k in range(4))
        a, b, c = (value - first for value in rest)
        square = floor(-Decimal("22.5") * a + 18 * b - Decimal("4.5") * c)
        cube = floor(Decimal("13.5") * (a - b) + Decimal("4.5") * c)
        table[interval] = floor(first), floor(rest[2]) - floor(first) - square - cube, square, cube
    table.flags.writeable = False
    return table


@shared
def leading_bit(number):
    """Place of the highest bit that is set, for 1 <= number < 2^63."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        if number >> step != 0:
            number >>= step
            place += step
    return place


@shared
def log_of_mantissa(table, number, place):
    """ln(number / 2^place) in 2^-41 nat, where `place` is the number's leading bit."""
    cut = place - (INTERVAL_BITS + PLACE_BITS)
    digits = number >> cut if cut > 0 else number << -cut
    t = digits & ((1 << PLACE_BITS) - 1)
    row = (digits >> PLACE_BITS) & (INTERVALS - 1)
    slope = table[row, SQUARE] + ((t * table[row, CUBE]) >> PLACE_BITS)
    slope = table[row, LINEAR] + ((t * slope) >> PLACE_BITS)
    return table[row, VALUE] + ((t * slope) >> PLACE_BITS)


@shared
def minus_log_of_ratio(table, number, power):
    """-ln(number / 2^power) in 2^-40 nat, for 1 <= number < 2^63 and a power that makes it positive, 65 at most."""
    place = leading_bit(number)
    inner = (((power - place) * LN2) >> (LN2_BITS - INNER_BITS)) - log_of_mantissa(table, number, place)
    return (inner + 1) >> 1


@shared
def minus_log(table, word):
    """-ln u of a 32-bit draw, in 2^-40 nat: 128 .. 33 ln 2 * 2^40.

    Never rises with the word; the error is below 2^-38 nat.
    """
    return minus_log_of_ratio(table, 2 * word + 1, 33)


@shared
def minus_log_long(table, high, low):
    """-ln u of a 64-bit draw, given as two 32-bit words, in 2^-40 nat: nearly 0 .. 65 ln 2 * 2^40.

    Never rises with the draw; the error is below 2^-36 nat.
    """
    if high >> 30 != 0:  # all 65 bits of 2 w + 1 do not fit; those that are cut off are below the error
        return minus_log_of_ratio(table, high << 30 | low >> 2, 62)
    return minus_log_of_ratio(table, high << 33 | low << 1 | 1, 65)


# Bits of a value that are multiplied by a temperature by themselves, so that no product comes to 2^63.
LOW_BITS = 26


@shared
def times(temperature, value):
    """temperature * value, rounded down, for a temperature of 2^-28, at most 2^36, and a value within +-2^52."""
    low = (value & ((1 << LOW_BITS) - 1)) * temperature >> LOW_BITS
    return ((value >> LOW_BITS) * temperature + low) >> (TEMPERATURE_BITS - LOW_BITS)


# Below this y, in 2^-64, a series gives ln(-ln(1 - y) / y).
SERIES_BITS = 55
# What a product of two numbers of 2^-40 loses its last bits by.
HALF_BITS = SCORE_BITS // 2


@shared
def gumbel(table, high, low):
    """A Gumbel draw -ln(-ln u) from a 64-bit draw, in 2^-40 nat: from -3.8 to 45.1 nat. Falls as the draw rises.

    It is u = 1 - y with y = (w + 1/2) / 2^64, so that great values, those that win, are as fine as small ones: for
    small y it is -ln y - (y / 2 + 5 y^2 / 24 + y^3 / 8 + ...). The error is below 2^-27 nat, 2^-36 where the value is
    above 6.3.
    """
    if high >> (SERIES_BITS - 32) == 0:
        y = (high << 32 | low) >> (64 - SCORE_BITS)  # below 2^31
        square = (y * y) >> SCORE_BITS  # below 2^22
        series = (y >> 1) + 5 * square // 24 + ((square * y) >> (SCORE_BITS + 3))
        return minus_log_long(table, high, low) - series
    rest = minus_log_long(table, (1 << 32) - 1 - high, (1 << 32) - 1 - low)
    return minus_log_of_ratio(table, rest, SCORE_BITS)


@shared
def noise(table, key0, key1, step, chain, candidate):
    """The Gumbel draw of a candidate of a step's block: any of them may be drawn by itself, in any order."""
    word0, word1, word2, word3 = philox(step & 0xFFFFFFFF, step >> 32, chain, NOISE + (candidate >> 1), key0, key1)
    if candidate & 1 == 0:
        return gumbel(table, word0, word1)
    return gumbel(table, word2, word3)
