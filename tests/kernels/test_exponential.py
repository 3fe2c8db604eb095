"""The exponential of the kernels against exact decimals."""

from __future__ import annotations

from decimal import Context, Decimal

import numpy as np

from gpusearch.kernels.exponential import (
    ONE,
    REST_BITS,
    SCORE_BITS,
    WHOLES,
    exponential,
    exponential_table,
    fraction_of,
)
from gpusearch.kernels.target import exact

CONTEXT = Context(prec=60)
ERROR = Decimal(2) ** -37


def test_it_is_that_of_decimals() -> None:
    """At the borders of its tables, and between."""
    table = exact(exponential_table())
    borders = [k << REST_BITS for k in range(WHOLES << (SCORE_BITS - REST_BITS))]
    near = [place + by for place in borders[:: len(borders) // 200] for by in (-1, 0, 1) if place + by >= 0]
    drawn = np.random.default_rng(1).integers(0, 30 << SCORE_BITS, 2000).tolist()
    for number in (*near, *drawn, (WHOLES << SCORE_BITS) - 1):
        expected = CONTEXT.exp(-Decimal(number) / ONE)
        assert abs(Decimal(exponential(table, number)) / ONE - expected) < ERROR, number


def test_its_ends() -> None:
    table = exact(exponential_table())
    assert exponential(table, 0) == ONE
    assert exponential(table, WHOLES << SCORE_BITS) == exponential(table, 1 << 62) == 0


def test_a_product_of_fractions_is_rounded_down() -> None:
    """Never above, and by one unit below at most."""
    for one, other in np.random.default_rng(2).integers(0, ONE + 1, (2000, 2)).tolist():
        assert 0 <= one * other // ONE - fraction_of(one, other) <= 1
    assert fraction_of(ONE, ONE) == ONE
