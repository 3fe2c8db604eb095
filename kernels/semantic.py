"""The semantic document language model (Hardmeier et al. 2012, section 4.3, equation 15), in integers.

Word vectors have the length 2^14, so the cosine of a word and the sum of its history (that with the mean is the same)
is a dot product over the root of the sum's square. It is kept in 2^-20 and falls into one of 64 bins of equal width,
whose values are the logarithms that the equation names. A word's *cell* is its bin together with the length of its
history's sum, in halves of a vector: how far the cosine can move when words of the history change follows from that.
"""

import math
from typing import NamedTuple

from gpusearch.kernels.records import Array
from gpusearch.kernels.target import shared

VECTOR_BITS = 14
COSINE_BITS = 20
BIN_BITS = 6
BINS = 1 << BIN_BITS
# Lengths of a history's sum that are told apart: in halves of a vector, the last one holds all that are longer.
LENGTH_BITS = VECTOR_BITS - 1
LENGTHS = 64
# The cell of a word that has no history; cells are numbered length by length.
FIRST_CELL = LENGTHS * BINS
# Index of Semantic.number.
SEMANTIC_HISTORY = 0
# The code of a word that the model does not know.
UNKNOWN = -1


class Semantic(NamedTuple):
    """The model. A word's code is the row of its vector; below 0 its value does not depend on the history.

    With a history of up to 2^16 words all products stay below 2^63.
    """

    # int16[V, D]: word vectors of the length 2^14
    vector: Array
    # int32[FIRST_CELL + 1]: ln(alpha p_cos) of each cell's bin; of a word without any history; 2^-20 nat
    value: Array
    # int32[1 + stop words]: values of the codes -1 (unknown: ln epsilon), -2, -3, ... (stop words: ln p); 2^-20 nat
    fixed: Array
    # int64[1]: words of the history
    number: Array


@shared
def square_root(number):
    """The greatest integer whose square is at most `number`, 0 <= number < 2^62.

    A float may be off by one, which integers then see: the result is the same on every target.
    """
    root = int(math.sqrt(number))
    if root * root > number:
        root -= 1
    elif (root + 1) * (root + 1) <= number:
        root += 1
    return root


@shared
def bin_of(dot, root):
    """The bin of a cosine: of a word's dot product with a sum of vectors, and the length of that sum."""
    cosine = 0
    if root > 0:
        cosine = (dot << (COSINE_BITS - VECTOR_BITS)) // root
    return min(max((cosine + (1 << COSINE_BITS)) >> (COSINE_BITS + 1 - BIN_BITS), 0), BINS - 1)


@shared
def cell_of(semantic, code, total, held):
    """Cell of a word of the space behind a history: `held` words, whose vectors have the sum ``total``, int64[D]."""
    if held == 0:
        return FIRST_CELL
    dot = 0
    square = 0
    for d in range(semantic.vector.shape[1]):
        dot += total[d] * semantic.vector[code, d]
        square += total[d] * total[d]
    root = square_root(square)
    return min(root >> LENGTH_BITS, LENGTHS - 1) * BINS + bin_of(dot, root)


@shared
def shift_history(semantic, code, total, sign):
    """Add a word's vector to the sum of the history, or take it off (sign -1)."""
    for d in range(semantic.vector.shape[1]):
        total[d] = total[d] + sign * semantic.vector[code, d]


@shared
def score_codes(semantic, codes, count, total):
    """Value of a document whose words have the codes ``codes[:count]``, int32; ``total`` (int64[D]) is work space."""
    for d in range(semantic.vector.shape[1]):
        total[d] = 0
    held = 0
    oldest = 0
    value = 0
    for place in range(count):
        code = codes[place] + 0
        if code < 0:
            value += semantic.fixed[-1 - code]
        else:
            value += semantic.value[cell_of(semantic, code, total, held)]
            shift_history(semantic, code, total, 1)
            held += 1
            if held > semantic.number[SEMANTIC_HISTORY]:
                while codes[oldest] < 0:
                    oldest += 1
                shift_history(semantic, codes[oldest] + 0, total, -1)
                oldest += 1
                held -= 1
    return value
