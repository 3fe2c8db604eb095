"""One step of a chain: draw, judge, commit; and the chain itself."""

from gpusearch.kernels.commit import commit, refresh
from gpusearch.kernels.judge import judge
from gpusearch.kernels.operations import (
    change,
    insertion,
    linearise,
    move,
    permute,
    phrase,
    resegment,
    split_and_swap,
    swap,
)
from gpusearch.kernels.options import cover
from gpusearch.kernels.philox import INITIAL, PROPOSAL, next_word, open_stream, uniform
from gpusearch.kernels.records import (
    ACCEPTED,
    CHANGE,
    EMPTY,
    INSERTION,
    LIMIT_PAUSE,
    LIMIT_REJECTED,
    LIMIT_SCORE,
    LIMIT_STEPS,
    LINEARISE,
    MOVE,
    PERMUTE,
    RESEGMENT,
    SENTENCE_SLOT,
    SENTENCE_WORDS,
    SWAP,
    UNIT_FIRST_SENTENCE,
    UNIT_FIRST_WORD,
    UNIT_KEY_HIGH,
    UNIT_KEY_LOW,
    UNIT_SENTENCES,
    UNIT_WORDS,
)
from gpusearch.kernels.target import shared


@shared
def draw(problem, search, state, scratch, lane, step):
    """Draw the proposal of a step: (operation, sentence within the unit, first slot, slots replaced, phrases put in).

    The first slot is -1 where the draw is empty. What the proposal shares with the state at either end is cut off.
    """
    unit = state.unit[lane]
    random = scratch.random
    open_stream(
        random,
        problem.unit[unit, UNIT_KEY_LOW],
        problem.unit[unit, UNIT_KEY_HIGH],
        step,
        state.chain[lane],
        PROPOSAL,
    )
    local = 0
    if problem.unit[unit, UNIT_SENTENCES] > 1:
        local = problem.word[problem.unit[unit, UNIT_FIRST_WORD] + uniform(random, problem.unit[unit, UNIT_WORDS])]
    word = next_word(random)
    operation = 0
    while word >= search.operation[operation]:
        operation += 1
    sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
    phrases = state.length[lane, local]
    if operation == CHANGE:
        first, replaced, count = change(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == SWAP:
        first, replaced, count = swap(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == RESEGMENT:
        first, replaced, count = resegment(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == PERMUTE:
        first, replaced, count = permute(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == LINEARISE:
        first, replaced, count = linearise(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == MOVE:
        first, replaced, count = move(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == INSERTION:
        first, replaced, count = insertion(problem, search, state, scratch, lane, sentence, phrases)
    else:
        first, replaced, count = split_and_swap(problem, search, state, scratch, lane, sentence, phrases)
    if first >= 0 and operation != CHANGE:
        first, replaced, count = trim(problem, state, scratch, lane, sentence, first, replaced, count)
    return operation, local, first, replaced, count


@shared
def trim(problem, state, scratch, lane, sentence, first, replaced, count):
    """Cut off what a proposal shares with the state at its ends; a first slot of -1 where nothing is left."""
    same = 0
    while (
        same < replaced
        and same < count
        and scratch.option[same] == phrase(problem, state, lane, sentence, first + same)
    ):
        same += 1
    if same == replaced and same == count:
        return -1, 0, 0
    if same > 0:
        first += same
        replaced -= same
        count -= same
        for k in range(count):
            scratch.option[k] = scratch.option[same + k]
            scratch.origin[k] = scratch.origin[same + k]
    while (
        replaced > 0
        and count > 0
        and scratch.option[count - 1] == phrase(problem, state, lane, sentence, first + replaced - 1)
    ):
        replaced -= 1
        count -= 1
    return first, replaced, count


@shared
def propose(problem, search, state, scratch, lane, step):
    """Draw and judge the proposal of a step: (stage it reaches, operation, sentence, first, replaced, count).

    Changes nothing but `scratch`: many steps may be judged at once against one state, and the first proposal that is
    accepted is the one that the serial chain would have come to.
    """
    operation, local, first, replaced, count = draw(problem, search, state, scratch, lane, step)
    stage = EMPTY
    if first >= 0:
        sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
        stage, _ = judge(problem, search, state, scratch, lane, sentence, first, replaced, count, 0)
    return stage, operation, local, first, replaced, count


@shared
def accept(problem, search, state, scratch, lane, local, first, replaced, count):
    """Commit a proposal to a sentence of the lane's unit."""
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
    commit(problem, search, state, scratch, lane, local, sentence, first, replaced, count)


@shared
def advance(problem, search, state, scratch, lane):
    """One step of hill climbing: a proposal that scores higher is taken (Hardmeier et al. 2012, algorithm 1)."""
    stage, operation, local, first, replaced, count = propose(problem, search, state, scratch, lane, state.step[lane])
    state.tally[lane, operation, stage] = state.tally[lane, operation, stage] + 1
    state.step[lane] = state.step[lane] + 1
    if stage == ACCEPTED:
        state.rejected[lane] = 0
        accept(problem, search, state, scratch, lane, local, first, replaced, count)
    else:
        state.rejected[lane] = state.rejected[lane] + 1


@shared
def start_monotone(problem, search, state, scratch, lane):
    """A random translation in source order, every sentence covered from left to right (sec. 2.4)."""
    unit = state.unit[lane]
    open_stream(
        scratch.random,
        problem.unit[unit, UNIT_KEY_LOW],
        problem.unit[unit, UNIT_KEY_HIGH],
        0,
        state.chain[lane],
        INITIAL,
    )
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        slots = problem.sentence[sentence, SENTENCE_SLOT]
        count = cover(problem, search, scratch, sentence, 0, problem.sentence[sentence, SENTENCE_WORDS], 0)
        for slot in range(count):
            state.option[lane, slots + slot] = scratch.option[slot]
        state.length[lane, local] = count
    refresh(problem, search, state, scratch, lane)


@shared
def done(state, lane):
    """Whether a lane has used up its steps or rejections, or has reached the score that is enough."""
    return (
        state.step[lane] >= state.limit[lane, LIMIT_STEPS]
        or state.rejected[lane] >= state.limit[lane, LIMIT_REJECTED]
        or state.score[lane] >= state.limit[lane, LIMIT_SCORE]
    )


@shared
def resting(state, lane):
    """Whether a lane is done, or has come to the step at which it was to pause."""
    return done(state, lane) or state.step[lane] >= state.limit[lane, LIMIT_PAUSE]
