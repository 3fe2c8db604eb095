"""The n-grams of many texts, counted by sorting: exact numbers for n-grams, no hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Above this a sort key would not fit into an int64 any more; n-grams are then numbered before the texts come in.
_LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class GramCounts:
    """How often each n-gram of one order occurs in each of N texts: E entries, by n-gram and then by text."""

    text: NDArray[np.int64]
    """[E]"""
    gram: NDArray[np.int64]
    """[E], from 0 in no order that means anything."""
    count: NDArray[np.int64]
    """[E], 1 or more."""
    grams: int
    """Different n-grams."""
    totals: NDArray[np.int64]
    """[N] n-grams of each text, repetitions included."""


def count_grams(sequences: Sequence[NDArray[np.int64]], orders: int) -> list[GramCounts]:
    """Counts of the n-grams of orders 1 .. `orders`.

    An n-gram's number is its place among the pairs (number of its first n-1 symbols, last symbol); one sort by (pair,
    text) gives numbers and counts together.

    Args:
        sequences: N texts as symbols, numbered from 0 without gaps.
    """
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    symbols = np.concatenate([*sequences, np.zeros(0, np.int64)])
    kinds = int(symbols.max(initial=0)) + 1
    text = np.repeat(np.arange(len(lengths)), lengths)
    left = np.cumsum(lengths)[text] - np.arange(len(text))
    number = np.zeros(len(symbols), np.int64)
    counted = []
    for order in range(1, orders + 1):
        place = np.flatnonzero(left >= order)
        counted.append(_count(number, number[place] * kinds + symbols[place + order - 1], place, text[place], lengths))
    return counted


def _count(
    number: NDArray[np.int64],
    pair: NDArray[np.int64],
    place: NDArray[np.int64],
    text: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> GramCounts:
    """Count one order, and leave each n-gram's number at its place in `number`."""
    texts = max(1, len(lengths))
    if int(pair.max(initial=0)) >= _LARGEST_KEY // texts:
        pair = np.unique(pair, return_inverse=True)[1]
    key = pair * texts + text
    order = np.argsort(key)
    key, pair = key[order], pair[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    gram = np.cumsum(np.diff(pair, prepend=-1) != 0) - 1
    number[place[order]] = gram
    return GramCounts(
        text[order[first]],
        gram[first],
        np.diff(first, append=len(key)),
        int(gram[-1]) + 1 if len(gram) else 0,
        np.bincount(text, minlength=len(lengths)),
    )


def characters(texts: Sequence[str]) -> list[NDArray[np.int64]]:
    """Texts as numbers of their characters."""
    joined = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    symbols = np.unique(joined, return_inverse=True)[1].astype(np.int64)
    return np.split(symbols, np.cumsum([len(text) for text in texts])[:-1]) if texts else []


def words(texts: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
    """Tokenised texts as numbers of their words."""
    numbers: dict[str, int] = {}
    return [np.array([numbers.setdefault(word, len(numbers)) for word in text], np.int64) for text in texts]
