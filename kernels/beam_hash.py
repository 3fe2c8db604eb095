"""Hashes of the beam's hypotheses."""

from gpusearch.kernels.language_model import MULTIPLIER
from gpusearch.kernels.target import shared, wrapping_product

MASK63 = 0x7FFFFFFFFFFFFFFF


@shared
def mix(hashed, number):
    """A hash and one more number: 63 bits."""
    return wrapping_product(hashed ^ (hashed >> 29) ^ number, MULTIPLIER) & MASK63


@shared
def first_entry(table, hashed):
    """Where the search for a hash begins in a table."""
    return (hashed >> 24) & (table.shape[0] - 1)
