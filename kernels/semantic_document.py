"""The semantic document language model inside the search (Hardmeier et al. 2012, section 4.3); sums in `semantic.py`.

A lane keeps the code and the cell of every word. A proposal changes the cells of the words that it puts in, and
those of the next words of the space behind them, as many as a history holds, across the borders of sentences; stop
words and unknown ones count the same wherever they stand. Only these are scored anew, and only where words of the space
change. Words of the space may be far apart, so each sentence knows the next ones on either side that have some. What
they gain at most is known before: of the words of a history a few change, which turns its sum by some
angle at most, and so the cosine of any word; see `gpusearch.features.semantic`.
"""

from typing import NamedTuple

from gpusearch.kernels.document import bound, delta, full, gap, keep
from gpusearch.kernels.records import (
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Array,
)
from gpusearch.kernels.semantic import SEMANTIC_HISTORY, Semantic, cell_of, shift_history
from gpusearch.kernels.target import shared
from gpusearch.kernels.word_places import first_place, link, put_codes, shift_words, words_of

# Indices of SemanticDocument.number.
CODES, CELLS, MOST_WORDS, BEST, CONTENT, BEFORE, BEHIND = range(7)
SEMANTIC_NUMBERS = 7


class SemanticDocument(NamedTuple):
    """The model on the target words of a problem; D dimensions, a history of H words, M words of a sentence at most.

    Work space (``scratch.changed.work``): the sum of a history, D; the codes that a proposal puts in, M; the codes of
    the words of the space: up to H before, those put in, up to H behind; of those put in and behind the cells, M + H.
    """

    model: Semantic
    code: Array  # int32[T]: code of each target word
    # int32[R, FIRST_CELL + 1]: what a word of a cell gains at most where r + 1 words of its history change, in the last
    # row any number (loses at most: negative weight); 2^-20 nat
    lift: Array
    # int64[7]: first columns of State.count of the codes, and of the cells, of all word places; M; the greatest value
    # of a word of the space (the least: negative weight); first columns, by sentence, of how many words of the space it
    # has, of the next sentence before it that has some, of the next behind it (-1: none)
    number: Array


@shared
def fixed_value(feature, code):
    """Value of a word that is none of the space."""
    return feature.model.fixed[-1 - code] + 0


@shared
def history_of(feature):
    """Words of a history."""
    return feature.model.number[SEMANTIC_HISTORY] + 0


@shared
def first_listed(feature):
    """Where in the work space the codes of the words of the space begin that are put in, or stand behind."""
    return feature.model.vector.shape[1] + feature.number[MOST_WORDS] + history_of(feature)


@shared
def listed_cells(feature):
    """Where their cells begin."""
    return first_listed(feature) + feature.number[MOST_WORDS] + history_of(feature)


@shared
def put_in(feature, problem, state, scratch, lane, change):
    """Put the codes of a proposal into the work space; how many words there are, and how many stay at either end."""
    offset = feature.model.vector.shape[1]
    return put_codes(feature.code, feature.number[CODES] + 0, offset, problem, state, scratch, lane, change)


@shared
def change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind):
    """What changes in the words of a proposal but for those of the space that it puts in; how many of the space come,
    and how many go."""
    codes = feature.model.vector.shape[1]
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    place = problem.sentence[change.sentence, SENTENCE_PLACE]
    total = 0
    come = 0
    gone = 0
    for word in range(before, words - behind):
        code = scratch.changed.work[codes + word] + 0
        if code < 0:
            total += fixed_value(feature, code)
        else:
            come += 1
    for word in range(
        place + state.place[lane, slots] + before, place + state.place[lane, slots + change.replaced] - behind
    ):
        code = state.count[lane, feature.number[CODES] + word] + 0
        if code < 0:
            total -= fixed_value(feature, code)
        else:
            total -= feature.model.value[state.count[lane, feature.number[CELLS] + word]]
            gone += 1
    return total, come, gone


@shared
def list_history(feature, problem, state, scratch, lane, change, before):
    """List the words of the space in front of the first word that differs, the last one at H - 1; returns how many."""
    last = first_listed(feature) - 1
    local = change.local + 0
    place = state.place[lane, problem.sentence[change.sentence, SENTENCE_SLOT] + change.first] + before
    found = 0
    while found < history_of(feature) and local >= 0:
        begin = feature.number[CODES] + first_place(problem, state, lane, local)
        while place > 0 and found < history_of(feature):
            place -= 1
            code = state.count[lane, begin + place]
            scratch.changed.work[last - found] = code  # no branch: which words are of the space cannot be foreseen
            found += code >= 0
        local = state.count[lane, feature.number[BEFORE] + local] + 0
        if local >= 0:
            place = words_of(problem, state, lane, local)
    return found


@shared
def list_content(feature, scratch, words, before, behind):
    """List the words of the space that a proposal puts in, behind the history; returns how many."""
    codes = feature.model.vector.shape[1]
    found = 0
    for word in range(before, words - behind):
        code = scratch.changed.work[codes + word] + 0
        if code >= 0:
            scratch.changed.work[first_listed(feature) + found] = code
            found += 1
    return found


@shared
def words_behind(problem, state, lane, change, behind):
    """Where the words behind a proposal begin: (their sentence, counted within the unit; the first one's place)."""
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    return change.local + 0, state.place[lane, slots + change.replaced] - behind


@shared
def row_of(feature, changing):
    """Row of the lifts of words in whose history so many words change."""
    return min(changing, feature.lift.shape[0]) - 1


@shared
def lift_behind(feature, problem, state, lane, change, behind, changing):
    """What the words of the space behind a proposal gain at most, as many as a history holds."""
    row = row_of(feature, changing)
    local, place = words_behind(problem, state, lane, change, behind)
    found = 0
    total = 0
    while found < history_of(feature) and local >= 0:
        first = first_place(problem, state, lane, local)
        stop = words_of(problem, state, lane, local)
        while place < stop and found < history_of(feature):
            content = state.count[lane, feature.number[CODES] + first + place] >= 0
            found += content
            total += content * feature.lift[row, state.count[lane, feature.number[CELLS] + first + place]]
            place += 1
        local = state.count[lane, feature.number[BEHIND] + local] + 0
        place = 0
    return total


@shared
def list_behind(feature, problem, state, scratch, lane, change, behind, listed):
    """List these words and their cells behind `listed` others; returns how many."""
    local, place = words_behind(problem, state, lane, change, behind)
    found = 0
    while found < history_of(feature) and local >= 0:
        first = first_place(problem, state, lane, local)
        stop = words_of(problem, state, lane, local)
        while place < stop and found < history_of(feature):
            code = state.count[lane, feature.number[CODES] + first + place] + 0
            scratch.changed.work[first_listed(feature) + listed + found] = code
            cell = state.count[lane, feature.number[CELLS] + first + place] + 0
            scratch.changed.work[listed_cells(feature) + listed + found] = cell
            found += code >= 0
            place += 1
        local = state.count[lane, feature.number[BEHIND] + local] + 0
        place = 0
    return found


@shared
def renew_behind(feature, problem, state, scratch, lane, change, behind, listed):
    """Give these words the cells that stand in the work space."""
    local, place = words_behind(problem, state, lane, change, behind)
    found = 0
    while found < history_of(feature) and local >= 0:
        first = first_place(problem, state, lane, local)
        stop = words_of(problem, state, lane, local)
        while place < stop and found < history_of(feature):
            if state.count[lane, feature.number[CODES] + first + place] >= 0:
                cell = scratch.changed.work[listed_cells(feature) + listed + found] + 0
                state.count[lane, feature.number[CELLS] + first + place] = cell
                found += 1
            place += 1
        local = state.count[lane, feature.number[BEHIND] + local] + 0
        place = 0


@shared
def score_listed(feature, scratch, held, listed, count, row, weight, room):
    """Score `count` words of the list, `listed` of them put in, behind a history of `held`.

    Returns the sum of their values, of those that they have, and of the greatest that they may have (lifts of a row);
    the cells in the work space become the new ones. It ends as soon as the first falls short of the last by `room`,
    weighted: with weight 0 at the last word only.
    """
    work = scratch.changed.work
    begin = first_listed(feature)
    for d in range(feature.model.vector.shape[1]):
        work[d] = 0
    for k in range(held):
        shift_history(feature.model, work[begin - held + k] + 0, work, 1)
    total = 0
    known = 0
    top = 0
    k = 0
    while k < count and weight * (top - total) < room:
        code = work[begin + k] + 0
        if k < listed:
            top += feature.number[BEST]
        else:
            old = work[listed_cells(feature) + k] + 0
            known += feature.model.value[old]
            top += feature.model.value[old] + feature.lift[row, old]
        cell = cell_of(feature.model, code, work, held)
        work[listed_cells(feature) + k] = cell
        total += feature.model.value[cell]
        shift_history(feature.model, code, work, 1)
        if held < history_of(feature):
            held += 1
        else:
            shift_history(feature.model, work[begin + k - history_of(feature)] + 0, work, -1)
        k += 1
    return total, known, top


@shared
def score_anew(feature, problem, state, scratch, lane, change, words, before, behind, changing, weight, room):
    """Score the words of the space that a proposal puts in, and those behind it that have them in their history.

    Returns how many are put in, and what `score_listed` does.
    """
    held = list_history(feature, problem, state, scratch, lane, change, before)
    listed = list_content(feature, scratch, words, before, behind)
    count = listed + list_behind(feature, problem, state, scratch, lane, change, behind, listed)
    total, known, top = score_listed(feature, scratch, held, listed, count, row_of(feature, changing), weight, room)
    return listed, total, known, top


@delta.version(SemanticDocument)
def change_of_semantic(feature, problem, search, state, scratch, lane, change):
    words, before, behind = put_in(feature, problem, state, scratch, lane, change)
    fixed, come, gone = change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind)
    changing = max(come, gone)
    if changing == 0:
        return fixed
    _, total, known, _ = score_anew(
        feature, problem, state, scratch, lane, change, words, before, behind, changing, 0, 1
    )
    return fixed + total - known


@bound.version(SemanticDocument)
def bound_of_semantic(feature, weight, problem, search, state, scratch, lane, change):
    """Words of the space that are put in count with the best value that there is, those behind with their lift."""
    words, before, behind = put_in(feature, problem, state, scratch, lane, change)
    total, come, gone = change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind)
    changing = max(come, gone)
    if changing != 0:
        total += list_content(feature, scratch, words, before, behind) * feature.number[BEST]
        total += lift_behind(feature, problem, state, lane, change, behind, changing)
    return weight * total


@gap.version(SemanticDocument)
def gap_of_semantic(feature, weight, room, problem, search, state, scratch, lane, change):
    words, before, behind = put_in(feature, problem, state, scratch, lane, change)
    _, come, gone = change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind)
    changing = max(come, gone)
    if changing == 0:
        return 0
    _, total, _, top = score_anew(
        feature, problem, state, scratch, lane, change, words, before, behind, changing, weight, room
    )
    return weight * (total - top)


@keep.version(SemanticDocument)
def keep_semantic(feature, problem, search, state, scratch, lane, change):
    work = scratch.changed.work
    codes = feature.model.vector.shape[1]
    words, before, behind = put_in(feature, problem, state, scratch, lane, change)
    _, come, gone = change_of_fixed(feature, problem, state, scratch, lane, change, words, before, behind)
    changing = max(come, gone)
    if changing != 0:
        listed, _, _, _ = score_anew(
            feature, problem, state, scratch, lane, change, words, before, behind, changing, 0, 1
        )
        renew_behind(feature, problem, state, scratch, lane, change, behind, listed)
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    first = state.place[lane, slots] + 0
    last = state.place[lane, slots + change.replaced] - behind
    by = words - behind - (last - first)
    begin = problem.sentence[change.sentence, SENTENCE_PLACE] + 0
    stop = words_of(problem, state, lane, change.local)
    shift_words(state, lane, feature.number[CODES] + begin + last, feature.number[CODES] + begin + stop, by)
    shift_words(state, lane, feature.number[CELLS] + begin + last, feature.number[CELLS] + begin + stop, by)
    k = 0
    for word in range(before, words - behind):
        code = work[codes + word] + 0
        cell = 0
        if code >= 0:
            cell = work[listed_cells(feature) + k] + 0
            k += 1
        state.count[lane, feature.number[CODES] + begin + first + word] = code
        state.count[lane, feature.number[CELLS] + begin + first + word] = cell
    if come != gone:
        content = state.count[lane, feature.number[CONTENT] + change.local] + 0
        state.count[lane, feature.number[CONTENT] + change.local] = content + come - gone
        if content == 0 or content + come == gone:
            link(feature.number[BEFORE], feature.number[BEHIND], problem, state, lane, change.local, content == 0)


@full.version(SemanticDocument)
def full_semantic(feature, problem, search, state, scratch, lane):
    work = scratch.changed.work
    ring = feature.model.vector.shape[1] + 0
    for d in range(feature.model.vector.shape[1]):
        work[d] = 0
    seen = 0
    total = 0
    sentences = problem.unit[state.unit[lane], UNIT_SENTENCES] + 0
    last = -1
    for local in range(sentences):
        state.count[lane, feature.number[BEFORE] + local] = last
        content = seen + 0
        slots = problem.sentence[problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local, SENTENCE_SLOT] + 0
        place = first_place(problem, state, lane, local)
        for slot in range(slots, slots + state.length[lane, local]):
            option = state.option[lane, slot]
            target = problem.option_place[option, OPTION_TARGET]
            for j in range(problem.option_place[option, OPTION_WORDS]):
                code = feature.code[target + j] + 0
                cell = 0
                if code < 0:
                    total += fixed_value(feature, code)
                else:
                    cell = cell_of(feature.model, code, work, min(seen, history_of(feature)))
                    total += feature.model.value[cell]
                    shift_history(feature.model, code, work, 1)
                    oldest = ring + seen % history_of(feature)
                    if seen >= history_of(feature):
                        shift_history(feature.model, work[oldest] + 0, work, -1)
                    work[oldest] = code
                    seen += 1
                state.count[lane, feature.number[CODES] + place] = code
                state.count[lane, feature.number[CELLS] + place] = cell
                place += 1
        content = seen - content
        state.count[lane, feature.number[CONTENT] + local] = content
        if content > 0:
            last = local + 0
    following = -1
    for local in range(sentences - 1, -1, -1):
        state.count[lane, feature.number[BEHIND] + local] = following
        if state.count[lane, feature.number[CONTENT] + local] > 0:
            following = local + 0
    return total
