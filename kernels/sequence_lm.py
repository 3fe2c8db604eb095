"""Language models that features have of their own, on sequences of words: all words of a sentence from its end to its
beginning, or the selected words of a document.

A lane keeps for each word of a sequence the word, its value, the state behind it, and its *slack*: what the words from
this one on would gain at best if all words before it were unknown, as the main path does for phrases (`judge.py`). A
proposal changes the values of the words that it puts in and of the next ones, up to the first that has its old state
again: as many as a history holds at most.
"""

from typing import NamedTuple

from gpusearch.kernels.document import bound, delta, full, gap, keep
from gpusearch.kernels.language_model import lookup, lookup_bound, state_length
from gpusearch.kernels.records import (
    LM_BEGIN,
    LM_END,
    LM_ORDER,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Array,
    Language,
)
from gpusearch.kernels.semantic_document import first_place, shift_words
from gpusearch.kernels.target import shared

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
def list_words(feature, problem, state, scratch, lane, change):
    """Put the words of a proposal into the work space; returns how many."""
    work = scratch.changed.work
    most = feature.number[MOST] + 0
    words = 0
    for k in range(change.count):
        place = change.count - 1 - k if feature.number[BACKWARDS] else k
        option = scratch.option[place]
        origin = scratch.origin[place] + 0
        row = feature.first[option] + 0
        old = -1
        if origin >= 0:
            old, _ = numbers_of(feature, problem, state, lane, change, origin, origin + 1)
        for j in range(feature.first[option + 1] - row):
            work[words] = feature.word[row + j]
            work[most + words] = old + j if origin >= 0 else -1 - row - j
            words += 1
    return words


@shared
def differing(feature, problem, state, scratch, lane, change):
    """What a proposal changes: words first .. last - 1 give way to those of the work space, begin .. end - 1."""
    work = scratch.changed.work
    end = list_words(feature, problem, state, scratch, lane, change)
    first, last = numbers_of(feature, problem, state, lane, change, change.first, change.first + change.replaced)
    column = feature.number[WORDS] + first_place(problem, state, lane, change.local)
    begin = 0
    while begin < end and first < last and work[begin] == state.count[lane, column + first]:
        begin += 1
        first += 1
    while begin < end and first < last and work[end - 1] == state.count[lane, column + last - 1]:
        end -= 1
        last -= 1
    return first, last, begin, end


@shared
def value_of_words(feature, problem, state, lane, local, first, last):
    """Sum of the values of some words of a sentence."""
    column = feature.number[VALUES] + first_place(problem, state, lane, local)
    total = 0
    for number in range(first, last):
        total += state.count[lane, column + number]
    return total


@delta.version(SequenceModel)
def change_of_sequence(feature, problem, search, state, scratch, lane, change):
    first, last, begin, end = differing(feature, problem, state, scratch, lane, change)
    if first == last and begin == end:
        return 0
    node = state_before(feature, problem, state, lane, change.local, first)
    total = -value_of_words(feature, problem, state, lane, change.local, first, last)
    for word in range(begin, end):
        value, node = lookup(feature.language, 0, node, scratch.changed.work[word] + 0)
        total += value
    settled = node == state_before(feature, problem, state, lane, change.local, last)
    local, number = next_word(feature, state, lane, change.local, last)
    while local >= 0 and not settled:
        column = first_place(problem, state, lane, local) + number
        value, node = lookup(feature.language, 0, node, state.count[lane, feature.number[WORDS] + column] + 0)
        total += value - state.count[lane, feature.number[VALUES] + column]
        settled = node == state.count[lane, feature.number[STATES] + column]
        local, number = next_word(feature, state, lane, local, number + 1)
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


@bound.version(SequenceModel)
def bound_of_sequence(feature, weight, problem, search, state, scratch, lane, change):
    """New words count with their bounds, words that only move with their values; where words come to stand behind
    others, all from there on may gain their slack."""
    first, last, begin, end = differing(feature, problem, state, scratch, lane, change)
    if first == last and begin == end:
        return 0
    work = scratch.changed.work
    most = feature.number[MOST] + 0
    column = feature.number[VALUES] + first_place(problem, state, lane, change.local)
    total = -value_of_words(feature, problem, state, lane, change.local, first, last)
    before = first - 1  # old number of the word in front, -2 where it is new
    for word in range(begin, end):
        old = work[most + word] + 0
        if old < 0:
            total += feature.bound[-1 - old]
            before = -2
        else:
            total += state.count[lane, column + old]
            if old != before + 1:
                total += kept_slack(feature, problem, state, lane, change.local, old)
            before = old
    if before + 1 != last:
        local, number = next_word(feature, state, lane, change.local, last)
        if local >= 0:
            total += kept_slack(feature, problem, state, lane, local, number)
    return weight * total


@gap.version(SequenceModel)
def gap_of_sequence(feature, weight, problem, search, state, scratch, lane, change):
    exact = change_of_sequence(feature, problem, search, state, scratch, lane, change)
    return weight * exact - bound_of_sequence(feature, weight, problem, search, state, scratch, lane, change)


@keep.version(SequenceModel)
def keep_sequence(feature, problem, search, state, scratch, lane, change):
    first, last, begin, end = differing(feature, problem, state, scratch, lane, change)
    if feature.number[RANKS] >= 0:
        move_ranks(feature, problem, state, scratch, lane, change)
    if first < last or begin < end:
        length = length_of(feature, state, lane, change.local)
        fresh = end - begin
        by = fresh - (last - first)
        column = first_place(problem, state, lane, change.local)
        for block in range(WORDS, SLACKS + 1):
            start = feature.number[block] + column
            shift_words(state, lane, start + last, start + length, by)
        for word in range(fresh):
            place = feature.number[WORDS] + column + first + word
            state.count[lane, place] = scratch.changed.work[begin + word]
        state.count[lane, feature.number[LENGTHS] + change.local] = length + by
        if feature.number[ACROSS] and (length == 0 or length + by == 0):
            link(feature, problem, state, lane, change.local, length == 0)
        rescore(feature, problem, state, lane, change.local, first, fresh)


@shared
def move_ranks(feature, problem, state, scratch, lane, change):
    """How many words stand in front of each slot, as proposed."""
    slots = feature.number[RANKS] + problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    stop = feature.number[RANKS] + problem.sentence[change.sentence, SENTENCE_SLOT] + 1
    stop += state.length[lane, change.local]
    words = state.count[lane, slots] + 0
    by = words - state.count[lane, slots + change.replaced]
    for k in range(change.count):
        by += feature.first[scratch.option[k] + 1] - feature.first[scratch.option[k]]
    shift_words(state, lane, slots + change.replaced, stop, change.count - change.replaced)
    for slot in range(slots + change.count, stop + change.count - change.replaced):
        state.count[lane, slot] = state.count[lane, slot] + by
    for k in range(change.count):
        state.count[lane, slots + k] = words
        words += feature.first[scratch.option[k] + 1] - feature.first[scratch.option[k]]


@shared
def link(feature, problem, state, lane, local, filled):
    """Tell the sentences around one that it has words of the sequence now (`filled`), or no longer."""
    before = state.count[lane, feature.number[BEFORE] + local] + 0
    behind = state.count[lane, feature.number[BEHIND] + local] + 0
    stop = problem.unit[state.unit[lane], UNIT_SENTENCES] + 0
    if behind >= 0:
        stop = behind + 1
    for other in range(max(before, 0), local):
        state.count[lane, feature.number[BEHIND] + other] = local if filled else behind
    for other in range(local + 1, stop):
        state.count[lane, feature.number[BEFORE] + other] = local if filled else before


@shared
def rescore(feature, problem, state, lane, local, first, fresh):
    """Values and states of `fresh` new words and of those behind them, up to one that has its old state; slacks."""
    node = state_before(feature, problem, state, lane, local, first)
    here, number = next_word(feature, state, lane, local, first)
    scored = 0
    settled = False
    while here >= 0 and not settled:
        column = first_place(problem, state, lane, here) + number
        value, node = lookup(feature.language, 0, node, state.count[lane, feature.number[WORDS] + column] + 0)
        settled = scored >= fresh and node == state.count[lane, feature.number[STATES] + column]
        state.count[lane, feature.number[VALUES] + column] = value
        state.count[lane, feature.number[STATES] + column] = node
        scored += 1
        here, number = next_word(feature, state, lane, here, number + 1)
    # Slack looks at as many words as a history holds: those in front of the first change see it, too.
    here, number = local + 0, first + 0
    back = 0
    before, place = word_before(feature, state, lane, here, number)
    while back < feature.language.info[0, LM_ORDER] - 2 and before >= 0:
        here, number = before, place
        back += 1
        before, place = word_before(feature, state, lane, here, number)
    here, number = next_word(feature, state, lane, here, number)
    for _ in range(back + scored):
        renew_slack(feature, problem, state, lane, here, number)
        here, number = next_word(feature, state, lane, here, number + 1)


@shared
def read_sentence(feature, problem, state, lane, local):
    """List the words of the sequence in a sentence from its phrases, and how many stand in front of each slot."""
    slots = problem.sentence[problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local, SENTENCE_SLOT] + 0
    phrases = state.length[lane, local] + 0
    if feature.number[RANKS] >= 0:
        words = 0
        for slot in range(slots, slots + phrases):
            state.count[lane, feature.number[RANKS] + slot] = words
            words += feature.first[state.option[lane, slot] + 1] - feature.first[state.option[lane, slot]]
        state.count[lane, feature.number[RANKS] + slots + phrases] = words
    column = feature.number[WORDS] + first_place(problem, state, lane, local)
    length = 0
    for k in range(phrases):
        option = state.option[lane, slots + phrases - 1 - k if feature.number[BACKWARDS] else slots + k]
        for row in range(feature.first[option], feature.first[option + 1]):
            state.count[lane, column + length] = feature.word[row]
            length += 1
    if feature.number[ENDS] and phrases > 0:  # an empty sentence says nothing, not even that it ends
        state.count[lane, column + length] = feature.language.info[0, LM_END]
        length += 1
    state.count[lane, feature.number[LENGTHS] + local] = length


@full.version(SequenceModel)
def full_sequence(feature, problem, search, state, scratch, lane):
    sentences = problem.unit[state.unit[lane], UNIT_SENTENCES] + 0
    before = -1
    for local in range(sentences):
        read_sentence(feature, problem, state, lane, local)
        state.count[lane, feature.number[BEFORE] + local] = before
        if length_of(feature, state, lane, local) > 0:
            before = local + 0
    behind = -1
    for local in range(sentences - 1, -1, -1):
        state.count[lane, feature.number[BEHIND] + local] = behind
        if length_of(feature, state, lane, local) > 0:
            behind = local + 0
    total = 0
    for local in range(sentences):
        node = state_before(feature, problem, state, lane, local, 0)
        for number in range(length_of(feature, state, lane, local)):
            column = first_place(problem, state, lane, local) + number
            value, node = lookup(feature.language, 0, node, state.count[lane, feature.number[WORDS] + column] + 0)
            state.count[lane, feature.number[VALUES] + column] = value
            state.count[lane, feature.number[STATES] + column] = node
            total += value
    for local in range(sentences):
        for number in range(length_of(feature, state, lane, local)):
            renew_slack(feature, problem, state, lane, local, number)
    return total
