"""Hashes of the beam's hypotheses."""

from gpusearch.kernels.target import shared, wrapping_product

# Odd, below 2^63. The product may wrap around when compiled: the bits that are kept are the same either way.
MULTIPLIER = 0x5851F42D4C957F2D
MASK63 = 0x7FFFFFFFFFFFFFFF


@shared
def mix(hashed, number):
    """A hash and one more number: 63 bits."""
    return wrapping_product(hashed ^ (hashed >> 29) ^ number, MULTIPLIER) & MASK63


@shared
def first_entry(table, hashed):
    """Where the search for a hash begins in a table."""
    return (hashed >> 24) & (table.shape[0] - 1)
