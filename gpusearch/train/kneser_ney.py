"""Interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998; Heafield et al. 2013, sections 3.3 and 3.4).

With a(g) the adjusted count of an n-gram g = h w, h' = h without its first word, and D the discounts of its order:

    P(w | h)  = (a(h w) - D(a(h w))) / sum_v a(h v) + gamma(h) P(w | h')
    gamma(h)  = (D(1) N1(h) + D(2) N2(h) + D(3) N3(h) + a of the n-grams h v that are not kept) / sum_v a(h v)

where Ni(h) is how many of the n-grams h v that are kept have a count of i (3: or more). Below the unigrams every
word, ``<unk>`` with them but ``<s>`` not, has the same probability. What the ARPA file calls back-off is gamma.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io.arpa import Chunk
from gpusearch.train.ngram_counts import OrderCounts, matching, word_columns
from gpusearch.train.ngram_settings import Discounts
from gpusearch.train.ngram_text import BEGIN, UNKNOWN

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ROWS = 1 << 20  # n-grams read back at a time


def estimate_discounts(counts: OrderCounts) -> Discounts | None:
    """D(1), D(2) and D(3 or more) of an order (Chen and Goodman 1998, equation 26).

    None where they cannot be had: no n-gram with a count of 1, 2 or 3, or a discount that is not above 0, with
    which some n-grams would leave nothing to unseen words. (lmplz takes one that is exactly 0.)
    """
    n1, n2, n3, n4 = counts.with_count
    if 0 in (n1, n2, n3):
        return None
    y = n1 / (n1 + 2 * n2)
    discounts = 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
    return discounts if min(discounts) > 0 else None


def choose_discounts(counts: Sequence[OrderCounts], fallback: Discounts | None) -> list[Discounts]:
    """The discounts of each order, or the fallback.

    Raises:
        InputError: an order has none, and there is no fallback.
    """
    chosen = []
    for n, of_order in enumerate(counts, 1):
        discounts = estimate_discounts(of_order) or fallback
        if discounts is None:
            found = ", ".join(f"{number} with {count}" for count, number in enumerate(of_order.with_count, 1))
            raise InputError(
                f"too little text, or too regular, for the discounts of {n}-grams",
                found=f"n-grams by count: {found}",
                hint="allow fixed discounts (--discount-fallback)",
            )
        chosen.append(discounts)
    return chosen


def estimate(
    connection: DuckDBPyConnection, counts: Sequence[OrderCounts], discounts: Sequence[Discounts]
) -> Iterator[int]:
    """Make the tables `model_1`, ... from `ngrams_1`, ..., which are dropped; yields each order that is done.

    A row has the words, their `probability`, and what they are as a context: `total`, the sum of the adjusted counts
    of what follows, and `gamma`; both NULL where nothing follows. Rows are sorted by the last word, then by the one
    before, and so on.
    """
    for n in range(1, len(counts) + 1):
        if n == 1:
            _make_unigrams(connection, counts[0].kept + 1, discounts[0])
        else:
            _interpolate(connection, n, discounts[n - 1])
        connection.execute(f"DROP TABLE ngrams_{n}")
        rows, columns = f"interpolated_{n}", "*, NULL::DOUBLE AS total, NULL::DOUBLE AS gamma"
        if n < len(counts):
            _add_contexts(connection, n, discounts[n])
            rows, columns = f"contextual_{n}", "*"
        last_word_first = ", ".join(reversed(word_columns(n)))
        connection.execute(f"CREATE TABLE model_{n} AS SELECT {columns} FROM {rows} ORDER BY {last_word_first}")
        connection.execute(f"DROP TABLE {rows}")
        yield n


def read_model(connection: DuckDBPyConnection, n: int) -> Iterator[Chunk]:
    """The n-grams of a model, sorted, with log10 probability and log10 back-off (0 where there is none)."""
    (size,) = connection.execute(f"SELECT count(*) FROM model_{n}").fetchall()[0]
    # A rounding error may lift what is 1 above it.
    figures = "least(log10(probability), 0)::FLOAT, least(coalesce(log10(gamma), 0), 0)::FLOAT"
    for first in range(0, size, _ROWS):
        *words, probability, backoff = (
            connection.execute(
                f"""
                SELECT {", ".join(word_columns(n))}, {figures} FROM model_{n}
                WHERE rowid >= {first} AND rowid < {first + _ROWS} ORDER BY rowid
                """
            )
            .fetchnumpy()
            .values()
        )
        yield Chunk(np.stack(words, axis=1), probability, backoff)


# Each statement below has one join, or one grouping, or one sort: DuckDB takes any of these to the disk where memory
# ends, but several in one statement need memory at the same time.


def _make_unigrams(connection: DuckDBPyConnection, words: int, discounts: Discounts) -> None:
    """Probabilities of unigrams, of `words` words with <unk> and without <s>; that of <s> is 1, and never used."""
    connection.execute(
        f"""
        CREATE TABLE interpolated_1 AS
        WITH whole AS (SELECT sum(adjusted)::DOUBLE AS total, {_GAMMA} / {words} AS uniform FROM ngrams_1)
        SELECT w1, {_DISCOUNTED} / total + uniform AS probability FROM ngrams_1, whole WHERE kept
        UNION ALL SELECT {UNKNOWN}, uniform FROM whole
        UNION ALL SELECT {BEGIN}, 1
        """,
        _parameters(discounts),
    )


def _interpolate(connection: DuckDBPyConnection, n: int, discounts: Discounts) -> None:
    """Probabilities of n-grams, from their contexts and from their suffixes, both of which were done before."""
    connection.execute(
        f"""
        CREATE TABLE discounted_{n} AS
        SELECT {", ".join(word_columns(n, "ngram"))}, {_DISCOUNTED} / total AS own, gamma
        FROM ngrams_{n} AS ngram JOIN model_{n - 1} AS context
        ON {matching(word_columns(n - 1, "ngram"), word_columns(n - 1, "context"))}
        WHERE kept
        """,
        _parameters(discounts),
    )
    connection.execute(
        f"""
        CREATE TABLE interpolated_{n} AS
        SELECT {", ".join(word_columns(n, "ngram"))}, own + ngram.gamma * suffix.probability AS probability
        FROM discounted_{n} AS ngram JOIN model_{n - 1} AS suffix
        ON {matching(word_columns(n - 1, "ngram", first=2), word_columns(n - 1, "suffix"))}
        """
    )
    connection.execute(f"DROP TABLE discounted_{n}")


def _add_contexts(connection: DuckDBPyConnection, n: int, discounts: Discounts) -> None:
    """Total and gamma of each n-gram that something follows, by the discounts of the next order."""
    words = ", ".join(word_columns(n))
    connection.execute(
        f"""
        CREATE TABLE contexts_{n} AS
        SELECT {words}, sum(adjusted)::DOUBLE AS total, {_GAMMA} AS gamma FROM ngrams_{n + 1} GROUP BY {words}
        """,
        _parameters(discounts),
    )
    connection.execute(
        f"CREATE TABLE contextual_{n} AS SELECT * FROM interpolated_{n} LEFT JOIN contexts_{n} USING ({words})"
    )
    connection.execute(f"DROP TABLE interpolated_{n}; DROP TABLE contexts_{n}")


_DISCOUNTED = "(adjusted - CASE adjusted WHEN 1 THEN $d1 WHEN 2 THEN $d2 ELSE $d3 END)"

# Of the context of a group of n-grams.
_GAMMA = """
    (
        $d1 * count_if(kept AND adjusted = 1) + $d2 * count_if(kept AND adjusted = 2)
        + $d3 * count_if(kept AND adjusted > 2) + coalesce(sum(adjusted) FILTER (NOT kept), 0)
    ) / sum(adjusted)::DOUBLE
"""


def _parameters(discounts: Discounts) -> dict[str, float]:
    return {f"d{count}": discount for count, discount in enumerate(discounts, 1)}
