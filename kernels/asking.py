"""Drivers for the CPU that serve searches with language models on the host: what waits for an answer is left alone."""

from gpusearch.kernels.gibbs import take_step
from gpusearch.kernels.step import draw_monotone, resting
from gpusearch.kernels.target import cpu_driver, optional


@cpu_driver
def draw_lanes(problem, search, state, scratch, lanes):
    """Phrases of random monotone translations in the lanes listed (int64[*]); `refresh_lanes` is to follow."""
    for lane in lanes:
        draw_monotone(problem, search, state, scratch, lane)


@cpu_driver
def run_asking_lanes(problem, search, state, scratch, lanes, stop, question):
    """Run the lanes listed (int64[*]) until each rests or waits; sooner where ``stop[0]`` is set meanwhile.

    ``question[lane]`` (int64[L, 3]) is then what a waiting lane asks: model, state, word; the model is -1 elsewhere.
    """
    for lane in lanes:
        waits = False
        while not (waits or resting(state, lane) or stop[0]):
            waits = take_step(search.gibbs, problem, search, state, scratch, lane)
        put_question(problem.host, scratch, question, lane, waits)


def _asks_nothing(host, scratch, question, row, waits):
    question[row, 0] = -1


@optional(_asks_nothing)
def put_question(host, scratch, question, row, waits):
    """Write down what is asked, if anything."""
    if waits:
        for column in range(3):
            question[row, column] = scratch.question[column]
    else:
        question[row, 0] = -1
