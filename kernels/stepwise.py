"""A step in phases, each a launch of its own over many lanes (CPU), so that others can take part between them.

    advance_rows  end the last step: count, commit; then draw, and bound what the change of the score can be, and
                  go on to the next step where that is too little
    score_rows    the exact words of the language models

What comes before and after the second sees `records.Proposals`, adds to ``outside`` and lowers ``stage``. The path is
that of `step.advance`.
"""

from gpusearch.kernels.asking import put_question
from gpusearch.kernels.judge import bound_change, exact_change
from gpusearch.kernels.policies import threshold_of_step
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_BOUND,
    EMPTY,
    OPEN,
    RESTING,
    UNIT_FIRST_SENTENCE,
    WAITING,
    Scratch,
)
from gpusearch.kernels.step import conclude, draw, resting
from gpusearch.kernels.target import cpu_driver, shared


@shared
def of_row(scratch, proposals, row):
    """Work space in which a row's proposal stands."""
    return Scratch(
        proposals.option[row],
        proposals.origin[row],
        proposals.covers[row],
        scratch.mark,
        scratch.random,
        scratch.memo_key,
        scratch.memo_value,
        scratch.question,
        scratch.ahead,
        scratch.changed,
    )


@shared
def put_row(proposals, row, stage, operation, local, first, replaced, count, threshold, total):
    """Write down the proposal of a row, about which nobody else has been asked yet."""
    proposals.stage[row] = stage
    proposals.operation[row] = operation
    proposals.sentence[row] = local
    proposals.first[row] = first
    proposals.replaced[row] = replaced
    proposals.count[row] = count
    proposals.threshold[row] = threshold
    proposals.total[row] = total
    proposals.outside[row] = 0


@shared
def propose_row(problem, search, state, scratch, proposals, row, headroom):
    """Draw and bound the proposal of the lane's present step: (stage, what `conclude` needs), OPEN where it is open.

    `headroom` is the most that others can add to the change of the score.
    """
    lane = proposals.lane[row]
    step = state.step[lane]
    operation, local, first, replaced, count = draw(problem, search, state, scratch, lane, step)
    stage = EMPTY
    least = 0
    total = 0
    if first >= 0:
        least = threshold_of_step(search.temperature, problem, search, state, scratch, lane, step)
        sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
        stage, total = bound_change(problem, search, state, scratch, lane, sentence, first, replaced, count)
        if stage == OPEN and total <= least - headroom:
            stage = BELOW_BOUND
    put_row(proposals, row, stage, operation, local, first, replaced, count, least, total)
    return stage


@shared
def conclude_row(problem, search, state, scratch, proposals, row):
    """End the step of a row's proposal: ACCEPTED, or a stage at which it was rejected."""
    lane = proposals.lane[row]
    stage = proposals.stage[row]
    conclude(
        problem,
        search,
        state,
        scratch,
        lane,
        stage,
        proposals.operation[row],
        proposals.sentence[row],
        proposals.first[row],
        proposals.replaced[row],
        proposals.count[row],
    )
    if stage == ACCEPTED:
        state.score[lane] = state.score[lane] + proposals.outside[row]


@cpu_driver
def advance_rows(problem, search, state, scratch, rows, proposals, headroom, stop):
    """End the steps of the rows listed (int64[*]), then let their lanes step until each rests or its proposal is open.

    A row that comes in as RESTING has no step to end. A set ``stop[0]`` makes lanes rest, too.
    """
    for row in rows:
        lane = proposals.lane[row]
        mine = of_row(scratch, proposals, row)
        stage = proposals.stage[row]
        going = True
        while going:
            if stage != RESTING:
                conclude_row(problem, search, state, mine, proposals, row)
            stage = RESTING
            if resting(state, lane) or stop[0]:
                going = False
            else:
                stage = propose_row(problem, search, state, mine, proposals, row, headroom)
                going = stage != OPEN
            proposals.stage[row] = stage


@cpu_driver
def score_rows(problem, search, state, scratch, rows, proposals, question):
    """Trade bounds for exact values in the open rows listed (int64[*]): ``stage`` and ``total`` follow.

    ACCEPTED is what is above the threshold with what others have said so far; ``question[row]`` (int64[R, 3]) is what a
    row asks that is WAITING, as in `run_asking_lanes`.
    """
    for row in rows:
        lane = proposals.lane[row]
        sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + proposals.sentence[row]
        stage, total = exact_change(
            problem,
            search,
            state,
            of_row(scratch, proposals, row),
            lane,
            sentence,
            proposals.first[row],
            proposals.replaced[row],
            proposals.count[row],
            proposals.threshold[row] - proposals.outside[row],
            proposals.total[row],
        )
        proposals.stage[row] = stage
        if stage == ACCEPTED:
            proposals.total[row] = total
        put_question(problem.host, scratch, question, row, stage == WAITING)
