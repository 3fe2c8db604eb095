"""Drivers for the CPU: the lanes of a list, one after the other. They release the GIL; threads take a list each.

A lane runs until it rests before the next one begins, so that its state stays in the cache.
"""

from gpusearch.kernels.commit import note_spans, refresh
from gpusearch.kernels.gibbs import take_step
from gpusearch.kernels.step import resting, start_monotone
from gpusearch.kernels.sweep import count_neighbours
from gpusearch.kernels.target import cpu_driver


@cpu_driver
def start_lanes(problem, search, state, scratch, lanes):
    """Random monotone translations in the lanes listed (int64[*])."""
    for lane in lanes:
        start_monotone(problem, search, state, scratch, lane)


@cpu_driver
def refresh_lanes(problem, search, state, scratch, lanes):
    """Scores and LM states of the lanes listed (int64[*]), from their phrases."""
    for lane in lanes:
        refresh(problem, search, state, scratch, lane)


@cpu_driver
def run_lanes(problem, search, state, scratch, lanes, stop):
    """Run the lanes listed (int64[*]) until each rests; sooner where ``stop[0]`` is set meanwhile."""
    for lane in lanes:
        while not (resting(state, lane) or stop[0]):
            take_step(search.gibbs, problem, search, state, scratch, lane)


@cpu_driver
def measure_lanes(problem, search, state, scratch, lanes, sizes):
    """How many neighbours a sweep looks at in each of the lanes listed (int64[*]): ``sizes`` (int64[L]).

    Of the state no more is read than ``option`` and ``length``; ``covers`` is written.
    """
    for lane in lanes:
        note_spans(problem, state, lane)
        sizes[lane] = count_neighbours(problem, search, state, scratch, lane)
