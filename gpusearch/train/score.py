"""Phrase translation probabilities, by relative frequency or with Kneser-Ney smoothing (Foster et al. 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpusearch.train.corpus import Array
from gpusearch.train.counting import Marginals

#: Columns of a phrase table in their order: p(f|e), lex(f|e), p(e|f), lex(e|f); f is the source, e the target phrase.
COLUMNS = ("inverse_phrase", "inverse_lexical", "direct_phrase", "direct_lexical")


@dataclass(frozen=True)
class Discounts:
    """What is taken off the counts 1, 2, 3 and more, and the number of distinct pairs.

    Modified Kneser-Ney (Chen and Goodman 1999), which Foster et al. (2006) brought to phrase pairs:
    with n_r the number of pairs that occur r times and Y = n_1 / (n_1 + 2 n_2),
    D_1 = 1 - 2 Y n_2 / n_1, D_2 = 2 - 3 Y n_3 / n_2, D_3+ = 3 - 4 Y n_4 / n_3.
    """

    values: Sequence[float]
    pairs: int


def estimate_discounts(counts_of_counts: Array) -> Discounts:
    """Discounts from ``int[5]``: the pairs that occur once, twice, three, four times, and all.

    A discount for which there are no figures (a small or filtered text), or that would be outside of 0 to its
    count, is replaced by half a count.
    """
    n1, n2, n3, n4, pairs = (int(count) for count in counts_of_counts)
    values = [0.5, 0.5, 0.5]
    if n1 and n2:
        scale = n1 / (n1 + 2 * n2)
        for count, (here, above) in enumerate([(n1, n2), (n2, n3), (n3, n4)], 1):
            discount = count - (count + 1) * scale * above / here if here and above else -1.0
            if 0.0 <= discount <= count:
                values[count - 1] = discount
    return Discounts(values, pairs)


def phrase_probabilities(
    occurrences: Array, source: Marginals, target: Marginals, discounts: Discounts | None = None
) -> tuple[Array, Array]:
    """p(f|e) and p(e|f), float64[N] each.

    By relative frequency c(f, e) / c(e); with discounts, for p(e|f):

        (c(f, e) - D) / c(f) + (D_1 N_1(f) + D_2 N_2(f) + D_3 N_3+(f)) / c(f) * N(e) / N

    where N_r(f) counts the pairs of f that occur r times, N(e) the pairs of e and N all pairs.

    Args:
        occurrences: int64[N], c(f, e).
        source, target: marginal counts of f and e, a row for each pair.
    """
    inverse = _conditional(occurrences, target, source, discounts)
    direct = _conditional(occurrences, source, target, discounts)
    return inverse, direct


def _conditional(occurrences: Array, given: Marginals, other: Marginals, discounts: Discounts | None) -> Array:
    if discounts is None:
        probability: Array = occurrences / given.total
        return probability
    by_count = np.array(discounts.values)
    backoff = other.types.sum(axis=1) / discounts.pairs
    kept = occurrences - by_count[np.minimum(occurrences, 3) - 1]
    smoothed: Array = (kept + given.types @ by_count * backoff) / given.total
    return smoothed
