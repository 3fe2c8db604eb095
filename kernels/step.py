"""One step of a chain: draw, judge, commit; and the chain itself."""

from gpusearch.kernels.commit import commit, refresh
from gpusearch.kernels.docent import cover_sentence, draw_as_docent
from gpusearch.kernels.hastings import reversible
from gpusearch.kernels.judge import judge
from gpusearch.kernels.operations import (
    change,
    draw_operation,
    insertion,
    linearise,
    move,
    permute,
    resegment,
    split_and_swap,
    swap,
    trim,
)
from gpusearch.kernels.philox import INITIAL, open_proposal, open_stream
from gpusearch.kernels.policies import threshold_of_step
from gpusearch.kernels.records import (
    ACCEPTED,
    CHANGE,
    EMPTY,
    GIVEN_UP,
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
    UNIT_KEY_HIGH,
    UNIT_KEY_LOW,
    UNIT_SENTENCES,
    WAITING,
)
from gpusearch.kernels.sweep import propose_group
from gpusearch.kernels.target import optional, shared
from gpusearch.kernels.visits import visited_sentence


@shared
def draw(problem, search, state, scratch, lane, step):
    """Draw the proposal of a step: (operation, sentence within the unit, first slot, slots replaced, phrases put in).

    The first slot is -1 where the draw is empty. What the proposal shares with the state at either end is cut off.
    """
    unit = state.unit[lane]
    open_proposal(
        scratch.ahead,
        scratch.random,
        problem.unit[unit, UNIT_KEY_LOW],
        problem.unit[unit, UNIT_KEY_HIGH],
        step,
        state.chain[lane],
    )
    return draw_proposal(search.docent, problem, search, state, scratch, lane)


def _draw_as_we_do(docent, problem, search, state, scratch, lane):
    unit = state.unit[lane]
    local = visited_sentence(problem, search, scratch.random, unit)
    operation = draw_operation(search, scratch.random)
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
    if first >= 0:
        first = reversible(
            search.hastings, problem, search, state, scratch, lane, sentence, operation, phrases, first, replaced, count
        )
    if first >= 0 and operation != CHANGE:
        first, replaced, count = trim(problem, state, scratch, lane, sentence, first, replaced, count)
    return operation, local, first, replaced, count


@optional(_draw_as_we_do)
def draw_proposal(docent, problem, search, state, scratch, lane):
    """A proposal from the open stream: ours, or with the record `docent` Docent's."""
    return draw_as_docent(docent, problem, search, state, scratch, lane)


@shared
def propose(problem, search, state, scratch, lane, step):
    """The judged proposal of a step: (stage it reaches, operation, sentence, first, replaced, count).

    Changes nothing but `scratch`: many steps may be judged at once against one state, and the first proposal that is
    accepted is the one that the serial chain would have come to.
    """
    return next_proposal(search.sweep, problem, search, state, scratch, lane, step)


def _drawn(sweep, problem, search, state, scratch, lane, step):
    operation, local, first, replaced, count = draw(problem, search, state, scratch, lane, step)
    stage = EMPTY
    if first >= 0:
        sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
        least = threshold_of_step(search.temperature, problem, search, state, scratch, lane, step)
        stage, _ = judge(problem, search, state, scratch, lane, sentence, first, replaced, count, least)
    return stage, operation, local, first, replaced, count


@optional(_drawn)
def next_proposal(sweep, problem, search, state, scratch, lane, step):
    """The proposal of a step: drawn, or with the record `sweep` the best of its group."""
    return propose_group(sweep, problem, search, state, scratch, lane, step)


@shared
def decides(search, stage):
    """Whether a proposal that comes to this stage is the last one judged against a state.

    A step without a proposal is where it ends the chain: Docent gives up, a sweep has come to its end.
    """
    return stage == ACCEPTED or (stage == EMPTY and (ends_at_nothing(search.docent) or ends_at_nothing(search.sweep)))


def _goes_on(record):
    return False


@optional(_goes_on)
def ends_at_nothing(record):
    """Whether a step without a proposal ends a chain: where it has this record."""
    return True


@shared
def accept(problem, search, state, scratch, lane, local, first, replaced, count):
    """Commit a proposal to a sentence of the lane's unit."""
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
    commit(problem, search, state, scratch, lane, local, sentence, first, replaced, count)


@shared
def settle(problem, search, state, scratch, lane, step, stage, local, first, replaced, count):
    """Write down what becomes of the proposal of a step that decides; none before it was accepted."""
    if stage == ACCEPTED:
        state.step[lane] = step + 1
        state.rejected[lane] = 0
        accept(problem, search, state, scratch, lane, local, first, replaced, count)
    else:
        state.step[lane] = step
        state.rejected[lane] = GIVEN_UP


@shared
def advance(problem, search, state, scratch, lane):
    """One step of a search: a proposal above its threshold is taken (Hardmeier et al. 2012, algorithm 1).

    Or no change at all and True, where the proposal needs an answer of the host that is not there.
    """
    step = state.step[lane]
    stage, operation, local, first, replaced, count = propose(problem, search, state, scratch, lane, step)
    if stage == WAITING:
        return True
    conclude(problem, search, state, scratch, lane, stage, operation, local, first, replaced, count)
    return False


@shared
def conclude(problem, search, state, scratch, lane, stage, operation, local, first, replaced, count):
    """End a step whose proposal has come to `stage`: count it, and commit it where it is accepted."""
    step = state.step[lane]
    state.tally[lane, operation, stage] = state.tally[lane, operation, stage] + 1
    if decides(search, stage):
        settle(problem, search, state, scratch, lane, step, stage, local, first, replaced, count)
    else:
        state.step[lane] = step + 1
        state.rejected[lane] = state.rejected[lane] + 1


@shared
def start_monotone(problem, search, state, scratch, lane):
    """A random translation in source order, every sentence covered from left to right (sec. 2.4); another one for each
    step at which a chain begins anew."""
    draw_monotone(problem, search, state, scratch, lane)
    refresh(problem, search, state, scratch, lane)


@shared
def draw_monotone(problem, search, state, scratch, lane):
    """The phrases of `start_monotone`; what follows from them is left to `refresh`."""
    unit = state.unit[lane]
    open_stream(
        scratch.random,
        problem.unit[unit, UNIT_KEY_LOW],
        problem.unit[unit, UNIT_KEY_HIGH],
        state.step[lane] + 0,
        state.chain[lane],
        INITIAL,
    )
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        slots = problem.sentence[sentence, SENTENCE_SLOT]
        words = problem.sentence[sentence, SENTENCE_WORDS]
        count = cover_sentence(search.docent, problem, search, scratch, sentence, words)
        for slot in range(count):
            state.option[lane, slots + slot] = scratch.option[slot]
        state.length[lane, local] = count


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
