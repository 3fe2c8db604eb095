"""Drivers for the CPU: a range of lanes, one after the other. They release the GIL; threads take a range each.

A lane runs for thousands of steps before the next one begins, so that its state stays in the cache.
"""

from gpusearch.kernels.commit import refresh
from gpusearch.kernels.step import advance, done, start_monotone
from gpusearch.kernels.target import cpu_driver


@cpu_driver
def start_lanes(problem, search, state, scratch, first, last):
    """Random monotone translations in the lanes first .. last - 1."""
    for lane in range(first, last):
        start_monotone(problem, search, state, scratch, lane)


@cpu_driver
def refresh_lanes(problem, search, state, scratch, first, last):
    """Compute scores and LM states of the lanes first .. last - 1 from their phrases."""
    for lane in range(first, last):
        refresh(problem, search, state, scratch, lane)


@cpu_driver
def run_lanes(problem, search, state, scratch, first, last, steps, stop):
    """At most `steps` steps in each of the lanes first .. last - 1; fewer where ``stop[0]`` is set meanwhile."""
    for lane in range(first, last):
        for _ in range(steps):
            if done(state, lane) or stop[0]:
                break
            advance(problem, search, state, scratch, lane)
