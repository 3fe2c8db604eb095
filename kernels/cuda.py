"""Drivers for CUDA: persistent kernels, a block for a lane.

The threads of a block judge the proposals of as many steps at once, all against the same state. The first that is
accepted is committed, and the step counter goes on right behind it: the path is that of the serial chain for any
number of threads. Threads agree by shared memory, atomics and barriers, which the simulator has too.

This module needs numba-cuda; nothing else imports it at the top.
"""

from functools import cache

import numpy as np
from numba import cuda

from gpusearch.kernels.commit import refresh
from gpusearch.kernels.document import changed_of_thread
from gpusearch.kernels.philox import VISIT_END
from gpusearch.kernels.records import LIMIT_PAUSE, LIMIT_REJECTED, LIMIT_STEPS, RANDOM, Scratch
from gpusearch.kernels.step import decides, propose, resting, settle, start_monotone
from gpusearch.kernels.target import cuda_driver, interpreted, shared


@shared
def of_thread(scratch, row, random):
    """One thread's part of the work space. Its random stream stands in local memory: nothing else can point there.

    That memory begins as whatever was there, maybe the stream of a chain of equal key, whose visit must not go on.
    """
    random[VISIT_END] = 0
    return Scratch(
        scratch.option[row],
        scratch.origin[row],
        scratch.covers[row],
        scratch.mark[row],
        random,
        scratch.memo_key,
        scratch.memo_value,
        scratch.question,
        scratch.ahead,
        changed_of_thread(scratch.changed, row),
    )


def start_lanes(problem, search, state, scratch, lanes):
    """Random monotone translations in the lanes listed (int64[*]); one thread a lane."""
    problem, search, state = interpreted(problem), interpreted(search), interpreted(state)
    mine = interpreted(of_thread(scratch, cuda.grid(1), cuda.local.array(RANDOM, np.int64)))
    for place in range(cuda.grid(1), lanes.shape[0], cuda.gridsize(1)):
        start_monotone(problem, search, state, mine, int(lanes[place]))


def refresh_lanes(problem, search, state, scratch, lanes):
    """Scores and LM states of the lanes listed (int64[*]), from their phrases; one thread a lane."""
    problem, search, state = interpreted(problem), interpreted(search), interpreted(state)
    mine = interpreted(of_thread(scratch, cuda.grid(1), cuda.local.array(RANDOM, np.int64)))
    for place in range(cuda.grid(1), lanes.shape[0], cuda.gridsize(1)):
        refresh(problem, search, state, mine, int(lanes[place]))


def run_lanes(problem, search, state, scratch, lanes, steps):
    """At most `steps` steps in each of the lanes listed (int64[*]), until it rests; one block a lane."""
    tally = state.tally
    problem, search, state = interpreted(problem), interpreted(search), interpreted(state)
    decisive = cuda.shared.array(1, np.int32)
    thread = cuda.threadIdx.x
    mine = interpreted(of_thread(scratch, cuda.grid(1), cuda.local.array(RANDOM, np.int64)))
    for place in range(cuda.blockIdx.x, lanes.shape[0], cuda.gridDim.x):
        lane = int(lanes[place])
        taken = 0
        while taken < steps and not resting(state, lane):
            step = state.step[lane]
            many = min(cuda.blockDim.x, steps - taken, state.limit[lane, LIMIT_STEPS] - step)
            many = min(many, state.limit[lane, LIMIT_PAUSE] - step)
            many = min(many, state.limit[lane, LIMIT_REJECTED] - state.rejected[lane])
            if thread == 0:
                decisive[0] = many
            cuda.syncthreads()
            stage = operation = local = first = replaced = count = 0
            if thread < many:
                stage, operation, local, first, replaced, count = propose(
                    problem, search, state, mine, lane, step + thread
                )
                if decides(search, stage):
                    cuda.atomic.min(decisive, 0, thread)
            cuda.syncthreads()
            winner = int(decisive[0])
            if thread < many and thread <= winner:
                cuda.atomic.add(tally, (lane, operation, stage), 1)
            if winner == many:  # none: there may be a thread of this number, which has judged nothing
                if thread == 0:
                    state.step[lane] = step + many
                    state.rejected[lane] = state.rejected[lane] + many
            elif thread == winner:
                settle(problem, search, state, mine, lane, step + winner, stage, local, first, replaced, count)
            taken += min(winner + 1, many)
            cuda.syncthreads()


KERNELS = (start_lanes, refresh_lanes, run_lanes)


@cache
def compiled(kernel, registers=None):
    """The kernel, compiled when it is first launched; see `cuda_driver`."""
    return cuda_driver(kernel, registers)
