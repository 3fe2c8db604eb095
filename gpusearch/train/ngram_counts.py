"""Counting the n-grams of a text on disk, all orders, with the counts that Kneser-Ney smoothing works on.

DuckDB groups them and keeps to a memory limit; the result is the same for any number of threads. See
`gpusearch/train/kneser_ney.py` for what becomes of the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpusearch.train.ngram_text import BEGIN, Array

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class OrderCounts:
    """What is counted of the n-grams of one order.

    Attributes:
        distinct: different n-grams of the text.
        kept: those that the model keeps.
        with_count: how many of all have an adjusted count of 1, 2, 3, 4.
    """

    distinct: int
    kept: int
    with_count: tuple[int, int, int, int]


def word_columns(order: int, table: str = "", first: int = 1) -> list[str]:
    """Names of the columns that hold `order` words of an n-gram, from the word `first` on: w1, w2, ..."""
    return [f"{table}{'.' if table else ''}w{i}" for i in range(first, first + order)]


def matching(left: Sequence[str], right: Sequence[str]) -> str:
    """The condition that columns are equal, pair by pair."""
    return " AND ".join(f"{a} = {b}" for a, b in zip(left, right, strict=True))


def store_ngrams(connection: DuckDBPyConnection, order: int, chunks: Iterable[Array]) -> None:
    """Put all n-grams of a text, int32[order, N] a chunk, into the table `occurrences`."""
    names = word_columns(order)
    connection.execute(f"CREATE TABLE occurrences ({', '.join(f'{name} INTEGER' for name in names)})")
    for chunk in chunks:
        columns = dict(zip(names, chunk, strict=True))
        connection.execute("INSERT INTO occurrences SELECT * FROM columns")
        del columns


def count_ngrams(connection: DuckDBPyConnection, order: int, thresholds: Sequence[int]) -> list[OrderCounts]:
    """Make the tables `ngrams_1` .. `ngrams_<order>` from `occurrences`, which is dropped.

    An n-gram has its words w1 .. wn; `occurrences`, how often it stands in the text; `adjusted`: the same for n-grams
    of the highest order and those that begin with ``<s>``, for all others how many different words stand before them
    (Heafield et al. 2013, section 3.2); `kept`: whether the model keeps it.

    Args:
        thresholds: for each order; n-grams that occur that often or less are not kept. Those with a word that has a
            negative number are not kept either.

    Returns:
        For each order what there is.
    """
    words = ", ".join(word_columns(order))
    kept = _kept(order, thresholds)
    connection.execute(
        f"""
        CREATE TABLE ngrams_{order} AS
        SELECT *, occurrences AS adjusted, {kept} AS kept
        FROM (SELECT {words}, count(*) AS occurrences FROM occurrences GROUP BY {words})
        """
    )
    connection.execute("DROP TABLE occurrences")
    for n in range(order - 1, 0, -1):
        _count_suffixes(connection, n, thresholds)
    return [_counts(connection, n) for n in range(1, order + 1)]


def _count_suffixes(connection: DuckDBPyConnection, n: int, thresholds: Sequence[int]) -> None:
    """Make the table of the n-grams from that of the next higher order, each row of which is one left extension.

    What begins with <s> <s> is no n-gram, but its suffixes are: the text has `order - 1` times <s> before a sentence.
    """
    suffix = word_columns(n, "longer", first=2)
    named = ", ".join(f"{old} AS {new}" for old, new in zip(suffix, word_columns(n), strict=True))
    connection.execute(
        f"""
        CREATE TABLE ngrams_{n} AS
        SELECT {", ".join(word_columns(n))}, occurrences,
            CASE WHEN w1 = {BEGIN} THEN occurrences ELSE extensions END AS adjusted, {_kept(n, thresholds)} AS kept
        FROM (
            SELECT {named}, sum(occurrences)::BIGINT AS occurrences, count(*) AS extensions
            FROM ngrams_{n + 1} AS longer GROUP BY {", ".join(suffix)}
        )
        """
    )
    connection.execute(f"DELETE FROM ngrams_{n + 1} WHERE w2 = {BEGIN}")


def _kept(n: int, thresholds: Sequence[int]) -> str:
    return f"occurrences > {thresholds[n - 1]} AND least({', '.join(word_columns(n))}) >= 0"


def _counts(connection: DuckDBPyConnection, n: int) -> OrderCounts:
    of_count = ", ".join(f"count(*) FILTER (adjusted = {count})" for count in (1, 2, 3, 4))
    columns = f"count(*), count(*) FILTER (kept), {of_count}"
    distinct, kept, *with_count = connection.execute(f"SELECT {columns} FROM ngrams_{n}").fetchall()[0]
    return OrderCounts(distinct, kept, tuple(with_count))
