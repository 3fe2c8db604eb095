"""The semantic document language model inside the search (Hardmeier et al. 2012, section 4.3); sums in `semantic.py`.

A lane keeps the code and the value of every word. A proposal changes the values of the words that it puts in, and
those of the next words of the space behind them, as many as a history holds, across the borders of sentences; stop
words and unknown ones count the same wherever they stand. Only these are scored anew, and only where words of the space
change.
"""

from typing import NamedTuple

from gpusearch.kernels.document import bound, delta, full, keep
from gpusearch.kernels.records import (
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Array,
)
from gpusearch.kernels.semantic import SEMANTIC_HISTORY, Semantic, content_value, shift_history
from gpusearch.kernels.target import shared
from gpusearch.kernels.word_places import first_place, put_codes, shift_words, words_of

# Indices of SemanticDocument.number.
CODES, VALUES, MOST_WORDS, LEAST, GREATEST = range(5)
SEMANTIC_NUMBERS = 5


class SemanticDocument(NamedTuple):
    """The model on the target words of a problem; D dimensions, a history of H words.

    Work space (``scratch.changed.work``): the sum of a history, D; the codes that a proposal puts in; the codes of the
    words of the space: up to H before, those put in, up to H behind; and their values.
    """

    model: Semantic
    code: Array  # int32[T]: code of each target word
    # int64[5]: first columns of State.count of the codes, and of the values, of all word places; most words of a
    # sentence; the least and the greatest value of a word of the space
    number: Array


@shared
def fixed_value(feature, code):
    """Value of a word that is none of the space."""
    return feature.model.fixed[-1 - code] + 0


@shared
def put_in(feature, problem, state, scratch, lane, change):
    """Put the codes of a proposal into the work space; how many words there are, and how many stay at either end."""
    offset = feature.model.vector.shape[1]
    return put_codes(feature.code, feature.number[CODES] + 0, offset, problem, state, scratch, lane, change)


@shared
def change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind):
    """What changes in the words of a proposal but for those of the space that it puts in; whether there are such words.

    The second is 0 where neither the words that go nor those that come are of the space.
    """
    codes = feature.model.vector.shape[1]
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    place = problem.sentence[change.sentence, SENTENCE_PLACE]
    total = 0
    content = 0
    for word in range(before, words - behind):
        code = scratch.changed.work[codes + word] + 0
        if code < 0:
            total += fixed_value(feature, code)
        else:
            content = 1
    for word in range(
        place + state.place[lane, slots] + before, place + state.place[lane, slots + change.replaced] - behind
    ):
        total -= state.count[lane, feature.number[VALUES] + word]
        if state.count[lane, feature.number[CODES] + word] >= 0:
            content = 1
    return total, content


@shared
def list_history(feature, problem, state, scratch, lane, change, before):
    """List the words of the space in front of the first word that differs, the last one at H - 1; returns how many."""
    history = feature.model.number[SEMANTIC_HISTORY] + 0
    last = feature.model.vector.shape[1] + feature.number[MOST_WORDS] + history - 1
    local = change.local + 0
    place = state.place[lane, problem.sentence[change.sentence, SENTENCE_SLOT] + change.first] + before
    found = 0
    while found < history and local >= 0:
        begin = feature.number[CODES] + first_place(problem, state, lane, local)
        while place > 0 and found < history:
            place -= 1
            code = state.count[lane, begin + place]
            if code >= 0:
                scratch.changed.work[last - found] = code
                found += 1
        local -= 1
        if local >= 0:
            place = words_of(problem, state, lane, local)
    return found


@shared
def list_content(feature, scratch, words, before, behind):
    """List the words of the space that a proposal puts in, behind the history; returns how many."""
    codes = feature.model.vector.shape[1]
    begin = codes + feature.number[MOST_WORDS] + feature.model.number[SEMANTIC_HISTORY]
    found = 0
    for word in range(before, words - behind):
        code = scratch.changed.work[codes + word] + 0
        if code >= 0:
            scratch.changed.work[begin + found] = code
            found += 1
    return found


@shared
def follow(feature, problem, state, scratch, lane, change, behind, listed, renew):
    """Visit the words of the space behind a proposal, as many as a history holds: how many, and their values' sum.

    They are listed behind `listed` others; with `renew` they get the values that stand in the work space.
    """
    history = feature.model.number[SEMANTIC_HISTORY] + 0
    begin = feature.model.vector.shape[1] + feature.number[MOST_WORDS] + history + listed
    values = begin + 2 * history + feature.number[MOST_WORDS]
    local = change.local + 0
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    place = state.place[lane, slots + change.replaced] - behind
    sentences = problem.unit[state.unit[lane], UNIT_SENTENCES] + 0
    found = 0
    total = 0
    while found < history and local < sentences:
        first = first_place(problem, state, lane, local)
        stop = words_of(problem, state, lane, local)
        while place < stop and found < history:
            code = state.count[lane, feature.number[CODES] + first + place] + 0
            if code >= 0:
                column = feature.number[VALUES] + first + place
                total += state.count[lane, column]
                if renew:
                    state.count[lane, column] = scratch.changed.work[values + found]
                else:
                    scratch.changed.work[begin + found] = code
                found += 1
            place += 1
        local += 1
        place = 0
    return found, total


@shared
def score_listed(feature, scratch, held, count):
    """Values of `count` words of the list behind a history of `held`: each into the work space; their sum."""
    work = scratch.changed.work
    history = feature.model.number[SEMANTIC_HISTORY] + 0
    begin = feature.model.vector.shape[1] + feature.number[MOST_WORDS] + history
    values = begin + 2 * history + feature.number[MOST_WORDS]
    for d in range(feature.model.vector.shape[1]):
        work[d] = 0
    for k in range(held):
        shift_history(feature.model, work[begin - held + k] + 0, work, 1)
    total = 0
    for k in range(count):
        code = work[begin + k] + 0
        value = content_value(feature.model, code, work, held)
        work[values + k] = value
        total += value
        shift_history(feature.model, code, work, 1)
        if held < history:
            held += 1
        else:
            shift_history(feature.model, work[begin + k - history] + 0, work, -1)
    return total


@delta.version(SemanticDocument)
def change_of_semantic(feature, problem, search, state, scratch, lane, change):
    words, before, behind = put_in(feature, problem, state, scratch, lane, change)
    total, content = change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind)
    if content == 0:
        return total
    held = list_history(feature, problem, state, scratch, lane, change, before)
    listed = list_content(feature, scratch, words, before, behind)
    found, known = follow(feature, problem, state, scratch, lane, change, behind, listed, False)
    return total + score_listed(feature, scratch, held, listed + found) - known


@bound.version(SemanticDocument)
def bound_of_semantic(feature, weight, problem, search, state, scratch, lane, change):
    """Words of the space count with the best value that there is."""
    words, before, behind = put_in(feature, problem, state, scratch, lane, change)
    total, content = change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind)
    if content != 0:
        best = feature.number[GREATEST] if weight > 0 else feature.number[LEAST]
        listed = list_content(feature, scratch, words, before, behind)
        found, known = follow(feature, problem, state, scratch, lane, change, behind, listed, False)
        total += (listed + found) * best - known
    return weight * total


@keep.version(SemanticDocument)
def keep_semantic(feature, problem, search, state, scratch, lane, change):
    work = scratch.changed.work
    codes = feature.model.vector.shape[1]
    words, before, behind = put_in(feature, problem, state, scratch, lane, change)
    _, content = change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind)
    values = codes + 2 * feature.number[MOST_WORDS] + 3 * feature.model.number[SEMANTIC_HISTORY]
    if content != 0:
        held = list_history(feature, problem, state, scratch, lane, change, before)
        listed = list_content(feature, scratch, words, before, behind)
        found, _ = follow(feature, problem, state, scratch, lane, change, behind, listed, False)
        score_listed(feature, scratch, held, listed + found)
        follow(feature, problem, state, scratch, lane, change, behind, listed, True)
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    first = state.place[lane, slots] + 0
    last = state.place[lane, slots + change.replaced] - behind
    by = words - behind - (last - first)
    begin = problem.sentence[change.sentence, SENTENCE_PLACE] + 0
    stop = words_of(problem, state, lane, change.local)
    shift_words(state, lane, feature.number[CODES] + begin + last, feature.number[CODES] + begin + stop, by)
    shift_words(state, lane, feature.number[VALUES] + begin + last, feature.number[VALUES] + begin + stop, by)
    k = 0
    for word in range(before, words - behind):
        code = work[codes + word] + 0
        state.count[lane, feature.number[CODES] + begin + first + word] = code
        value = 0
        if code < 0:
            value = fixed_value(feature, code)
        else:
            value = work[values + k] + 0
            k += 1
        state.count[lane, feature.number[VALUES] + begin + first + word] = value


@full.version(SemanticDocument)
def full_semantic(feature, problem, search, state, scratch, lane):
    work = scratch.changed.work
    history = feature.model.number[SEMANTIC_HISTORY] + 0
    ring = feature.model.vector.shape[1] + 0
    for d in range(feature.model.vector.shape[1]):
        work[d] = 0
    seen = 0
    total = 0
    for local in range(problem.unit[state.unit[lane], UNIT_SENTENCES]):
        slots = problem.sentence[problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local, SENTENCE_SLOT] + 0
        place = first_place(problem, state, lane, local)
        for slot in range(slots, slots + state.length[lane, local]):
            option = state.option[lane, slot]
            target = problem.option_place[option, OPTION_TARGET]
            for j in range(problem.option_place[option, OPTION_WORDS]):
                code = feature.code[target + j] + 0
                value = 0
                if code < 0:
                    value = fixed_value(feature, code)
                else:
                    value = content_value(feature.model, code, work, min(seen, history))
                    shift_history(feature.model, code, work, 1)
                    if seen >= history:
                        shift_history(feature.model, work[ring + seen % history] + 0, work, -1)
                    work[ring + seen % history] = code
                    seen += 1
                state.count[lane, feature.number[CODES] + place] = code
                state.count[lane, feature.number[VALUES] + place] = value
                total += value
                place += 1
    return total
