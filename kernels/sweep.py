"""Sweeps: the whole neighbourhood of a translation, group by group in a random order without repetition.

A step looks at one group (layouts.py) and takes the best of its neighbours, if that scores higher than the translation.
Then a new pass begins, in a new order. Where a pass comes to its end and none was found, the translation is a local
optimum, and that is certain: the chain ends, given up like one that has nothing to propose.

Neighbours are not looked at one by one. A layout's options count with their ceilings, the most that each may be worth
in any context; where these cannot lift the sum above the best so far, all that is left of the layout is passed over.
"""

import numpy as np

from gpusearch.kernels.judge import bound_change, judge
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
    stage, layout, one, two, three, _ = best_of_group(
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
    `least`; else BELOW_BOUND, or WAITING where the host must be asked first. Last, the number of neighbours."""
    found = BELOW_BOUND
    best = least
    best_layout = 0
    best1 = 0
    best2 = 0
    best3 = 0
    size = 0
    for layout in range(layouts_of(problem, search, state, lane, sentence, phrases, kind, number)):
        first, replaced, count, place1, place2, place3 = put_layout(
            problem, search, state, scratch, lane, sentence, phrases, kind, number, layout
        )
        if first < 0:
            continue
        stage, change, one, two, three, ways = best_of_layout(
            problem, search, state, scratch, lane, sentence, first, replaced, count, place1, place2, place3, best
        )
        size += ways
        if stage == WAITING:
            return WAITING, 0, 0, 0, 0, 0
        if stage == ACCEPTED:
            found = ACCEPTED
            best = change
            best_layout = layout
            best1 = one
            best2 = two
            best3 = three
    return found, best_layout, best1, best2, best3, size


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


def _no_document(document):
    return 0


@optional(_no_document)
def room_of_document(document):
    """What features of the document may add: nothing is known of it, so every neighbour is looked at."""
    return 1 << 60


@shared
def options_of_place(problem, search, scratch, sentence, place, last_place):
    """(first option, behind the last, greatest ceiling) of an open place; (0, 1, 0) where it is not there."""
    if place < 0:
        return 0, 1, 0
    covers = scratch.covers[place] + 0
    start = first_of(covers)
    row = span_row(problem, sentence, start, behind(covers) - start)
    first = problem.span[row] + 0
    last = problem.span[row + 1] + 0
    most = ceiling(problem, first, place == last_place)
    for option in range(first + 1, last):
        most = max(most, ceiling(problem, option, place == last_place))
    return first, last, most


@shared
def best_of_layout(
    problem, search, state, scratch, lane, sentence, first, replaced, count, place1, place2, place3, best
):
    """(ACCEPTED, change of the score, options of the open places) of the best way to fill a layout, if above `best`.

    Else BELOW_BOUND, or WAITING. Last, the number of ways: 0 where its jumps are too long.
    """
    stage, base = bound_change(problem, search, state, scratch, lane, sentence, first, replaced, count)
    if stage == TOO_FAR:
        return BELOW_BOUND, 0, 0, 0, 0, 0
    base += room_of_order(
        problem.reordering, problem, state, scratch, lane, sentence, first, replaced, count, place1, place2, place3
    )
    base += room_of_document(problem.document)
    last_place = count - 1 if phrase(problem, state, lane, sentence, first + replaced) < 0 else -1
    first1, last1, _ = options_of_place(problem, search, scratch, sentence, place1, last_place)
    first2, last2, most2 = options_of_place(problem, search, scratch, sentence, place2, last_place)
    first3, last3, most3 = options_of_place(problem, search, scratch, sentence, place3, last_place)
    base -= worth_of_first(problem, place1, first1)
    base -= worth_of_first(problem, place2, first2)
    base -= worth_of_first(problem, place3, first3)
    ways = (last1 - first1) * (last2 - first2) * (last3 - first3)
    found = BELOW_BOUND
    best1 = 0
    best2 = 0
    best3 = 0
    one = first1
    while one < last1:
        sum1 = base
        if place1 >= 0:
            sum1 += ceiling(problem, one, place1 == last_place)
            scratch.option[place1] = one
        two = first2
        if sum1 + most2 + most3 <= best:
            two = last2
        while two < last2:
            sum2 = sum1
            if place2 >= 0:
                sum2 += ceiling(problem, two, place2 == last_place)
                scratch.option[place2] = two
            three = first3
            if sum2 + most3 <= best:
                three = last3
            while three < last3:
                sum3 = sum2
                if place3 >= 0:
                    sum3 += ceiling(problem, three, place3 == last_place)
                    scratch.option[place3] = three
                if sum3 > best:
                    stage, change = judge(problem, search, state, scratch, lane, sentence, first, replaced, count, best)
                    if stage == WAITING:
                        return WAITING, 0, 0, 0, 0, ways
                    if stage == ACCEPTED:
                        found = ACCEPTED
                        best = change
                        best1 = one
                        best2 = two
                        best3 = three
                three += 1
            two += 1
        one += 1
    return found, best, best1, best2, best3, ways


@shared
def worth_of_first(problem, place, option):
    """What the first option of an open place counts with in `bound_change`; 0 where there is no such place."""
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
            _, _, _, _, _, size = best_of_group(
                problem, search, state, scratch, lane, sentence, phrases, kind, number, -LEAST
            )
            total += size
    return total
