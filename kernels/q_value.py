"""Consistency of translations: the Q-value (Deleger et al. 2006; Stymne et al. 2013, equation 2).

A pair that occurs f times, whose source has n(s) different targets in the text and whose target has n(t) different
sources, has the value q = f / (n(s) + n(t)). A text has the mean of that over all occurrences: sum f q / sum f.

A proposal changes the sum at the pairs whose counts it changes, and at the others of a source or target that has
another number of partners now. So the pairs that occur are listed for each of their two *sides*, source and target.
"""

from typing import NamedTuple

from gpusearch.kernels.document import change_of_tokens, delta, full, keep
from gpusearch.kernels.records import TABLE_SUMS, TOKENS, VALUE_BITS, Array
from gpusearch.kernels.target import shared
from gpusearch.kernels.type_token import natural_log, rounded

# Indices of QValue.number.
PAIR_TABLE, AS_LOGARITHM, SHIFT, PARTNERS, PRESENT, SUM = range(6)
Q_NUMBERS = 6
# Columns of QValue.side.
SOURCE, TARGET = range(2)


class QValue(NamedTuple):
    """The mean Q-value of a unit, or its logarithm; 0 where no pair occurs. Sides are numbered from 0 in each unit."""

    # int64[Q_NUMBERS]: the table that counts pairs; whether it is the logarithm; bits behind the point of `reciprocal`,
    # 21 at least; first columns in State.count of the number of partners of each side, and of the pairs that occur,
    # each in the parts of its two sides; the column of State.sum with the sum of f^2 / (n(s) + n(t))
    number: Array
    unit: Array  # int64[U, 2]: first row of a unit in `side` and in `begin`
    side: Array  # int32[*, 2]: the two sides of a pair
    begin: Array  # int32[*]: where a side's part of the pairs that occur begins
    reciprocal: Array  # int64[*]: 1 / n, rounded; 0 for n = 0


@shared
def mean_value(feature, search, total, pairs):
    """The value of a sum of f^2 / (n(s) + n(t)) over so many occurrences, 2^-20 nat."""
    if pairs == 0:
        return 0
    shift = feature.number[SHIFT] + 0
    if feature.number[AS_LOGARITHM]:
        of_total = natural_log(search, total) - natural_log(search, 1 << shift)
        return rounded(of_total - natural_log(search, pairs))
    return (total // pairs + (1 << (shift - VALUE_BITS - 1))) >> (shift - VALUE_BITS)


@shared
def side_of(feature, unit, item, which):
    """The source or the target of a pair."""
    return feature.side[feature.unit[unit, 0] + item, which] + 0


@shared
def part_of(feature, unit, side):
    """Where a side's part of ``State.count`` begins."""
    return feature.number[PRESENT] + feature.begin[feature.unit[unit, 1] + side]


@shared
def partners_of(feature, state, lane, side):
    """How many pairs of a side occur."""
    return state.count[lane, feature.number[PARTNERS] + side] + 0


@shared
def more_partners(feature, unit, changed, table, which, side):
    """By how much a proposal changes the number of partners of a side."""
    more = 0
    for k in range(changed.many[table]):
        if changed.turn[table, k] != 0 and side_of(feature, unit, changed.item[table, k], which) == side:
            more += changed.turn[table, k]
    return more


@shared
def is_counted(changed, table, item):
    """Whether a proposal changes the count of an item."""
    found = False
    for k in range(changed.many[table]):
        found = found or (changed.item[table, k] == item and changed.by[table, k] != 0)
    return found


@shared
def is_first(feature, unit, changed, table, last, which, side):
    """Whether no item of the list before `last` begins or ceases to occur with this side."""
    found = False
    for k in range(last):
        same = side_of(feature, unit, changed.item[table, k], which) == side
        found = found or (same and changed.turn[table, k] != 0)
    return not found


@shared
def change_of_pair(feature, problem, state, changed, lane, item, by):
    """By how much f^2 / (n(s) + n(t)) of a pair changes where f changes by so much."""
    table = feature.number[PAIR_TABLE] + 0
    unit = state.unit[lane]
    source = side_of(feature, unit, item, SOURCE)
    target = side_of(feature, unit, item, TARGET)
    count = state.count[lane, problem.document.table[table, 0] + item] + 0
    partners = partners_of(feature, state, lane, source) + partners_of(feature, state, lane, target)
    after = (
        partners
        + more_partners(feature, unit, changed, table, SOURCE, source)
        + more_partners(feature, unit, changed, table, TARGET, target)
    )
    return (count + by) * (count + by) * feature.reciprocal[after] - count * count * feature.reciprocal[partners]


@shared
def change_of_others(feature, problem, state, changed, lane, which, side):
    """The same of those pairs of a side that occur as often as before; the side has another number of partners."""
    table = feature.number[PAIR_TABLE] + 0
    unit = state.unit[lane]
    part = part_of(feature, unit, side)
    total = 0
    for place in range(part, part + partners_of(feature, state, lane, side)):
        item = state.count[lane, place] + 0
        if is_counted(changed, table, item):
            continue
        if which == TARGET:  # with its source it has been looked at
            source = side_of(feature, unit, item, SOURCE)
            if more_partners(feature, unit, changed, table, SOURCE, source) != 0:
                continue
        total += change_of_pair(feature, problem, state, changed, lane, item, 0)
    return total


@shared
def change_of_sum(feature, problem, state, changed, lane):
    """By how much a proposal changes the sum of f^2 / (n(s) + n(t))."""
    table = feature.number[PAIR_TABLE] + 0
    unit = state.unit[lane]
    total = 0
    for k in range(changed.many[table]):
        item = changed.item[table, k] + 0
        by = changed.by[table, k] + 0
        if by != 0:
            total += change_of_pair(feature, problem, state, changed, lane, item, by)
        if changed.turn[table, k] != 0:
            for which in range(2):
                side = side_of(feature, unit, item, which)
                if (
                    is_first(feature, unit, changed, table, k, which, side)
                    and more_partners(feature, unit, changed, table, which, side) != 0
                ):
                    total += change_of_others(feature, problem, state, changed, lane, which, side)
    return total


@delta.version(QValue)
def change_of_mean(feature, problem, search, state, scratch, lane, change):
    table = feature.number[PAIR_TABLE] + 0
    more = change_of_sum(feature, problem, state, scratch.changed, lane)
    more_pairs = change_of_tokens(scratch.changed, table)
    if more == 0 and more_pairs == 0:
        return 0
    total = state.sum[lane, feature.number[SUM]] + 0
    pairs = state.sum[lane, TABLE_SUMS * table + TOKENS] + 0
    return mean_value(feature, search, total + more, pairs + more_pairs) - mean_value(feature, search, total, pairs)


@keep.version(QValue)
def keep_pairs(feature, problem, search, state, scratch, lane, change):
    table = feature.number[PAIR_TABLE] + 0
    column = feature.number[SUM] + 0
    state.sum[lane, column] = state.sum[lane, column] + change_of_sum(feature, problem, state, scratch.changed, lane)
    for k in range(scratch.changed.many[table]):
        turn = scratch.changed.turn[table, k] + 0
        if turn != 0:
            for which in range(2):
                enter(feature, state, lane, scratch.changed.item[table, k] + 0, which, turn)


@shared
def enter(feature, state, lane, item, which, turn):
    """Put a pair into the part of a side, or take it out (`turn` = -1)."""
    unit = state.unit[lane]
    side = side_of(feature, unit, item, which)
    part = part_of(feature, unit, side)
    partners = partners_of(feature, state, lane, side)
    if turn > 0:
        state.count[lane, part + partners] = item
    else:
        place = part
        while state.count[lane, place] != item:
            place += 1
        state.count[lane, place] = state.count[lane, part + partners - 1]
    state.count[lane, feature.number[PARTNERS] + side] = partners + turn


@full.version(QValue)
def full_mean(feature, problem, search, state, scratch, lane):
    table = feature.number[PAIR_TABLE] + 0
    begin = problem.document.table[table, 0] + 0
    unit = state.unit[lane]
    items = problem.document.table[table, 1] + 0
    for item in range(items):
        if state.count[lane, begin + item] > 0:
            for which in range(2):
                enter(feature, state, lane, item, which, 1)
    total = 0
    for item in range(items):
        count = state.count[lane, begin + item] + 0
        if count > 0:
            partners = partners_of(feature, state, lane, side_of(feature, unit, item, SOURCE))
            partners += partners_of(feature, state, lane, side_of(feature, unit, item, TARGET))
            total += count * count * feature.reciprocal[partners]
    state.sum[lane, feature.number[SUM]] = total
    return mean_value(feature, search, total, state.sum[lane, TABLE_SUMS * table + TOKENS] + 0)
