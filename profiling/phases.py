"""Nanoseconds that the phases of a step take on one thread of the CPU, by loops that stop after each of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from gpusearch.kernels.judge import bound_change, judge
from gpusearch.kernels.records import LIMIT_PAUSE, UNIT_FIRST_SENTENCE, Problem, Search, State
from gpusearch.kernels.step import draw
from gpusearch.kernels.target import OPTIONS
from gpusearch.search.driver import CpuDriver
from gpusearch.search.state import make_scratch

PROBES = 10_000_000
# 16 MB: more than a core's own caches hold.
PROBED = np.arange(1 << 21)


@numba.njit(nogil=True, **OPTIONS)
def _draws(problem, search, state, scratch, lanes, steps):  # type: ignore[no-untyped-def]  # compiled
    total = 0
    for lane in lanes:
        for step in range(steps):
            _, _, first, _, _ = draw(problem, search, state, scratch, lane, state.step[lane] + step)
            total += first
    return total


@numba.njit(nogil=True, **OPTIONS)
def _bounds(problem, search, state, scratch, lanes, steps):  # type: ignore[no-untyped-def]  # compiled
    total = 0
    for lane in lanes:
        first_sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE]
        for step in range(steps):
            _, local, first, replaced, count = draw(problem, search, state, scratch, lane, state.step[lane] + step)
            if first >= 0:
                _, change = bound_change(
                    problem, search, state, scratch, lane, first_sentence + local, first, replaced, count
                )
                total += change
    return total


@numba.njit(nogil=True, **OPTIONS)
def _judgements(problem, search, state, scratch, lanes, steps):  # type: ignore[no-untyped-def]  # compiled
    total = 0
    for lane in lanes:
        first_sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE]
        for step in range(steps):
            _, local, first, replaced, count = draw(problem, search, state, scratch, lane, state.step[lane] + step)
            if first >= 0:
                stage, _ = judge(
                    problem, search, state, scratch, lane, first_sentence + local, first, replaced, count, 0
                )
                total += stage
    return total


@numba.njit(nogil=True, **OPTIONS)
def _probes(table, count):  # type: ignore[no-untyped-def]  # compiled
    place = 12345
    total = 0
    for _ in range(count):
        place = place * 6364136223846793005 + 1442695040888963407
        total += table[(place >> 33) & (table.shape[0] - 1)]
    return total


def phases(problem: Problem, search: Search, state: State, *, steps: int = 300, rounds: int = 3) -> dict[str, float]:
    """Nanoseconds a step of draw, bound, exact score and commit, for lanes where they stand; the least of some rounds.

    A loop that draws, one that also bounds, one that also scores, and whole steps; each phase is the difference of
    two. So "commit" holds all else that a step does. The state moves on by `steps` steps a lane and round.
    """
    lanes = np.arange(len(state.unit))
    scratch = make_scratch(problem)
    driver = CpuDriver(problem, search, state, threads=1)

    def run(*_: Any) -> None:
        state.limit[:, LIMIT_PAUSE] = state.step + steps
        driver.run(lanes, _nothing)

    times = []
    try:
        for loop in (_draws, _bounds, _judgements, run):  # type: Callable[..., Any]
            loop(problem, search, state, scratch, lanes[:1], 1)
            times.append(min(_cpu_seconds(loop, problem, search, state, scratch, lanes, steps) for _ in range(rounds)))
    finally:
        driver.close()
    each = np.diff([0.0, *times]) / (len(lanes) * steps) * 1e9
    return dict(zip(("draw", "bound", "exact score", "commit"), each.tolist(), strict=True))


def probe_nanoseconds() -> float:
    """A read at a random place of 16 MB: how fast memory is at present."""
    _probes(PROBED, 1)
    return _cpu_seconds(_probes, PROBED, PROBES) / PROBES * 1e9


def _cpu_seconds(function: Callable[..., Any], *arguments: Any) -> float:
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


def _nothing() -> None:
    """Nobody is told."""
