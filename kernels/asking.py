"""Drivers for the CPU that serve searches with language models on the host: what waits for an answer is left alone."""

from gpusearch.kernels.gibbs import draw_block
from gpusearch.kernels.records import WAITING
from gpusearch.kernels.step import conclude, draw_monotone, propose, resting
from gpusearch.kernels.target import cpu_driver, optional, shared


@cpu_driver
def draw_lanes(problem, search, state, scratch, lanes):
    """Phrases of random monotone translations in the lanes listed (int64[*]); `refresh_lanes` is to follow."""
    for lane in lanes:
        draw_monotone(problem, search, state, scratch, lane)


@shared
def advance_or_ask(problem, search, state, scratch, lane):
    """`advance`; or no change at all and True, where the step's proposal needs an answer that is not there."""
    step = state.step[lane]
    stage, operation, local, first, replaced, count = propose(problem, search, state, scratch, lane, step)
    if stage == WAITING:
        return True
    conclude(problem, search, state, scratch, lane, stage, operation, local, first, replaced, count)
    return False


@cpu_driver
def run_asking_lanes(problem, search, state, scratch, lanes, stop, question):
    """Run the lanes listed (int64[*]) until each rests or waits; sooner where ``stop[0]`` is set meanwhile.

    ``question[lane]`` (int64[L, 3]) is then what a waiting lane asks: model, state, word; the model is -1 elsewhere.
    """
    for lane in lanes:
        waits = False
        while not (waits or resting(state, lane) or stop[0]):
            waits = advance_or_ask(problem, search, state, scratch, lane)
        put_question(problem.host, scratch, question, lane, waits)


@cpu_driver
def sample_asking_lanes(problem, search, state, scratch, lanes, stop, question):
    """`run_asking_lanes` for the Gibbs sampler: a block that lacks an answer is drawn anew when it has come."""
    for lane in lanes:
        waits = False
        while not (waits or resting(state, lane) or stop[0]):
            waits = draw_block(problem, search, state, scratch, lane)
        put_question(problem.host, scratch, question, lane, waits)


def _asks_nothing(host, scratch, question, lane, waits):
    question[lane, 0] = -1


@optional(_asks_nothing)
def put_question(host, scratch, question, lane, waits):
    """Write down what a lane asks, if anything."""
    if waits:
        for column in range(3):
            question[lane, column] = scratch.question[column]
    else:
        question[lane, 0] = -1
