"""N-grams of target words within a sentence, found by automata (Aho and Corasick 1975); one for each sentence.

A state stands for the longest end of the words so far that a pattern begins with. A lane keeps the code of every word
and the state behind it, so that nothing before a change need be looked at. Behind it states are the old ones again
after one word less than the longest pattern has, at the latest.
"""

from typing import NamedTuple

from gpusearch.kernels.language_model import MULTIPLIER
from gpusearch.kernels.records import (
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    Array,
)
from gpusearch.kernels.target import shared, wrapping_product
from gpusearch.kernels.word_places import put_codes, shift_words, words_of

# Indices of NGrams.number.
CODES, STATES, MOST_WORDS, KINDS = range(4)
NGRAM_NUMBERS = 4
# Work space before the codes, for whatever a feature counts.
COUNTED = 16


class NGrams(NamedTuple):
    """The automata of the sentences of a problem; ``Q`` states, those of all sentences one after the other.

    Work space (``scratch.changed.work``): COUNTED numbers; the codes that a proposal puts in, MOST_WORDS; the states
    that a proposal changes, MOST_WORDS.
    """

    # int64[4]: first columns of State.count of the codes, and of the states, of all word places; most words of a
    # sentence; different words of all patterns
    number: Array
    code: Array  # int32[T]: of each target word, from 0; -1 for one of no pattern
    root: Array  # int32[N]: of each sentence the state of its beginning
    suffix: Array  # int32[Q]: the state of the longest end that is shorter; a root's is itself
    edge: Array  # int64[*, 2]: key = state * KINDS + code (-1: empty), the state behind it; open addressing


@shared
def place_of_edge(key, places):
    """Where the search for an edge begins, in a table of a power of two of places, at most 2^31."""
    return (wrapping_product(key, MULTIPLIER) >> 32) & (places - 1)


@shared
def follow(ngrams, root, state, code):
    """The state behind a word."""
    if code < 0:
        return root
    places = ngrams.edge.shape[0]
    found = -1
    while found < 0:
        key = state * ngrams.number[KINDS] + code
        place = place_of_edge(key, places)
        while ngrams.edge[place, 0] >= 0 and ngrams.edge[place, 0] != key:
            place = (place + 1) & (places - 1)
        if ngrams.edge[place, 0] == key:
            found = ngrams.edge[place, 1] + 0
        elif state == root:
            found = root
        else:
            state = ngrams.suffix[state] + 0
    return found


@shared
def first_states(ngrams):
    """Where the states that a proposal changes stand in the work space."""
    return COUNTED + ngrams.number[MOST_WORDS]


@shared
def list_states(ngrams, problem, state, scratch, lane, change):
    """List the states that a proposal puts in the place of others.

    Returns:
        how many; how many give way to them, and the first column of these in ``State.count``; of the words put in
        those that stay as they are, before and behind; how many words are put in.
    """
    work = scratch.changed.work
    codes = ngrams.number[CODES] + 0
    words, before, behind = put_codes(ngrams.code, codes, COUNTED, problem, state, scratch, lane, change)
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + 0
    places = problem.sentence[change.sentence, SENTENCE_PLACE] + 0
    first = state.place[lane, slots + change.first] + before
    last = state.place[lane, slots + change.first + change.replaced] - behind
    begin = ngrams.number[STATES] + places
    root = ngrams.root[change.sentence] + 0
    at = root
    if first > 0:
        at = state.count[lane, begin + first - 1] + 0
    listed = first_states(ngrams)
    many = 0
    for word in range(before, words - behind):
        at = follow(ngrams, root, at, work[COUNTED + word] + 0)
        work[listed + many] = at
        many += 1
    stop = state.place[lane, slots + state.length[lane, change.local]] + 0
    place = last
    if many > 0 or last > first:
        while place < stop:
            at = follow(ngrams, root, at, state.count[lane, codes + places + place] + 0)
            if at == state.count[lane, begin + place]:
                break
            work[listed + many] = at
            many += 1
            place += 1
    return many, place - first, begin + first, before, behind, words


@shared
def keep_states(ngrams, problem, state, scratch, lane, change, many, first, before, behind, words):
    """Write what `list_states` has found into the state."""
    codes = ngrams.number[CODES] + problem.sentence[change.sentence, SENTENCE_PLACE]
    states = ngrams.number[STATES] + problem.sentence[change.sentence, SENTENCE_PLACE]
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    last = state.place[lane, slots + change.replaced] - behind
    place = state.place[lane, slots] + before
    stop = words_of(problem, state, lane, change.local)
    by = words - behind - before - (last - place)
    shift_words(state, lane, codes + last, codes + stop, by)
    shift_words(state, lane, states + last, states + stop, by)
    for word in range(before, words - behind):
        state.count[lane, codes + place + word - before] = scratch.changed.work[COUNTED + word]
    listed = first_states(ngrams)
    for k in range(many):
        state.count[lane, first + k] = scratch.changed.work[listed + k]


@shared
def start_states(ngrams, problem, state, lane, local):
    """Codes and states of a sentence from nothing; returns its words, and the first column of its states."""
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
    slots = problem.sentence[sentence, SENTENCE_SLOT] + 0
    codes = ngrams.number[CODES] + problem.sentence[sentence, SENTENCE_PLACE]
    states = ngrams.number[STATES] + problem.sentence[sentence, SENTENCE_PLACE]
    root = ngrams.root[sentence] + 0
    at = root
    words = 0
    for slot in range(slots, slots + state.length[lane, local]):
        option = state.option[lane, slot]
        target = problem.option_place[option, OPTION_TARGET]
        for j in range(problem.option_place[option, OPTION_WORDS]):
            code = ngrams.code[target + j] + 0
            at = follow(ngrams, root, at, code)
            state.count[lane, codes + words] = code
            state.count[lane, states + words] = at
            words += 1
    return words, states
