"""A step of the Gibbs sampler: draw one member of a block in proportion to its probability (Arun et al. 2010, sec. 2).

By the Gumbel-max method: each candidate's score, times the scale, gets a noise of its own, and the largest sum wins.
Here everything is divided by the scale: change of the score + temperature * noise, in 2^-40 nat. The noise comes first,
so that the best sum so far is a threshold: most candidates cannot exceed it by the bound of the language models and are
given up without a look-up, which changes no result. Of equal sums the first candidate's is taken.
"""

from gpusearch.kernels.fixed import noise
from gpusearch.kernels.gibbs_blocks import block_of_step, put_candidate
from gpusearch.kernels.judge import judge
from gpusearch.kernels.operations import trim
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_SCORE,
    EMPTY,
    GIBBS_BOUNDED,
    LIMIT_STEPS,
    TEMPERATURE_BITS,
    UNIT_FIRST_SENTENCE,
    UNIT_KEY_HIGH,
    UNIT_KEY_LOW,
    WAITING,
)
from gpusearch.kernels.step import accept, advance
from gpusearch.kernels.target import optional, shared

# Below every sum.
LEAST = -(1 << 62)
# Bits of the noise that are multiplied by themselves, so that no product comes to 2^63.
LOW_BITS = 20


@shared
def temperature_of(search, state, lane, step):
    """1 / scale at a step, 2^-28: the steps to the limit are shared evenly among the temperatures."""
    many = search.gibbs.temperature.shape[0]
    phase = 0
    if many > 1:
        phase = min(step * many // state.limit[lane, LIMIT_STEPS], many - 1)
    return search.gibbs.temperature[phase]


@shared
def tempered(temperature, value):
    """temperature * value for a temperature of at most 2^36 and a value within +-2^46."""
    high = (value >> LOW_BITS) * temperature >> (TEMPERATURE_BITS - LOW_BITS)
    return high + ((value & ((1 << LOW_BITS) - 1)) * temperature >> TEMPERATURE_BITS)


@shared
def own_noise(problem, search, state, lane, step, candidate):
    """Temperature * noise of a candidate of a step, 2^-40 nat."""
    unit = state.unit[lane]
    return tempered(
        temperature_of(search, state, lane, step),
        noise(
            search.logarithm,
            problem.unit[unit, UNIT_KEY_LOW],
            problem.unit[unit, UNIT_KEY_HIGH],
            step,
            state.chain[lane],
            candidate,
        ),
    )


@shared
def weigh(
    problem, search, state, scratch, lane, step, operator, local, first, replaced, one, two, three, candidate, best
):
    """(ACCEPTED, change of the score + noise) of a candidate where that exceeds `best`.

    The stage is WAITING where the host must be asked first, and another one where the sum is not above `best` or there
    is no such candidate.
    """
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
    count = put_candidate(
        problem, search, state, scratch, lane, sentence, operator, first, replaced, one, two, three, candidate
    )
    if count < 0:
        return EMPTY, 0
    own = own_noise(problem, search, state, lane, step, candidate)
    threshold = best - own if search.gibbs.number[GIBBS_BOUNDED] else LEAST
    first, replaced, count = trim(problem, state, scratch, lane, sentence, first, replaced, count)
    if first < 0:  # what is there
        stage, change = ACCEPTED, 0
    else:
        stage, change = judge(problem, search, state, scratch, lane, sentence, first, replaced, count, threshold)
    if stage == ACCEPTED and change + own <= best:
        stage = BELOW_SCORE
    return stage, change + own


@shared
def take(problem, search, state, scratch, lane, operator, local, first, replaced, one, two, three, candidate):
    """End a step with a candidate: commit it where it changes something, and count."""
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
    stage = EMPTY
    if candidate >= 0:
        count = put_candidate(
            problem, search, state, scratch, lane, sentence, operator, first, replaced, one, two, three, candidate
        )
        first, replaced, count = trim(problem, state, scratch, lane, sentence, first, replaced, count)
        stage = BELOW_SCORE
        if first >= 0:
            stage = ACCEPTED
            accept(problem, search, state, scratch, lane, local, first, replaced, count)
    state.tally[lane, operator, stage] = state.tally[lane, operator, stage] + 1
    state.step[lane] = state.step[lane] + 1


@shared
def draw_block(problem, search, state, scratch, lane):
    """One step of a lane; or no change at all and True, where the host must be asked first."""
    step = state.step[lane]
    operator, local, first, replaced, candidates, one, two, three = block_of_step(problem, search, state, lane, step)
    best = LEAST
    winner = -1
    for candidate in range(candidates):
        stage, value = weigh(
            problem, search, state, scratch, lane, step, operator, local, first, replaced, one, two, three,
            candidate, best,
        )  # fmt: skip
        if stage == WAITING:
            return True
        if stage == ACCEPTED:
            best = value
            winner = candidate
    take(problem, search, state, scratch, lane, operator, local, first, replaced, one, two, three, winner)
    return False


def _climb(gibbs, problem, search, state, scratch, lane):
    return advance(problem, search, state, scratch, lane)


@optional(_climb)
def take_step(gibbs, problem, search, state, scratch, lane):
    """A step of a chain: of the sampler where there is one, else of hill climbing. Returns whether it waits."""
    return draw_block(problem, search, state, scratch, lane)
