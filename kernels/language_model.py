"""Back-off language models as automata: the value of a word in a state, and its upper bound where the context is
not wholly known.

A state is an n-gram that can matter to what follows. ``(state, word)`` is found in a hash table, or else the state
pays its backoff and gives way to its suffix; the empty state knows every word. Values are int in 2^-20 nat.

Sources: Heafield 2011, "KenLM: Faster and smaller language model queries" (probing, minimised state); the tags are
those of Abseil's "Swiss tables", with 8 of them in one integer.
"""

from gpusearch.kernels.records import (
    LM_BEGIN,
    LM_END,
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

# Odd, below 2^63. The product may wrap around when compiled: the bits that are kept are the same either way.
MULTIPLIER = 0x5851F42D4C957F2D
MASK = 0xFFFFFFFF
EMPTY = -1
# Bytes of 1 and of 127. Tags are below 128, so that 127 more sets the top bit of a byte unless it is 0.
ONES = 0x0101010101010101
TOPS = 0x7F7F7F7F7F7F7F7F

# Columns of Language.slot and Language.state.
KEY, ENTRY = range(2)
SUFFIX, BACKOFF, LONGER_BACKOFFS = range(3)


@shared
def first_probe(key, groups):
    """The group where the search for a key begins, in [0, groups), and the key's tag, in [1, 127]."""
    mixed = wrapping_product(key, MULTIPLIER)
    tag = mixed >> 20 & 127
    return ((mixed >> 31 & MASK) * groups) >> 32, tag + (tag == 0)


@shared
def used_slots(tags):
    """A byte for each of 8 tags: 1 where it is not 0."""
    return (tags + TOPS) >> 7 & ONES


@shared
def slot_of(lowest):
    """Number of the byte whose bit 0 is the one bit set."""
    return wrapping_product(lowest - 1 & ONES, ONES) >> 56 & 0xFF


@shared
def find(language, model, key):
    """Row of Language.slot that holds a key = state * vocabulary + word, or -1; the state is not the empty one."""
    info = language.info
    groups = info[model, LM_GROUPS]
    first_group = info[model, LM_FIRST_GROUP]
    first_slot = info[model, LM_FIRST_SLOT] + info[model, LM_VOCABULARY]
    group, tag = first_probe(key, groups)
    while True:
        tags = language.tag[first_group + group]
        used = used_slots(tags)
        equal = used_slots(tags ^ tag * ONES) ^ ONES
        while equal != 0:
            lowest = equal & -equal
            row = first_slot + group * LM_GROUP_SLOTS + slot_of(lowest)
            if language.slot[row, KEY] == key:
                return row
            equal ^= lowest
        if used != ONES:
            return -1
        group += 1
        if group == groups:
            group = 0


@shared
def lookup(language, model, state, word):
    """Value of a word in a state, and the state behind it: (2^-20 nat, state)."""
    backoff = 0
    vocabulary = language.info[model, LM_VOCABULARY]
    while state != 0:
        row = find(language, model, state * vocabulary + word)
        if row >= 0:
            entry = language.slot[row, ENTRY]
            return backoff + (entry >> 32), entry & MASK
        here = language.info[model, LM_FIRST_STATE] + state
        backoff += language.state[here, BACKOFF]
        state = language.state[here, SUFFIX] + 0
    entry = language.slot[language.info[model, LM_FIRST_SLOT] + word, ENTRY]
    return backoff + (entry >> 32), entry & MASK


@shared
def lookup_bound(language, model, state, word):
    """The greatest value (the least, where the model's weight is negative) that a word may have when the words of
    ``state`` are all that is known of its context, and the state behind it as far as it is known.

    What stands to the left is open: any words, or none, or the beginning of the sentence. Where the state is shorter
    than what is known, nothing on its left can matter: then `lookup` is exact, and this is a looser bound.
    """
    if state == 0:
        row = language.info[model, LM_FIRST_SLOT] + word
    else:
        row = find(language, model, state * language.info[model, LM_VOCABULARY] + word)
    if row >= 0:
        return language.extreme[row] + 0, language.slot[row, ENTRY] & MASK
    # No longer n-gram ends in (state, word) either: every longer context pays its own backoff, then this state's.
    here = language.info[model, LM_FIRST_STATE] + state
    value, following = lookup(language, model, language.state[here, SUFFIX] + 0, word)
    return value + language.state[here, BACKOFF] + language.state[here, LONGER_BACKOFFS], following


@shared
def state_length(language, model, state):
    """Words of a state. Equal to the number of words known: the state may reach further to the left."""
    length = 0
    while length < language.info[model, LM_ORDER] - 1 and state >= language.info[model, LM_LONGER + length]:
        length += 1
    return length


@shared
def bound_phrase(language, model, words, first, last, word_bound):
    """Bounds of the words [first, last) of an option, each given the option's words before it.

    Returns the exact value of the words from the empty state, and the state behind the option where words to its
    left may still reach into it (the option is shorter than order - 1, and its words are a state), else -1.
    """
    longest = language.info[model, LM_ORDER] - 1
    estimate = 0
    state = 0
    is_open = True
    for place in range(first, last):
        word = words[place] + 0
        value, following = lookup(language, model, state, word)
        estimate += value
        if is_open:
            value, _ = lookup_bound(language, model, state, word)
        word_bound[place] = value
        state = following
        known = place - first + 1
        is_open = is_open and known < longest and state_length(language, model, state) == known
    return estimate, state if is_open else -1


@shared
def bound_phrases(language, model, offsets, words, first, last, word_bound, estimate, option_open):
    """`bound_phrase` for the options [first, last), whose words are ``words[offsets[o]:offsets[o + 1]]``."""
    for option in range(first, last):
        value, behind = bound_phrase(language, model, words, offsets[option], offsets[option + 1], word_bound)
        estimate[option] = value
        option_open[option] = behind


@shared
def score_rows(language, model, ids, lengths, begin, end, first, last, value):
    """Values of the words of the sentences [first, last).

    ``begin``: the context is <s>, else unknown and empty. ``end``: </s> counts as one more word.
    """
    for row in range(first, last):
        state = language.info[model, LM_BEGIN] if begin else 0
        words = lengths[row] + 0
        for place in range(words + end):
            word = language.info[model, LM_END] if place == words else ids[row, place] + 0
            worth, state = lookup(language, model, state, word)
            value[row, place] = worth


bound_phrases_cpu = cpu_driver(bound_phrases)
score_rows_cpu = cpu_driver(score_rows)
