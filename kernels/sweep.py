"""Sweeps: the whole neighbourhood of a translation, group by group in a random order without repetition.

A step looks at one group (layouts.py) and takes the best of its neighbours, if that scores higher than the translation.
Then a new pass begins, in a new order. Where a pass comes to its end and none was found, the translation is a local
optimum, and that is certain: the chain ends, given up like one that has nothing to propose.

Neighbours are not looked at one by one. A layout's options count with their ceilings, the most that each may be worth
in any context; where these cannot lift the sum above the best so far, all that is left of the layout is passed over.
Features of the document add what they know of a layout (`document.ceilings`); where one knows nothing, every neighbour
is looked at.
"""

import numpy as np

from gpusearch.kernels.document import ceilings_of_document
from gpusearch.kernels.judge import bound_of_phrases, judge
from gpusearch.kernels.layouts import groups_of, kind_of, layouts_of, put_layout
from gpusearch.kernels.operations import phrase
from gpusearch.kernels.options import behind, first_of, span_row
from gpusearch.kernels.philox import SWEEP, philox
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_BOUND,
    EMPTY,
    OPTION_BOUND,
    OPTION_SCORE,
    ORIENTATIONS,
    SENTENCE_WORDS,
    TOO_FAR,
    UNIT_FIRST_SENTENCE,
    UNIT_KEY_HIGH,
    UNIT_KEY_LOW,
    UNIT_SENTENCES,
    WAITING,
    Sweep,
)
from gpusearch.kernels.reordering import change_of_order, order_score
from gpusearch.kernels.target import optional, shared

# Below every sum.
LEAST = -(1 << 62)


def sweep():
    """The record that makes a search a sweep."""
    return Sweep(np.ones(1, np.int64))


@shared
def groups_of_unit(problem, state, lane):
    """Number of groups of a lane's unit."""
    unit = state.unit[lane]
    total = 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        total += groups_of(state.length[lane, local] + 0, problem.sentence[sentence, SENTENCE_WORDS] + 0)
    return total


@shared
def in_order(problem, state, lane, pass_start, place, groups):
    """The group that stands at a place of a pass: (offset + place * stride) mod groups, with a stride prime to them."""
    unit = state.unit[lane]
    word, other, _, _ = philox(
        pass_start & 0xFFFFFFFF,
        pass_start >> 32,
        state.chain[lane],
        SWEEP,
        problem.unit[unit, UNIT_KEY_LOW],
        problem.unit[unit, UNIT_KEY_HIGH],
    )
    stride = 1 + (other * groups >> 32)
    divisor = groups
    while divisor != 1:
        divisor = groups
        rest = stride
        while rest != 0:
            divisor, rest = rest, divisor % rest
        if divisor != 1:
            stride += 1
    return ((word * groups >> 32) + place * stride) % groups


@shared
def propose_group(sweep, problem, search, state, scratch, lane, step):
    """The best neighbour of the group of a step, as `gpusearch.kernels.step.propose` returns a proposal.

    The stage is EMPTY where the pass is over.
    """
    groups = groups_of_unit(problem, state, lane)
    place = state.rejected[lane] + step - state.step[lane]
    if place >= groups:
        return EMPTY, 0, 0, -1, 0, 0
    group = in_order(problem, state, lane, step - place, place, groups)
    unit = state.unit[lane]
    local = 0
    sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + 0
    here = groups_of(state.length[lane, 0] + 0, problem.sentence[sentence, SENTENCE_WORDS] + 0)
    while group >= here:
        group -= here
        local += 1
        sentence += 1
        here = groups_of(state.length[lane, local] + 0, problem.sentence[sentence, SENTENCE_WORDS] + 0)
    phrases = state.length[lane, local] + 0
    kind, number = kind_of(phrases, group)
    stage, layout, one, two, three = best_of_group(
        problem, search, state, scratch, lane, sentence, phrases, kind, number, 0
    )
    if stage != ACCEPTED:
        return stage, kind, local, -1, 0, 0
    first, replaced, count, place1, place2, place3 = put_layout(
        problem, search, state, scratch, lane, sentence, phrases, kind, number, layout
    )
    if place1 >= 0:
        scratch.option[place1] = one
    if place2 >= 0:
        scratch.option[place2] = two
    if place3 >= 0:
        scratch.option[place3] = three
    return ACCEPTED, kind, local, first, replaced, count


@shared
def best_of_group(problem, search, state, scratch, lane, sentence, phrases, kind, number, least):
    """(ACCEPTED, layout, options of its open places) of the neighbour that changes the score most, if by more than
    `least`; else BELOW_BOUND, or WAITING where the host must be asked first."""
    found = BELOW_BOUND
    best = least
    best_layout = 0
    best1 = 0
    best2 = 0
    best3 = 0
    for layout in range(layouts_of(problem, search, state, lane, sentence, phrases, kind, number)):
        first, replaced, count, place1, place2, place3 = put_layout(
            problem, search, state, scratch, lane, sentence, phrases, kind, number, layout
        )
        if first < 0:
            continue
        stage, change, one, two, three = best_of_layout(
            problem, search, state, scratch, lane, sentence, first, replaced, count, place1, place2, place3, best
        )
        if stage == WAITING:
            return WAITING, 0, 0, 0, 0
        if stage == ACCEPTED:
            found = ACCEPTED
            best = change
            best_layout = layout
            best1 = one
            best2 = two
            best3 = three
    return found, best_layout, best1, best2, best3


@shared
def ceiling(problem, option, is_last):
    """The most that an option may be worth in any context, its share of reordering included; the last one of a sentence
    has no step behind it."""
    most = problem.option_score[option, OPTION_SCORE] + problem.option_score[option, OPTION_BOUND]
    most += most_of_order(problem.reordering, option, 0)
    return most if is_last else most + most_of_order(problem.reordering, option, ORIENTATIONS)


def _no_order(reordering, option, first):
    return 0


@optional(_no_order)
def most_of_order(reordering, option, first):
    """The most that an option may get for the step to it (`first` 0), or for the step behind it (ORIENTATIONS)."""
    most = reordering.score[option, first] + 0
    for column in range(first + 1, first + ORIENTATIONS):
        most = max(most, reordering.score[option, column])
    return most


def _no_room(reordering, problem, state, scratch, lane, sentence, first, replaced, count, place1, place2, place3):
    return 0


@optional(_no_room)
def room_of_order(reordering, problem, state, scratch, lane, sentence, first, replaced, count, place1, place2, place3):
    """The most by which reordering may change, without what the ceilings of the open places' options hold, less what it
    changes by with the options that are there now."""
    total = -change_of_order(reordering, problem, state, scratch, lane, sentence, first, replaced, count)
    last = -1
    if first > 0:
        last = phrase(problem, state, lane, sentence, first - 1) + 0
        total += most_of_order(reordering, last, ORIENTATIONS)
    for k in range(replaced):
        option = phrase(problem, state, lane, sentence, first + k) + 0
        total -= order_score(reordering, problem, last, option)
        last = option
    following = phrase(problem, state, lane, sentence, first + replaced) + 0
    if following >= 0:
        total += most_of_order(reordering, following, 0) - order_score(reordering, problem, last, following)
    for k in range(count):
        if k != place1 and k != place2 and k != place3:
            total += most_of_order(reordering, scratch.option[k], 0)
            if k < count - 1 or following >= 0:
                total += most_of_order(reordering, scratch.option[k], ORIENTATIONS)
    return total


def _not_opened(changed, k, first, last):
    return 0


@optional(_not_opened)
def note_open(changed, k, first, last):
    """Features of the document are told of the options of an open place."""
    changed.open[k, 0] = first
    changed.open[k, 1] = last
    return 0


def _no_share(changed, k, number):
    return 0


@optional(_no_share)
def share_of_document(changed, k, number):
    """What features of the document may add where an open place has its option of this number."""
    return changed.ceiling[k, number] + 0


@shared
def options_of_place(problem, scratch, sentence, k, place):
    """(First option, behind the last) of an open place, the k-th; (0, 1) where it is not there."""
    if place < 0:
        note_open(scratch.changed, k, 0, 0)
        return 0, 1
    covers = scratch.covers[place] + 0
    start = first_of(covers)
    row = span_row(problem, sentence, start, behind(covers) - start)
    first = problem.span[row] + 0
    last = problem.span[row + 1] + 0
    note_open(scratch.changed, k, first, last)
    return first, last


@shared
def greatest_ceiling(problem, scratch, k, first, last, place, last_place):
    """Of the options of an open place, the k-th; 0 where it is not there."""
    if place < 0:
        return 0
    most = LEAST
    for option in range(first, last):
        here = ceiling(problem, option, place == last_place) + share_of_document(scratch.changed, k, option - first)
        most = max(most, here)
    return most


@shared
def best_of_layout(
    problem, search, state, scratch, lane, sentence, first, replaced, count, place1, place2, place3, best
):
    """(ACCEPTED, change of the score, options of the open places) of the best way to fill a layout, if above `best`.

    Else BELOW_BOUND, or WAITING.
    """
    stage, base = bound_of_phrases(problem, search, state, scratch, lane, sentence, first, replaced, count)
    if stage == TOO_FAR:
        return BELOW_BOUND, 0, 0, 0, 0
    base += room_of_order(
        problem.reordering, problem, state, scratch, lane, sentence, first, replaced, count, place1, place2, place3
    )
    first1, last1 = options_of_place(problem, scratch, sentence, 0, place1)
    first2, last2 = options_of_place(problem, scratch, sentence, 1, place2)
    first3, last3 = options_of_place(problem, scratch, sentence, 2, place3)
    base += ceilings_of_document(
        problem.document, problem, search, state, scratch, lane, sentence, first, replaced, count
    )
    last_place = count - 1 if phrase(problem, state, lane, sentence, first + replaced) < 0 else -1
    most2 = greatest_ceiling(problem, scratch, 1, first2, last2, place2, last_place)
    most3 = greatest_ceiling(problem, scratch, 2, first3, last3, place3, last_place)
    base -= worth_of_first(problem, place1, first1)
    base -= worth_of_first(problem, place2, first2)
    base -= worth_of_first(problem, place3, first3)
    found = BELOW_BOUND
    best1 = 0
    best2 = 0
    best3 = 0
    one = first1
    while one < last1:
        sum1 = base
        if place1 >= 0:
            sum1 += ceiling(problem, one, place1 == last_place)
            sum1 += share_of_document(scratch.changed, 0, one - first1)
            scratch.option[place1] = one
        two = first2
        if sum1 + most2 + most3 <= best:
            two = last2
        while two < last2:
            sum2 = sum1
            if place2 >= 0:
                sum2 += ceiling(problem, two, place2 == last_place)
                sum2 += share_of_document(scratch.changed, 1, two - first2)
                scratch.option[place2] = two
            three = first3
            if sum2 + most3 <= best:
                three = last3
            while three < last3:
                sum3 = sum2
                if place3 >= 0:
                    sum3 += ceiling(problem, three, place3 == last_place)
                    sum3 += share_of_document(scratch.changed, 2, three - first3)
                    scratch.option[place3] = three
                if sum3 > best:
                    stage, change = judge(problem, search, state, scratch, lane, sentence, first, replaced, count, best)
                    if stage == WAITING:
                        return WAITING, 0, 0, 0, 0
                    if stage == ACCEPTED:
                        found = ACCEPTED
                        best = change
                        best1 = one
                        best2 = two
                        best3 = three
                three += 1
            two += 1
        one += 1
    return found, best, best1, best2, best3


@shared
def worth_of_first(problem, place, option):
    """What the first option of an open place counts with in `bound_of_phrases`; 0 where there is no such place."""
    if place < 0:
        return 0
    return problem.option_score[option, OPTION_SCORE] + problem.option_score[option, OPTION_BOUND]


@shared
def count_neighbours(problem, search, state, scratch, lane):
    """Neighbours of a lane's translation that keep to the distortion limit, each as often as layouts hold it, itself
    included."""
    unit = state.unit[lane]
    total = 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        phrases = state.length[lane, local] + 0
        for group in range(groups_of(phrases, problem.sentence[sentence, SENTENCE_WORDS] + 0)):
            kind, number = kind_of(phrases, group)
            for layout in range(layouts_of(problem, search, state, lane, sentence, phrases, kind, number)):
                total += ways_of_layout(problem, search, state, scratch, lane, sentence, phrases, kind, number, layout)
    return total


@shared
def ways_of_layout(problem, search, state, scratch, lane, sentence, phrases, kind, number, layout):
    """In how many ways a layout can be filled; 0 where there is none, or its jumps are too long."""
    first, replaced, count, place1, place2, place3 = put_layout(
        problem, search, state, scratch, lane, sentence, phrases, kind, number, layout
    )
    if first < 0:
        return 0
    stage, _ = bound_of_phrases(problem, search, state, scratch, lane, sentence, first, replaced, count)
    if stage == TOO_FAR:
        return 0
    first1, last1 = options_of_place(problem, scratch, sentence, 0, place1)
    first2, last2 = options_of_place(problem, scratch, sentence, 1, place2)
    first3, last3 = options_of_place(problem, scratch, sentence, 2, place3)
    return (last1 - first1) * (last2 - first2) * (last3 - first3)
