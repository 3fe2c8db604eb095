"""Clipped counts: n-grams of a sentence, each counted up to a limit of its own (Papineni et al. 2002, section 2.1.1).

What is counted are items: patterns of a sentence's automaton, or several that count as one. Items belong to groups,
such as the orders of n-grams, and the sums of the groups are what a proposal changes.
"""

from typing import NamedTuple

from gpusearch.kernels.ngrams import COUNTED, NGrams, first_states, keep_states, list_states, start_states
from gpusearch.kernels.records import Array
from gpusearch.kernels.target import shared

# Indices of Clipped.number.
ITEM_COUNTS, MOST_ENDS = range(2)
CLIPPED_NUMBERS = 2
# Columns of Clipped.sentence and of Clipped.item.
ITEM_FIRST, ITEM_MANY, ITEM_COLUMN = range(3)
LIMIT, GROUP = range(2)
GROUPS = 4


class Clipped(NamedTuple):
    """Items of the sentences of a problem, numbered from 0 in each sentence; ``I`` of all sentences.

    Work space: by how much a proposal changes the sums of the groups, at 0 .. GROUPS - 1; behind that of `ngrams` a
    hash table of the items that it changes, and then by how much, each of as many places as `places_for` says.
    """

    ngrams: NGrams
    number: Array  # int64[2]: first column of State.count of the items' counts; most items that end in a state
    sentence: Array  # int64[N, 3]: first row of `item`, items, first column of their counts within those of the unit
    item: Array  # int32[I, 2]: how often it counts at most; its group
    first: Array  # int32[Q + 1]: where the items that end in a state begin in `end`
    end: Array  # int32[*]: items, each once a state


@shared
def places_for(items):
    """Places of a hash table of so many items: a power of two, some of them empty."""
    places = 1
    while places <= items:
        places *= 2
    return places


@shared
def list_matches(clipped, problem, state, scratch, lane, change):
    """List the changes of a proposal to the sums of the groups; returns what `list_states` does."""
    many, fewer, column, before, behind, words = list_states(clipped.ngrams, problem, state, scratch, lane, change)
    work = scratch.changed.work
    for group in range(GROUPS):
        work[group] = 0
    sentence = change.sentence + 0
    places = places_for(min(clipped.sentence[sentence, ITEM_MANY], (many + fewer) * clipped.number[MOST_ENDS]))
    listed = first_states(clipped.ngrams)
    table = listed + (listed - COUNTED)
    for place in range(table, table + places):
        work[place] = -1
    for k in range(many):
        list_items(clipped, state, work, lane, sentence, table, places, work[listed + k] + 0, 1)
    for k in range(fewer):
        list_items(clipped, state, work, lane, sentence, table, places, state.count[lane, column + k] + 0, -1)
    return many, fewer, column, before, behind, words


@shared
def list_items(clipped, state, work, lane, sentence, table, places, at, by):
    """Count the items that end in a state once more, or once less."""
    row = clipped.sentence[sentence, ITEM_FIRST] + 0
    counts = clipped.number[ITEM_COUNTS] + clipped.sentence[sentence, ITEM_COLUMN]
    for k in range(clipped.first[at], clipped.first[at + 1]):
        item = clipped.end[k] + 0
        place = item & (places - 1)
        while work[table + place] >= 0 and work[table + place] != item:
            place = (place + 1) & (places - 1)
        if work[table + place] < 0:
            work[table + place] = item
            work[table + places + place] = 0
        more = work[table + places + place] + 0
        count = state.count[lane, counts + item] + more
        group = clipped.item[row + item, GROUP]
        work[group] = work[group] + counted_change(count, by, clipped.item[row + item, LIMIT])
        work[table + places + place] = more + by


@shared
def counted_change(count, by, limit):
    """By how much min(count, limit) changes where the count changes by 1 or -1."""
    return min(count + by, limit) - min(count, limit)


@shared
def keep_matches(clipped, problem, state, scratch, lane, change):
    """Write what a proposal changes into codes, states and counts; the changes of the sums are listed then."""
    many, fewer, column, before, behind, words = list_matches(clipped, problem, state, scratch, lane, change)
    listed = first_states(clipped.ngrams)
    for k in range(many):
        count_items(clipped, state, lane, change.sentence, scratch.changed.work[listed + k], 1)
    for k in range(fewer):
        count_items(clipped, state, lane, change.sentence, state.count[lane, column + k], -1)
    keep_states(clipped.ngrams, problem, state, scratch, lane, change, many, column, before, behind, words)


@shared
def count_items(clipped, state, lane, sentence, at, by):
    """Renew the counts of the items that end in a state."""
    counts = clipped.number[ITEM_COUNTS] + clipped.sentence[sentence, ITEM_COLUMN]
    for k in range(clipped.first[at], clipped.first[at + 1]):
        column = counts + clipped.end[k]
        state.count[lane, column] = state.count[lane, column] + by


@shared
def start_matches(clipped, problem, state, work, lane, local, sentence):
    """Codes, states and counts of a sentence from nothing; adds to the sums of the groups, and returns its words."""
    words, states = start_states(clipped.ngrams, problem, state, lane, local)
    row = clipped.sentence[sentence, ITEM_FIRST] + 0
    counts = clipped.number[ITEM_COUNTS] + clipped.sentence[sentence, ITEM_COLUMN]
    for place in range(states, states + words):
        at = state.count[lane, place] + 0
        for k in range(clipped.first[at], clipped.first[at + 1]):
            item = clipped.end[k] + 0
            count = state.count[lane, counts + item] + 0
            group = clipped.item[row + item, GROUP]
            work[group] = work[group] + counted_change(count, 1, clipped.item[row + item, LIMIT])
            state.count[lane, counts + item] = count + 1
    return words
