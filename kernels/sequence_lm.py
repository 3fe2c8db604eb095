"""Language models that features have of their own: of all words of a sentence from its end to its beginning, or of the
selected words of a document. What they read and what a lane keeps of it is in `sequences.py`.

A proposal changes the values of the words that it puts in and of the next ones, up to the first that has its old state
again: as many as a history holds at most.
"""

from gpusearch.kernels.document import bound, delta, full, keep
from gpusearch.kernels.language_model import lookup
from gpusearch.kernels.records import LM_END, LM_ORDER, SENTENCE_SLOT, UNIT_FIRST_SENTENCE, UNIT_SENTENCES
from gpusearch.kernels.sequences import (
    ACROSS,
    BACKWARDS,
    BEFORE,
    BEHIND,
    ENDS,
    LENGTHS,
    MOST,
    RANKS,
    SLACKS,
    STATES,
    VALUES,
    WORDS,
    SequenceModel,
    kept_slack,
    length_of,
    next_word,
    numbers_of,
    renew_slack,
    state_before,
    value_of_words,
    word_before,
)
from gpusearch.kernels.target import shared
from gpusearch.kernels.word_places import first_place, link, shift_words


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
            before, behind = feature.number[BEFORE] + 0, feature.number[BEHIND] + 0
            link(before, behind, problem, state, lane, change.local, length == 0)
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
