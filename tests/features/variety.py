"""A compiled feature as a user may write it, with all that one may have: counts, a bound, its gap, what it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusearch.features.protocol import Room
from gpusearch.features.text import Document
from gpusearch.kernels.document import change_of_tokens, change_of_types, change_of_words, list_changes
from gpusearch.kernels.records import OPTION_WORDS, TABLE_SUMS, TOKENS, TYPES, VALUE_BITS
from gpusearch.kernels.target import shared

# Indices of what `prepare` returns: the table of words, the first of two columns of State.sum.
WORDS, KEPT = range(2)


@shared
def ratio(types, tokens):
    """2^-20, rounded; 0 where there are no words."""
    return ((types << (VALUE_BITS + 1)) // tokens + 1) >> 1 if tokens > 0 else 0


@shared
def by_counts(my, state, scratch, lane):
    """The change of the ratio by what is listed of counts."""
    types = state.sum[lane, my.number[KEPT]] + 0
    tokens = state.sum[lane, my.number[KEPT] + 1] + 0
    table = my.number[WORDS] + 0
    after = ratio(types + change_of_types(scratch.changed, table), tokens + change_of_tokens(scratch.changed, table))
    return after - ratio(types, tokens)


@shared
def at_most(my, weight, problem, state, scratch, lane, change):
    """The weighted change if all words put in were new, or all that give way the last of their kind."""
    types = state.sum[lane, my.number[KEPT]] + 0
    tokens = state.sum[lane, my.number[KEPT] + 1] + 0
    _, more = change_of_words(problem, state, scratch, lane, change)
    new = 0
    for k in range(change.count):
        new += problem.option_place[scratch.option[k], OPTION_WORDS]
    after = min(types + new, tokens + more) if weight >= 0 else max(types + more - new, min(1, tokens + more))
    return weight * (ratio(after, tokens + more) - ratio(types, tokens))


class Variety:
    """Different target words by all of them, as the built-in type-token-ratio; it keeps both numbers of each lane."""

    scope = "document"
    compiled = True
    counts = ("words",)

    def value(self, document: Document) -> float:
        """In plain Python."""
        words = [word for sentence in document for word in sentence.words]
        return len(set(words)) / max(1, len(words))

    def prepare(self, room: Room) -> dict[str, np.ndarray[Any, Any]]:
        """Where its numbers are."""
        return {"number": np.array([room.tables["words"], room.keep_sums(2)])}

    def full(my, problem, search, state, scratch, lane):
        """What it keeps is taken from the counts."""
        sums = TABLE_SUMS * my.number[WORDS]
        state.sum[lane, my.number[KEPT]] = state.sum[lane, sums + TYPES]
        state.sum[lane, my.number[KEPT] + 1] = state.sum[lane, sums + TOKENS]
        return ratio(state.sum[lane, my.number[KEPT]] + 0, state.sum[lane, my.number[KEPT] + 1] + 0)

    def delta(my, problem, search, state, scratch, lane, change):
        """By the counts that the engine has listed."""
        return by_counts(my, state, scratch, lane)

    def bound(my, weight, problem, search, state, scratch, lane, change):
        """No count is looked at."""
        return at_most(my, weight, problem, state, scratch, lane, change)

    def gap(my, weight, room, problem, search, state, scratch, lane, change):
        """Counts may be those of another proposal by now: they are listed again."""
        list_changes(
            problem.document,
            problem,
            state,
            scratch,
            lane,
            change.sentence,
            change.first,
            change.replaced,
            change.count,
        )
        exact = weight * by_counts(my, state, scratch, lane)
        return exact - at_most(my, weight, problem, state, scratch, lane, change)

    def commit(my, problem, search, state, scratch, lane, change):
        """Both numbers, one proposal further."""
        table = my.number[WORDS] + 0
        types, tokens = my.number[KEPT] + 0, my.number[KEPT] + 1
        state.sum[lane, types] = state.sum[lane, types] + change_of_types(scratch.changed, table)
        state.sum[lane, tokens] = state.sum[lane, tokens] + change_of_tokens(scratch.changed, table)
