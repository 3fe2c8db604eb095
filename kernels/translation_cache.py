"""A cache of earlier translations: what a sentence has in common with the sentences before it.

In the manner of the exponentially decaying cache of Tiedemann (2010, "Context adaptation in statistical machine
translation using models with exponentially decaying cache") and the dynamic cache of phrase pairs of Gong et al. (2011,
"Cache-based document-level statistical machine translation"). An item, such as a phrase pair, that occurs c_i times in
sentence i has the value

    sum over i < j <= i + window of c_i c_j decay^(j - i - 1)

A sentence has nothing to do with itself, so the change is linear in what a proposal, which is to one sentence, changes.
"""

from typing import NamedTuple

from gpusearch.kernels.document import ceilings, delta, full, keep
from gpusearch.kernels.records import PLACES, SENTENCE_SLOT, UNIT_FIRST_SENTENCE, UNIT_SENTENCES, Array
from gpusearch.kernels.target import shared

# Indices of TranslationCache.number, and columns of TranslationCache.unit.
TABLE, COUNTS, WINDOW = range(3)
FIRST_ITEM, ITEMS = range(2)


class TranslationCache(NamedTuple):
    """The sum over all items of a unit. Those that matter have a *row* for each sentence that they may occur in."""

    number: Array  # int64[3]: the table that counts items; first column of State.count of the unit's rows; the window
    decay: Array  # int64[window + 1]: 0, then decay^(d - 1) of sentences that are d apart, 2^-20
    unit: Array  # int64[U, 2]: first item of a unit in `begin`, and its items
    begin: Array  # int64[* + 1]: first row of an item; the others do not count
    sentence: Array  # int32[*]: the sentence of a row, counted within the unit, in rising order for each item


@shared
def rows_of(feature, unit, item):
    """Rows of an item: the first, and behind the last."""
    place = feature.unit[unit, FIRST_ITEM] + item
    return feature.begin[place] + 0, feature.begin[place + 1] + 0


@shared
def column_of_row(feature, unit, row):
    """Where the count of a row is kept."""
    return feature.number[COUNTS] + row - feature.begin[feature.unit[unit, FIRST_ITEM]]


@shared
def find_row(feature, first, last, local):
    """The first of the rows first .. last - 1 whose sentence is `local` or behind it."""
    while first < last:
        middle = (first + last) >> 1
        if feature.sentence[middle] < local:
            first = middle + 1
        else:
            last = middle
    return first


@shared
def common(feature, state, lane, item, local):
    """How often an item occurs in the sentences around one, each by its distance, 2^-20."""
    unit = state.unit[lane] + 0
    window = feature.number[WINDOW] + 0
    first, last = rows_of(feature, unit, item)
    row = find_row(feature, first, last, local - window)
    total = 0
    while row < last and feature.sentence[row] <= local + window:
        distance = abs(feature.sentence[row] - local)
        total += feature.decay[distance] * state.count[lane, column_of_row(feature, unit, row)]
        row += 1
    return total


@delta.version(TranslationCache)
def change_of_cache(feature, problem, search, state, scratch, lane, change):
    changed = scratch.changed
    table = feature.number[TABLE]
    total = 0
    for k in range(changed.many[table]):
        by = changed.by[table, k] + 0
        if by != 0:
            total += by * common(feature, state, lane, changed.item[table, k] + 0, change.local)
    return total


@ceilings.version(TranslationCache)
def ceilings_of_cache(feature, weight, problem, search, state, scratch, lane, change):
    changed = scratch.changed
    document = problem.document
    table = feature.number[TABLE] + 0
    for k in range(PLACES):
        for number in range(changed.open[k, 1] - changed.open[k, 0]):
            option = changed.open[k, 0] + number
            total = 0
            for place in range(document.first[table, option], document.first[table, option + 1]):
                total += common(feature, state, lane, document.item[place] + 0, change.local)
            changed.ceiling[k, number] = changed.ceiling[k, number] + weight * total
    return weight * change_of_cache(feature, problem, search, state, scratch, lane, change)


@shared
def count_item(feature, state, lane, item, local, by):
    """Add to the count of an item in a sentence, where it matters."""
    unit = state.unit[lane] + 0
    first, last = rows_of(feature, unit, item)
    if first < last:
        column = column_of_row(feature, unit, find_row(feature, first, last, local))
        state.count[lane, column] = state.count[lane, column] + by


@keep.version(TranslationCache)
def keep_cache(feature, problem, search, state, scratch, lane, change):
    changed = scratch.changed
    table = feature.number[TABLE]
    for k in range(changed.many[table]):
        count_item(feature, state, lane, changed.item[table, k] + 0, change.local, changed.by[table, k] + 0)


@full.version(TranslationCache)
def full_cache(feature, problem, search, state, scratch, lane):
    unit = state.unit[lane] + 0
    table = feature.number[TABLE]
    document = problem.document
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        slots = problem.sentence[problem.unit[unit, UNIT_FIRST_SENTENCE] + local, SENTENCE_SLOT] + 0
        for slot in range(slots, slots + state.length[lane, local]):
            option = state.option[lane, slot]
            for place in range(document.first[table, option], document.first[table, option + 1]):
                count_item(feature, state, lane, document.item[place] + 0, local, 1)
    twice = 0  # each pair of sentences is met from both sides
    for item in range(feature.unit[unit, ITEMS]):
        first, last = rows_of(feature, unit, item)
        for row in range(first, last):
            count = state.count[lane, column_of_row(feature, unit, row)] + 0
            if count > 0:
                twice += count * common(feature, state, lane, item, feature.sentence[row] + 0)
    return twice >> 1
