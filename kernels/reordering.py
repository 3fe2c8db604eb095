"""Lexicalised reordering: what a phrase adds by its orientation to its neighbours (Koehn et al. 2005, as in Moses).

Each function takes the record `records.Reordering` first, or () where a search has no such model.
"""

from gpusearch.kernels.operations import phrase
from gpusearch.kernels.options import start_of, stop_of
from gpusearch.kernels.records import (
    DISCONTINUOUS_LEFT,
    DISCONTINUOUS_RIGHT,
    MONOTONE,
    ORIENTATIONS,
    SWAPPED,
    VALUES,
)
from gpusearch.kernels.target import optional, shared


@shared
def turn(left, right, start, stop):
    """Orientation of a phrase that covers the source words start .. stop - 1 to one that covers left .. right - 1."""
    if start == right:
        return MONOTONE
    if stop == left:
        return SWAPPED
    if start < right:
        return DISCONTINUOUS_LEFT
    return DISCONTINUOUS_RIGHT


@shared
def orientation(problem, before, option):
    """Orientation of an option to the one before it; `before` is -1 for the first phrase of a sentence."""
    left = 0
    right = 0
    if before >= 0:
        left = start_of(problem, before)
        right = stop_of(problem, before)
    return turn(left, right, start_of(problem, option), stop_of(problem, option))


@shared
def order_score(reordering, problem, before, option):
    """What the step from one option (-1: the sentence's start) to the next is worth, 2^-40 nat."""
    column = orientation(problem, before, option)
    score = reordering.score[option, column] + 0
    if before >= 0:
        score += reordering.score[before, ORIENTATIONS + column]
    return score


def _no_change(reordering, problem, state, scratch, lane, sentence, first, replaced, count):
    return 0


@optional(_no_change)
def change_of_order(reordering, problem, state, scratch, lane, sentence, first, replaced, count):
    """By how much a proposal changes the weighted reordering score; exact."""
    before = -1
    if first > 0:
        before = phrase(problem, state, lane, sentence, first - 1) + 0
    following = phrase(problem, state, lane, sentence, first + replaced)
    total = 0
    last = before
    for k in range(count):
        option = scratch.option[k] + 0
        total += order_score(reordering, problem, last, option)
        last = option
    if following >= 0:
        total += order_score(reordering, problem, last, following)
    last = before
    for k in range(replaced):
        option = phrase(problem, state, lane, sentence, first + k) + 0
        total -= order_score(reordering, problem, last, option)
        last = option
    if following >= 0:
        total -= order_score(reordering, problem, last, following)
    return total


@shared
def count_step(reordering, problem, search, state, lane, before, option, sign):
    """Add the feature values of a step, or with a sign of -1 take them off."""
    orientation_of_step = orientation(problem, before, option)
    for model in range(reordering.column.shape[0]):
        column = reordering.column[model, orientation_of_step, 0]
        if column >= 0:
            feature = search.number[VALUES] + 1 + reordering.column[model, orientation_of_step, 1]
            state.feature[lane, feature] = state.feature[lane, feature] + sign * reordering.value[option, column]
        column = reordering.column[model, ORIENTATIONS + orientation_of_step, 0]
        if column >= 0 and before >= 0:
            feature = search.number[VALUES] + 1 + reordering.column[model, ORIENTATIONS + orientation_of_step, 1]
            state.feature[lane, feature] = state.feature[lane, feature] + sign * reordering.value[before, column]


def _nothing_to_count(reordering, problem, search, state, lane, sentence, first, stop, sign):
    return 0


@optional(_nothing_to_count)
def count_order(reordering, problem, search, state, lane, sentence, first, stop, sign):
    """Add the values of the steps to the slots first .. stop - 1 of a sentence, or take them off; their score."""
    before = -1
    if first > 0:
        before = phrase(problem, state, lane, sentence, first - 1) + 0
    total = 0
    for slot in range(first, stop):
        option = phrase(problem, state, lane, sentence, slot) + 0
        if option >= 0:
            count_step(reordering, problem, search, state, lane, before, option, sign)
            total += sign * order_score(reordering, problem, before, option)
        before = option
    return total
