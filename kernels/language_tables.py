"""Making the arrays of a language model (`records.Language`) from n-grams; host only, called once a model.

N-grams of one order are rows of word ids. A row's prefix lacks its last word, its suffix the first.
"""

from gpusearch.kernels.language_model import (
    BACKOFF,
    EMPTY,
    ENTRY,
    KEY,
    LONGER_BACKOFFS,
    MULTIPLIER,
    ONES,
    SUFFIX,
    find,
    first_probe,
    slot_of,
    used_slots,
)
from gpusearch.kernels.records import (
    LM_FIRST_GROUP,
    LM_FIRST_SLOT,
    LM_FIRST_STATE,
    LM_GROUP_SLOTS,
    LM_GROUPS,
    LM_LONGER,
    LM_ORDER,
    LM_VOCABULARY,
)
from gpusearch.kernels.target import cpu_driver, shared, wrapping_product

MASK63 = 0x7FFFFFFFFFFFFFFF


@shared
def first_place(rows, row, first, last, places):
    """Where the search for the words [first, last) of a row begins, in [0, places)."""
    mixed = 0
    for column in range(first, last):
        mixed = wrapping_product(mixed ^ (mixed >> 29) ^ rows[row, column], MULTIPLIER) & MASK63
    return ((mixed >> 31) * places) >> 32


@shared
def find_row(table, lower, rows, row, first, last):
    """Place in ``table`` of the row of ``lower`` that equals the words [first, last) of a row, or of the gap for it."""
    places = table.shape[0]
    place = first_place(rows, row, first, last, places)
    while table[place] != EMPTY:
        column = first
        while column < last and lower[table[place], column - first] == rows[row, column]:
            column += 1
        if column == last:
            return place
        place += 1
        if place == places:
            place = 0
    return place


@shared
def index_rows(rows, table):
    """Fill ``table`` (-1 everywhere, more places than rows) with the indices of the rows, for `find_row`."""
    for row in range(rows.shape[0]):
        table[find_row(table, rows, rows, row, 0, rows.shape[1])] = row


@shared
def link_rows(table, lower, rows, prefix, suffix):
    """For each row the indices of its prefix and suffix in ``lower`` (-1: missing). Returns how many are missing."""
    missing = 0
    order = rows.shape[1]
    for row in range(rows.shape[0]):
        prefix[row] = table[find_row(table, lower, rows, row, 0, order - 1)]
        suffix[row] = table[find_row(table, lower, rows, row, 1, order)]
        missing += (prefix[row] < 0) + (suffix[row] < 0)
    return missing


@shared
def fill_slots(language, model, keys, entries):
    """Put entries under their keys into the hash table of a model (keys -1 and tags 0: empty).

    Returns the row of the first key that is there already, or -1.
    """
    groups = language.info[model, LM_GROUPS]
    first_group = language.info[model, LM_FIRST_GROUP]
    first_slot = language.info[model, LM_FIRST_SLOT] + language.info[model, LM_VOCABULARY]
    for row in range(keys.shape[0]):
        key = keys[row] + 0
        if find(language, model, key) >= 0:
            return row
        group, tag = first_probe(key, groups)
        while used_slots(language.tag[first_group + group]) == ONES:
            group += 1
            if group == groups:
                group = 0
        free = used_slots(language.tag[first_group + group]) ^ ONES
        place = slot_of(free & -free)
        language.tag[first_group + group] += tag << 8 * place
        language.slot[first_slot + group * LM_GROUP_SLOTS + place, KEY] = key
        language.slot[first_slot + group * LM_GROUP_SLOTS + place, ENTRY] = entries[row]
    return -1


@shared
def longer_backoffs(language, model, states, sign):
    """Column LONGER_BACKOFFS: the greatest (``sign`` -1: the least) sum of backoffs that longer states add to a state.

    B(h) = max(0, max over words x of backoff(x h) + B(x h)); longer states stand behind shorter ones.
    """
    first = language.info[model, LM_FIRST_STATE]
    for state in range(states):
        language.state[first + state, LONGER_BACKOFFS] = 0
    for state in range(states - 1, 0, -1):
        worth = language.state[first + state, BACKOFF] + language.state[first + state, LONGER_BACKOFFS] + 0
        shorter = first + language.state[first + state, SUFFIX]
        if sign * worth > sign * language.state[shorter, LONGER_BACKOFFS]:
            language.state[shorter, LONGER_BACKOFFS] = worth


@shared
def extremes(language, model, sign):
    """Column ``extreme``: the greatest (``sign`` -1: the least) value of a word over all longer contexts.

    U(h, w) = max(p(h, w) + B(h), max over words x of U(x h, w)): long contexts first, each hands its own down.
    `longer_backoffs` comes before. A context of no stored word on its left is the first term.
    """
    info = language.info
    vocabulary = info[model, LM_VOCABULARY]
    unigrams = info[model, LM_FIRST_SLOT]
    rows = vocabulary + info[model, LM_GROUPS] * LM_GROUP_SLOTS
    first_state = info[model, LM_FIRST_STATE]
    for row in range(unigrams, unigrams + rows):
        if language.slot[row, KEY] != EMPTY:
            state = language.slot[row, KEY] // vocabulary
            value = language.slot[row, ENTRY] >> 32
            language.extreme[row] = value + language.state[first_state + state, LONGER_BACKOFFS]
    for length in range(info[model, LM_ORDER] - 1, 0, -1):
        lowest = info[model, LM_LONGER + length - 1] * vocabulary
        highest = info[model, LM_LONGER + length] * vocabulary
        for row in range(unigrams + vocabulary, unigrams + rows):
            key = language.slot[row, KEY] + 0
            if key >= lowest and key < highest:
                state = language.state[first_state + key // vocabulary, SUFFIX] + 0
                word = key % vocabulary
                shorter = unigrams + word if state == 0 else find(language, model, state * vocabulary + word)
                if sign * language.extreme[row] > sign * language.extreme[shorter]:
                    language.extreme[shorter] = language.extreme[row]


index_rows_cpu = cpu_driver(index_rows)
link_rows_cpu = cpu_driver(link_rows)
fill_slots_cpu = cpu_driver(fill_slots)
longer_backoffs_cpu = cpu_driver(longer_backoffs)
extremes_cpu = cpu_driver(extremes)
