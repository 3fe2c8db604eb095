"""The Gibbs sampler on CUDA: a block of threads for a lane, which shares the candidates of each step.

Each thread weighs its candidates against the best sum that any thread has found so far. When a thread reads that makes
no difference: a sum that is given up is below another one. Equal sums stay in, and the first candidate wins.
"""

import numpy as np
from numba import cuda

from gpusearch.kernels.cuda import of_thread
from gpusearch.kernels.gibbs import LEAST, take, weigh
from gpusearch.kernels.gibbs_blocks import block_of_step
from gpusearch.kernels.records import ACCEPTED, RANDOM
from gpusearch.kernels.step import resting
from gpusearch.kernels.target import interpreted


def sample_lanes(problem, search, state, scratch, lanes, steps):
    """At most `steps` steps in each of the lanes listed (int64[*]), until it rests; one block a lane."""
    problem, search, state = interpreted(problem), interpreted(search), interpreted(state)
    most = cuda.shared.array(1, np.int64)
    winner = cuda.shared.array(1, np.int64)
    thread = cuda.threadIdx.x
    mine = interpreted(of_thread(scratch, cuda.grid(1), cuda.local.array(RANDOM, np.int64)))
    for place in range(cuda.blockIdx.x, lanes.shape[0], cuda.gridDim.x):
        lane = int(lanes[place])
        taken = 0
        while taken < steps and not resting(state, lane):
            step = state.step[lane]
            operator, local, first, replaced, candidates, one, two, three = block_of_step(
                problem, search, state, lane, step
            )
            if thread == 0:
                most[0] = LEAST
                winner[0] = candidates
            cuda.syncthreads()
            best = LEAST
            chosen = -1
            for candidate in range(thread, candidates, cuda.blockDim.x):
                stage, value = weigh(
                    problem, search, state, mine, lane, step, operator, local, first, replaced, one, two, three,
                    candidate, max(best, int(most[0]) - 1),
                )  # fmt: skip
                if stage == ACCEPTED:
                    best = value
                    chosen = candidate
                    cuda.atomic.max(most, 0, value)
            cuda.syncthreads()
            if chosen >= 0 and best == most[0]:
                cuda.atomic.min(winner, 0, chosen)
            cuda.syncthreads()
            if thread == 0:
                last = int(winner[0]) if candidates > 0 else -1
                take(problem, search, state, mine, lane, operator, local, first, replaced, one, two, three, last)
            taken += 1
            cuda.syncthreads()
