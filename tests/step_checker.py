"""Compiled: many proposals, each judged, committed, and compared with a computation from nothing."""

from __future__ import annotations

from gpusearch.kernels.commit import commit, refresh
from gpusearch.kernels.judge import judge
from gpusearch.kernels.records import (
    ACCEPTED,
    EMPTY,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
)
from gpusearch.kernels.step import draw, start_monotone
from gpusearch.kernels.target import cpu_driver, optional, shared

# Below every change of a score.
LEAST = -(1 << 62)
# What may be wrong.
(
    FINE,
    WRONG_DELTA,
    BOUND_BELOW_DELTA,
    NOT_ABOVE_THRESHOLD_YET_ACCEPTED,
    WRONG_SCORE,
    WRONG_FEATURE,
    WRONG_PHRASES,
    WRONG_WORDS,
    WRONG_SLACK,
    WRONG_COUNTS,
) = range(10)
NOW, COMMITTED, FROM_NOTHING = range(3)


@shared
def copy_lane(state, source, target):
    """All of a lane but its limits."""
    for slot in range(state.option.shape[1]):
        state.option[target, slot] = state.option[source, slot]
        state.place[target, slot] = state.place[source, slot]
        state.covers[target, slot] = state.covers[source, slot]
        state.worth[target, slot] = state.worth[source, slot]
        state.slack[target, slot] = state.slack[source, slot]
    for local in range(state.length.shape[1]):
        state.length[target, local] = state.length[source, local]
    for model in range(state.lm_value.shape[1]):
        for place in range(state.lm_value.shape[2]):
            state.lm_value[target, model, place] = state.lm_value[source, model, place]
            state.lm_state[target, model, place] = state.lm_state[source, model, place]
    for column in range(state.feature.shape[1]):
        state.feature[target, column] = state.feature[source, column]
    for column in range(state.count.shape[1]):
        state.count[target, column] = state.count[source, column]
    for column in range(state.sum.shape[1]):
        state.sum[target, column] = state.sum[source, column]
    state.score[target] = state.score[source]


@shared
def splice(state, scratch, slots, local, first, replaced, count):
    """Put the proposal's phrases into the lane FROM_NOTHING."""
    length = state.length[NOW, local]
    for slot in range(first):
        state.option[FROM_NOTHING, slots + slot] = state.option[NOW, slots + slot]
    for k in range(count):
        state.option[FROM_NOTHING, slots + first + k] = scratch.option[k]
    for slot in range(first + replaced, length):
        state.option[FROM_NOTHING, slots + slot - replaced + count] = state.option[NOW, slots + slot]
    state.length[FROM_NOTHING, local] = length - replaced + count


def _right(document, state):
    return False


@optional(_right)
def wrong_counts(document, state):
    """Whether the tables of counts differ; what features keep of their own may stand in another order."""
    wrong = False
    for table in range(document.table.shape[0]):
        for column in range(document.table[table, 0], document.table[table, 0] + document.table[table, 1]):
            wrong = wrong or state.count[COMMITTED, column] != state.count[FROM_NOTHING, column]
    return wrong


@shared
def compare(problem, state):
    """The first difference between the lanes COMMITTED and FROM_NOTHING."""
    if state.score[COMMITTED] != state.score[FROM_NOTHING]:
        return WRONG_SCORE
    for column in range(state.feature.shape[1]):
        if state.feature[COMMITTED, column] != state.feature[FROM_NOTHING, column]:
            return WRONG_FEATURE
    if wrong_counts(problem.document, state):
        return WRONG_COUNTS
    for column in range(state.sum.shape[1]):
        if state.sum[COMMITTED, column] != state.sum[FROM_NOTHING, column]:
            return WRONG_COUNTS
    unit = state.unit[NOW]
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        slots = problem.sentence[sentence, SENTENCE_SLOT]
        places = problem.sentence[sentence, SENTENCE_PLACE]
        length = state.length[COMMITTED, local]
        if length != state.length[FROM_NOTHING, local]:
            return WRONG_PHRASES
        for slot in range(slots, slots + length + 1):
            if (
                state.option[COMMITTED, slot] != state.option[FROM_NOTHING, slot]
                or state.place[COMMITTED, slot] != state.place[FROM_NOTHING, slot]
                or (slot < slots + length and state.covers[COMMITTED, slot] != state.covers[FROM_NOTHING, slot])
            ):
                return WRONG_PHRASES
            if state.worth[COMMITTED, slot] != state.worth[FROM_NOTHING, slot]:
                return WRONG_WORDS
            if state.slack[COMMITTED, slot] != state.slack[FROM_NOTHING, slot]:
                return WRONG_SLACK
        for model in range(state.lm_value.shape[1]):
            for place in range(places, places + state.place[COMMITTED, slots + length] + 1):
                if (
                    state.lm_value[COMMITTED, model, place] != state.lm_value[FROM_NOTHING, model, place]
                    or state.lm_state[COMMITTED, model, place] != state.lm_state[FROM_NOTHING, model, place]
                ):
                    return WRONG_WORDS
    return FINE


@shared
def check_step(problem, search, state, scratch, step):
    """Draw the proposal of a step and check all that follows from it: (fault or FINE, operation, stage)."""
    operation, local, first, replaced, count = draw(problem, search, state, scratch, NOW, step)
    if first < 0:
        return FINE, operation, EMPTY
    sentence = problem.unit[state.unit[NOW], UNIT_FIRST_SENTENCE] + local
    delta = 0
    reached = EMPTY
    # Whatever it is; just enough; just not enough. No bound on the way may be below the exact change.
    for trial in range(3):
        threshold = LEAST if trial == 0 else delta - 2 + trial
        stage, change = judge(problem, search, state, scratch, NOW, sentence, first, replaced, count, threshold)
        if trial == 0:
            delta = change
            reached = stage
            if stage != ACCEPTED:
                return FINE, operation, stage
        elif trial == 1 and (stage != ACCEPTED or change != delta):
            return BOUND_BELOW_DELTA, operation, stage
        elif trial == 2 and stage == ACCEPTED:
            return NOT_ABOVE_THRESHOLD_YET_ACCEPTED, operation, stage
    copy_lane(state, NOW, FROM_NOTHING)
    splice(state, scratch, problem.sentence[sentence, SENTENCE_SLOT], local, first, replaced, count)
    refresh(problem, search, state, scratch, FROM_NOTHING)
    if delta != state.score[FROM_NOTHING] - state.score[NOW]:
        return WRONG_DELTA, operation, reached
    copy_lane(state, NOW, COMMITTED)
    commit(problem, search, state, scratch, COMMITTED, local, sentence, first, replaced, count)
    return compare(problem, state), operation, reached


@cpu_driver
def check_steps(problem, search, state, scratch, proposals, most_steps):
    """Check so many proposals on a walk that takes every third of them, or those that score higher.

    The lanes 0, 1, 2 belong to one unit. Returns (fault or FINE, step of the fault or behind the last); how far
    proposals came stands in ``state.tally[0]``.
    """
    start_monotone(problem, search, state, scratch, NOW)
    found = 0
    step = 0
    while found < proposals and step < most_steps:
        fault, operation, stage = check_step(problem, search, state, scratch, step)
        state.tally[NOW, operation, stage] = state.tally[NOW, operation, stage] + 1
        if fault != FINE:
            return fault, step
        if stage != EMPTY:
            found += 1
        if stage == ACCEPTED and (step % 3 == 0 or state.score[COMMITTED] > state.score[NOW]):
            copy_lane(state, COMMITTED, NOW)
        step += 1
    return FINE, step
