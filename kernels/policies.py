"""Which proposals are accepted: the threshold of every search policy, known before anything is scored.

A proposal S' of a state S is taken if

    f(S') - f(S) > T (ln u + ln q(S -> S') - ln q(S' -> S))

with the step's own u, uniform. At temperature T = 0 that is hill climbing; without the q, annealing (Kirkpatrick et
al. 1983); with them the chain's distribution is proportional to exp(f / T) (Metropolis et al. 1953, Hastings 1970).
Since the threshold comes first, the bound of the language models rejects for every policy alike.
"""

from gpusearch.kernels.docent import threshold
from gpusearch.kernels.fixed import minus_log_long, times
from gpusearch.kernels.hastings import drawn_ratio
from gpusearch.kernels.philox import ACCEPTANCE, MASK, philox
from gpusearch.kernels.records import LIMIT_STEPS, LIMIT_TEMPERATURE, UNIT_KEY_HIGH, UNIT_KEY_LOW
from gpusearch.kernels.target import optional, shared


@shared
def temperature_of(temperature, state, lane, step):
    """Temperature of a step, 2^-28 nat: the steps to the limit are shared evenly among the levels."""
    levels = temperature.level.shape[0]
    if levels == 0:
        return state.limit[lane, LIMIT_TEMPERATURE]
    level = 0
    if levels > 1:
        level = min(step * levels // state.limit[lane, LIMIT_STEPS], levels - 1)
    return temperature.level[level]


def _climb(temperature, problem, search, state, scratch, lane, step):
    return threshold(search.docent)


@optional(_climb)
def threshold_of_step(temperature, problem, search, state, scratch, lane, step):
    """What a step's proposal must change the score by, and more, to be taken, 2^-40 nat."""
    heat = temperature_of(temperature, state, lane, step)
    if heat == 0:
        return 0
    unit = state.unit[lane]
    high, low, _, _ = philox(
        step & MASK,
        step >> 32,
        state.chain[lane],
        ACCEPTANCE,
        problem.unit[unit, UNIT_KEY_LOW],
        problem.unit[unit, UNIT_KEY_HIGH],
    )
    return times(heat, drawn_ratio(search.hastings, scratch.random) - minus_log_long(search.logarithm, high, low))
