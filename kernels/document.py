"""Features of the document: what the search asks of them, and the counts that they share.

A feature is a record of its own type; its functions are found by that type when a driver is compiled (`by_type`), and
those of all that are active are called one after the other. Each has one value, in 2^-20 nat. What it may see of a
proposal is `records.Change`, the phrases put in (``scratch.option``, ``origin``), and by how much the proposal changes
the counts that it asked for (``scratch.changed``). Functions of a feature:

    full     its value on a state, from nothing; whatever it keeps of a lane begins anew
    delta    by how much its value would change: full(after) - full(before), exactly
    bound    its weight times `delta`, or more: what a proposal may gain before anything that is slow was looked at
    gap      its weight times `delta`, less `bound`: how much too high the bound is, below 0. Where that uses up `room`,
             a value that does so is enough. For one whose `delta` looks at counts; else it follows from both
    keep     the proposal is accepted: renew what the feature keeps; state and counts are still those before it
    ceilings its weighted `delta` at most, whatever options fill the open places of a sweep's layout: adds the share of
             each option to ``scratch.changed.ceiling``, and returns the rest. Without it sweeps pass over no neighbour

`full` and `delta` are needed.
"""

from gpusearch.kernels.records import (
    ACTIVE_PLACE,
    ACTIVE_WEIGHT,
    DOCUMENT_VALUES,
    OPTION_WORDS,
    PLACES,
    SENTENCE_SLOT,
    TABLE_SUMS,
    TOKENS,
    TYPES,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Change,
    Changed,
)
from gpusearch.kernels.target import by_type, by_type_with, each_type, optional, shared

# Beyond every sum: nothing is known.
UNKNOWN = 1 << 60


@each_type
def full(feature, problem, search, state, scratch, lane):
    """The feature's value on the whole unit of a lane, 2^-20 nat."""


@each_type
def delta(feature, problem, search, state, scratch, lane, change):
    """By how much a proposal changes the value, 2^-20 nat."""


@by_type
def bound(feature, weight, problem, search, state, scratch, lane, change):
    """The weighted change of the value at most, 2^-40 nat."""
    return weight * delta(feature, problem, search, state, scratch, lane, change)


def _gap_of_bound(feature, weight, room, problem, search, state, scratch, lane, change):
    """The weighted change less its bound, 2^-40 nat; it must not look at the changed counts."""
    exact = delta(feature, problem, search, state, scratch, lane, change)
    return weight * exact - bound(feature, weight, problem, search, state, scratch, lane, change)


def _no_gap(feature, weight, room, problem, search, state, scratch, lane, change):
    return 0


gap = by_type_with(bound, _gap_of_bound, _no_gap)


@by_type
def ceilings(feature, weight, problem, search, state, scratch, lane, change):
    """The most that a layout may change the weighted value by, without the shares of the options, 2^-40 nat."""
    return UNKNOWN


@by_type
def keep(feature, problem, search, state, scratch, lane, change):
    """Renew what the feature keeps of a lane before a proposal is written into it."""


def _none(document):
    return 0


@optional(_none)
def document_values(document):
    """Number of values of features of the document."""
    return document.number[DOCUMENT_VALUES] + 0


def _no_change(document, problem, search, state, scratch, lane, sentence, first, replaced, count):
    return 0


@optional(_no_change)
def bound_of_document(document, problem, search, state, scratch, lane, sentence, first, replaced, count):
    """Upper bound of the weighted change of all features of the document, 2^-40 nat."""
    list_changes(document, problem, state, scratch, lane, sentence, first, replaced, count)
    change = _change(problem, state, lane, sentence, first, replaced, count)
    return _bounds(document.features, problem, search, state, scratch, lane, change)


@optional(_no_change, apart=True)
def ceilings_of_document(document, problem, search, state, scratch, lane, sentence, first, replaced, count):
    """The most that a layout may change all features of the document by, weighted, without the shares of the options:
    these stand in ``scratch.changed.ceiling`` then, for the places of ``scratch.changed.open``. 2^-40 nat."""
    list_removals(document, problem, state, scratch, lane, sentence, first, replaced, count)
    changed = scratch.changed
    for k in range(PLACES):
        for number in range(changed.open[k, 1] - changed.open[k, 0]):
            changed.ceiling[k, number] = 0
    change = _change(problem, state, lane, sentence, first, replaced, count)
    return _ceilings(document.features, problem, search, state, scratch, lane, change)


def _no_gap_at_all(document, room, problem, search, state, scratch, lane, sentence, first, replaced, count):
    return 0


@optional(_no_gap_at_all, apart=True)
def gap_of_document(document, room, problem, search, state, scratch, lane, sentence, first, replaced, count):
    """What is to be added to the bound to make the weighted change of it, 2^-40 nat; -room or less where it is so."""
    change = _change(problem, state, lane, sentence, first, replaced, count)
    return _gaps(document.features, room, problem, search, state, scratch, lane, change)


@optional(_no_change, apart=True)
def commit_document(document, problem, search, state, scratch, lane, sentence, first, replaced, count):
    """Renew values and counts for a proposal that is accepted but not written yet; the change of the score."""
    list_changes(document, problem, state, scratch, lane, sentence, first, replaced, count)
    change = _change(problem, state, lane, sentence, first, replaced, count)
    column = state.feature.shape[1] - document.number[DOCUMENT_VALUES]
    score = _commits(document.features, column, problem, search, state, scratch, lane, change)
    for table in range(document.table.shape[0]):
        begin = document.table[table, 0]
        for k in range(scratch.changed.many[table]):
            place = begin + scratch.changed.item[table, k]
            _count(state, lane, table, place, scratch.changed.by[table, k] + 0)
    return score


def _nothing(document, problem, search, state, scratch, lane):
    return 0


@optional(_nothing, apart=True)
def refresh_document(document, problem, search, state, scratch, lane):
    """Counts and values of a lane from nothing; the weighted sum of the values."""
    for place in range(state.count.shape[1]):
        state.count[lane, place] = 0
    for place in range(state.sum.shape[1]):
        state.sum[lane, place] = 0
    unit = state.unit[lane]
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        slots = problem.sentence[problem.unit[unit, UNIT_FIRST_SENTENCE] + local, SENTENCE_SLOT]
        for slot in range(slots, slots + state.length[lane, local]):
            option = state.option[lane, slot]
            for table in range(document.table.shape[0]):
                for k in range(document.first[table, option], document.first[table, option + 1]):
                    _count(state, lane, table, document.table[table, 0] + document.item[k], 1)
    column = state.feature.shape[1] - document.number[DOCUMENT_VALUES]
    return _fulls(document.features, column, problem, search, state, scratch, lane)


@shared
def _count(state, lane, table, place, by):
    """Add to the count of an item."""
    before = state.count[lane, place]
    after = before + by
    state.count[lane, place] = after
    tokens = TABLE_SUMS * table + TOKENS
    types = TABLE_SUMS * table + TYPES
    state.sum[lane, tokens] = state.sum[lane, tokens] + by
    state.sum[lane, types] = state.sum[lane, types] + (after > 0) - (before > 0)


@shared
def _change(problem, state, lane, sentence, first, replaced, count):
    local = sentence - problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE]
    return Change(local, sentence, first, replaced, count)


def _end_of_bounds(active, problem, search, state, scratch, lane, change):
    return 0


@optional(_end_of_bounds)
def _bounds(active, problem, search, state, scratch, lane, change):
    own = bound(active.feature, active.number[ACTIVE_WEIGHT], problem, search, state, scratch, lane, change)
    return own + _bounds(active.rest, problem, search, state, scratch, lane, change)


@optional(_end_of_bounds)
def _ceilings(active, problem, search, state, scratch, lane, change):
    rest = _ceilings(active.rest, problem, search, state, scratch, lane, change)
    if rest >= UNKNOWN:
        return rest
    own = ceilings(active.feature, active.number[ACTIVE_WEIGHT], problem, search, state, scratch, lane, change)
    return UNKNOWN if own >= UNKNOWN else own + rest


def _end_of_gaps(active, room, problem, search, state, scratch, lane, change):
    return 0


@optional(_end_of_gaps)
def _gaps(active, room, problem, search, state, scratch, lane, change):
    own = gap(active.feature, active.number[ACTIVE_WEIGHT], room, problem, search, state, scratch, lane, change)
    if own <= -room:
        return own
    return own + _gaps(active.rest, room + own, problem, search, state, scratch, lane, change)


def _end_of_commits(active, column, problem, search, state, scratch, lane, change):
    return 0


@optional(_end_of_commits)
def _commits(active, column, problem, search, state, scratch, lane, change):
    by = delta(active.feature, problem, search, state, scratch, lane, change)
    keep(active.feature, problem, search, state, scratch, lane, change)
    place = column + active.number[ACTIVE_PLACE]
    state.feature[lane, place] = state.feature[lane, place] + by
    rest = _commits(active.rest, column, problem, search, state, scratch, lane, change)
    return active.number[ACTIVE_WEIGHT] * by + rest


def _end_of_fulls(active, column, problem, search, state, scratch, lane):
    return 0


@optional(_end_of_fulls)
def _fulls(active, column, problem, search, state, scratch, lane):
    value = full(active.feature, problem, search, state, scratch, lane)
    state.feature[lane, column + active.number[ACTIVE_PLACE]] = value
    return active.number[ACTIVE_WEIGHT] * value + _fulls(active.rest, column, problem, search, state, scratch, lane)


@shared
def list_changes(document, problem, state, scratch, lane, sentence, first, replaced, count):
    """List by how much a proposal changes each count; phrases that only move change none."""
    kept = _kept(scratch, count)
    for table in range(document.table.shape[0]):
        many = 0
        if kept < count:
            for k in range(count):
                if scratch.origin[k] < 0:
                    many = _list_option(document, scratch.changed, table, many, scratch.option[k], 1)
        _list_the_rest(document, problem, state, scratch, lane, sentence, first, replaced, count, kept, table, many)


@shared
def list_removals(document, problem, state, scratch, lane, sentence, first, replaced, count):
    """The same without the options that a proposal puts in: what gives way alone."""
    kept = _kept(scratch, count)
    for table in range(document.table.shape[0]):
        _list_the_rest(document, problem, state, scratch, lane, sentence, first, replaced, count, kept, table, 0)


@shared
def _kept(scratch, count):
    """How many phrases only move."""
    kept = 0
    for k in range(count):
        kept += scratch.origin[k] >= 0
    return kept


@shared
def _list_the_rest(document, problem, state, scratch, lane, sentence, first, replaced, count, kept, table, many):
    """What gives way of the items of a table, behind those that are listed, and the turns of all of them."""
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    if kept < replaced:
        for slot in range(first, first + replaced):
            if kept == 0 or not is_kept(scratch, count, slot):
                option = state.option[lane, slots + slot]
                many = _list_option(document, scratch.changed, table, many, option, -1)
    scratch.changed.many[table] = many
    begin = document.table[table, 0]
    for k in range(many):
        before = state.count[lane, begin + scratch.changed.item[table, k]]
        scratch.changed.turn[table, k] = (before + scratch.changed.by[table, k] > 0) - (before > 0)


@shared
def is_kept(scratch, count, slot):
    """Whether the phrase of a slot stays in a proposal."""
    found = False
    for k in range(count):
        found = found or scratch.origin[k] == slot
    return found


@shared
def _list_option(document, changed, table, many, option, by):
    """Count the items of an option; returns how many different items are listed then."""
    for place in range(document.first[table, option], document.first[table, option + 1]):
        item = document.item[place]
        k = 0
        while k < many and changed.item[table, k] != item:
            k += 1
        if k == many:
            changed.item[table, many] = item
            changed.by[table, many] = by
            many += 1
        else:
            changed.by[table, k] = changed.by[table, k] + by
    return many


@shared
def change_of_words(problem, state, scratch, lane, change):
    """(target words of the sentence of a proposal, by how much it changes them)."""
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + 0
    words = state.place[lane, slots + state.length[lane, change.local]] + 0
    more = state.place[lane, slots + change.first] - state.place[lane, slots + change.first + change.replaced]
    for k in range(change.count):
        more += problem.option_place[scratch.option[k], OPTION_WORDS]
    return words, more


@shared
def words_of_layout(problem, changed):
    """(fewest, most) target words of the options that may fill the open places of a layout."""
    fewest = 0
    most = 0
    for k in range(PLACES):
        least = -1
        greatest = 0
        for option in range(changed.open[k, 0], changed.open[k, 1]):
            words = problem.option_place[option, OPTION_WORDS] + 0
            least = words if least < 0 else min(least, words)
            greatest = max(greatest, words)
        fewest += max(0, least)
        most += greatest
    return fewest, most


@shared
def change_of_tokens(changed, table):
    """By how much a proposal changes the number of items of a table."""
    total = 0
    for k in range(changed.many[table]):
        total += changed.by[table, k]
    return total


@shared
def change_of_types(changed, table):
    """By how much a proposal changes the number of different items of a table."""
    total = 0
    for k in range(changed.many[table]):
        total += changed.turn[table, k]
    return total


def _no_row(changed, row):
    return ()


@optional(_no_row)
def changed_of_thread(changed, row):
    """One thread's part of the lists of changes."""
    return Changed(
        changed.many[row],
        changed.item[row],
        changed.by[row],
        changed.turn[row],
        changed.work[row],
        changed.open[row],
        changed.ceiling[row],
    )
