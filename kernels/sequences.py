"""Sequences of words that a language model of a feature's own reads: of each sentence, or on across all of a document.

A lane keeps for each word of a sequence the word, its value, the state behind it, and its *slack*: what the words from
this one on would gain at best if all words before it were unknown, as the main path does for phrases (`judge.py`).
"""

from typing import NamedTuple

from gpusearch.kernels.language_model import lookup_bound, state_length
from gpusearch.kernels.records import (
    LM_BEGIN,
    LM_ORDER,
    SENTENCE_SLOT,
    Array,
    Language,
)
from gpusearch.kernels.target import shared
from gpusearch.kernels.word_places import first_place

# Indices of SequenceModel.number.
WORDS, VALUES, STATES, SLACKS, RANKS, LENGTHS, BEFORE, BEHIND, ACROSS, BACKWARDS, ENDS, MOST = range(12)
SEQUENCE_NUMBERS = 12
# Slack is kept in 2^-16 nat, so that no model's leaves 32 bits: up to 8 words, each at most twice 2047 nats.
SLACK_BITS = 4


class SequenceModel(NamedTuple):
    """ln p of sequences of words, each of which begins after <s>: of a sentence, or of all sentences together.

    The words of a sequence are numbered within their sentence, in the order in which they are read. Work space
    (``scratch.changed.work``): the words that a proposal puts in; for each its old number, or -1 - its row.
    """

    language: Language  # one model; bounds are lower ones where the feature's weight is negative
    first: Array  # int64[O + 1]: first row of each option in `word`
    word: Array  # int32[*]: the words of the sequence, in the order in which they are read
    bound: Array  # int32[*]: the greatest value of each (least: negative weight), given those of its option before it
    # int64[SEQUENCE_NUMBERS]: first columns of State.count of words, values, states and slacks, all by word places; of
    # how many words of the sequence stand in front of each slot (-1: all words do); by sentence, of the length of its
    # sequence, of the next sentence before it that has one, of the next behind it (-1: none); whether sequences go on
    # across sentences; whether they are read from the end; whether </s> ends them; most words of a sentence
    number: Array


@shared
def length_of(feature, state, lane, local):
    """Words of the sequence in a sentence of the unit, </s> included."""
    return state.count[lane, feature.number[LENGTHS] + local] + 0


@shared
def rank(feature, problem, state, lane, sentence, slot):
    """Words of the sequence in front of a slot of a sentence."""
    slots = problem.sentence[sentence, SENTENCE_SLOT] + slot
    if feature.number[RANKS] < 0:
        return state.place[lane, slots] + 0
    return state.count[lane, feature.number[RANKS] + slots] + 0


@shared
def numbers_of(feature, problem, state, lane, change, first, last):
    """Numbers of the words in the slots first .. last - 1 of a proposal's sentence: the first, and behind the last."""
    low = rank(feature, problem, state, lane, change.sentence, first)
    high = rank(feature, problem, state, lane, change.sentence, last)
    if feature.number[BACKWARDS]:
        words = length_of(feature, state, lane, change.local) - feature.number[ENDS]
        return words - high, words - low
    return low, high


@shared
def next_word(feature, state, lane, local, number):
    """The word of a number, or where the sentence has no such word the first of the next sentence; (-1, 0): none."""
    if number < length_of(feature, state, lane, local):
        return local, number
    if feature.number[ACROSS]:
        return state.count[lane, feature.number[BEHIND] + local] + 0, 0
    return -1, 0


@shared
def word_before(feature, state, lane, local, number):
    """The word in front of another; (-1, 0): none."""
    if number > 0:
        return local, number - 1
    if feature.number[ACROSS]:
        before = state.count[lane, feature.number[BEFORE] + local] + 0
        if before >= 0:
            return before, length_of(feature, state, lane, before) - 1
    return -1, 0


@shared
def state_before(feature, problem, state, lane, local, number):
    """State of the model in front of a word."""
    before, place = word_before(feature, state, lane, local, number)
    if before < 0:
        return feature.language.info[0, LM_BEGIN] + 0
    return state.count[lane, feature.number[STATES] + first_place(problem, state, lane, before) + place] + 0


@shared
def value_of_words(feature, problem, state, lane, local, first, last):
    """Sum of the values of some words of a sentence."""
    column = feature.number[VALUES] + first_place(problem, state, lane, local)
    total = 0
    for number in range(first, last):
        total += state.count[lane, column + number]
    return total


@shared
def slack_from(feature, problem, state, lane, local, number):
    """What the words from this one on would gain at best if all words before it were unknown, 2^-20 nat."""
    reach = feature.language.info[0, LM_ORDER] - 1
    node = 0
    known = 0
    total = 0
    while known < reach and local >= 0:
        column = first_place(problem, state, lane, local) + number
        best, node = lookup_bound(feature.language, 0, node, state.count[lane, feature.number[WORDS] + column] + 0)
        total += best - state.count[lane, feature.number[VALUES] + column]
        known += 1
        if state_length(feature.language, 0, node) < known:
            return total  # what stands before these words no longer matters
        local, number = next_word(feature, state, lane, local, number + 1)
    return total


@shared
def kept_slack(feature, problem, state, lane, local, number):
    """The slack of a word as it is kept, 2^-20 nat: rounded up."""
    column = feature.number[SLACKS] + first_place(problem, state, lane, local) + number
    return (state.count[lane, column] + 0) << SLACK_BITS


@shared
def renew_slack(feature, problem, state, lane, local, number):
    """Compute the slack of a word anew."""
    column = feature.number[SLACKS] + first_place(problem, state, lane, local) + number
    # Rounded up where bounds are upper ones; the slack of lower ones is below 0, and rounded down.
    total = slack_from(feature, problem, state, lane, local, number)
    state.count[lane, column] = -(-total >> SLACK_BITS) if total > 0 else total >> SLACK_BITS
