"""A block of the sampler in phases, each a launch of its own over many lanes (CPU), so that others can take part.

    begin_blocks     pass over empty blocks, up to one that has candidates
    open_candidates  each of these becomes a row of `records.Proposals`, with its noise
    take_candidates  end the step with the candidate that was drawn

Between the last two `stepwise.score_rows` and those outside say what each row changes. The path is that of
`gibbs.draw_block`.
"""

from gpusearch.kernels.gibbs import LEAST, own_noise, take
from gpusearch.kernels.gibbs_blocks import block_of_step, put_candidate
from gpusearch.kernels.judge import bound_change
from gpusearch.kernels.operations import trim
from gpusearch.kernels.records import ACCEPTED, EMPTY, UNIT_FIRST_SENTENCE
from gpusearch.kernels.step import resting
from gpusearch.kernels.stepwise import of_row, put_row
from gpusearch.kernels.target import cpu_driver, shared


@cpu_driver
def begin_blocks(problem, search, state, scratch, lanes, amount, stop):
    """Let the lanes listed (int64[*]) pass over empty blocks; ``amount[lane]``: candidates of the one that follows, 0
    where the lane rests before it. A set ``stop[0]`` makes lanes rest, too."""
    for lane in lanes:
        amount[lane] = 0
        while not (amount[lane] > 0 or resting(state, lane) or stop[0]):
            operator, local, first, replaced, candidates, one, two, three = block_of_step(
                problem, search, state, lane, state.step[lane]
            )
            amount[lane] = candidates
            if candidates == 0:
                take(problem, search, state, scratch, lane, operator, local, first, replaced, one, two, three, -1)


@shared
def open_candidate(
    problem, search, state, scratch, proposals, row, operator, local, first, replaced, one, two, three, number
):
    """Put a candidate into a row: EMPTY where there is none, ACCEPTED without phrases where it is what is there."""
    lane = proposals.lane[row]
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
    count = put_candidate(
        problem, search, state, scratch, lane, sentence, operator, first, replaced, one, two, three, number
    )
    stage = EMPTY
    total = 0
    if count >= 0:
        first, replaced, count = trim(problem, state, scratch, lane, sentence, first, replaced, count)
        stage = ACCEPTED
        if first >= 0:
            stage, total = bound_change(problem, search, state, scratch, lane, sentence, first, replaced, count)
    put_row(proposals, row, stage, operator, local, first, replaced, count, LEAST, total)


@cpu_driver
def open_candidates(problem, search, state, scratch, places, lanes, begin, proposals, noise):
    """The candidates of the lanes at these places (int64[*]) of `lanes`, in the rows from ``begin[place]`` on.

    ``noise[row]``: what is added to the change of the score, 2^-40 nat.
    """
    for place in places:
        lane = lanes[place]
        step = state.step[lane]
        operator, local, first, replaced, candidates, one, two, three = block_of_step(
            problem, search, state, lane, step
        )
        for number in range(candidates):
            row = begin[place] + number
            mine = of_row(scratch, proposals, row)
            open_candidate(
                problem, search, state, mine, proposals, row, operator, local, first, replaced, one, two, three, number
            )
            noise[row] = own_noise(problem, search, state, lane, step, number)


@cpu_driver
def take_candidates(problem, search, state, scratch, places, lanes, winner):
    """End the steps of the lanes at these places (int64[*]) of `lanes` with the candidates ``winner[place]``."""
    for place in places:
        lane = lanes[place]
        operator, local, first, replaced, _, one, two, three = block_of_step(
            problem, search, state, lane, state.step[lane]
        )
        take(problem, search, state, scratch, lane, operator, local, first, replaced, one, two, three, winner[place])
