"""Crossover: a chain takes sentences of other chains where the whole document then scores higher."""

from gpusearch.kernels.judge import judge
from gpusearch.kernels.operations import trim
from gpusearch.kernels.options import packed, start_of, stop_of
from gpusearch.kernels.records import ACCEPTED, SENTENCE_SLOT, UNIT_FIRST_SENTENCE, UNIT_SENTENCES
from gpusearch.kernels.step import accept
from gpusearch.kernels.target import cpu_driver, shared


@shared
def cross(problem, search, state, scratch, lane, option, length, stop):
    """Offer a lane every sentence of every donor, until a whole round has brought nothing; how many it has taken.

    Donors are translations of the same unit: ``option`` (int32[R, P]) and ``length`` (int32[R, S]) as in the state.
    Where ``stop[0]`` is set meanwhile no further sentence is offered.
    """
    unit = state.unit[lane]
    taken = 0
    found = True
    while found:
        found = False
        for local in range(problem.unit[unit, UNIT_SENTENCES]):
            sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
            for donor in range(option.shape[0] if stop[0] == 0 else 0):
                if take_sentence(problem, search, state, scratch, lane, local, sentence, option, length, donor):
                    taken += 1
                    found = True
    return taken


@shared
def take_sentence(problem, search, state, scratch, lane, local, sentence, option, length, donor):
    """Take a donor's sentence where that raises the score; returns whether it does."""
    slots = problem.sentence[sentence, SENTENCE_SLOT]
    count = length[donor, local] + 0
    for k in range(count):
        other = option[donor, slots + k] + 0
        scratch.option[k] = other
        scratch.origin[k] = -1
        scratch.covers[k] = packed(start_of(problem, other), stop_of(problem, other))
    replaced = state.length[lane, local] + 0
    first, replaced, count = trim(problem, state, scratch, lane, sentence, 0, replaced, count)
    if first < 0:
        return False
    stage, _ = judge(problem, search, state, scratch, lane, sentence, first, replaced, count, 0)
    if stage != ACCEPTED:
        return False
    accept(problem, search, state, scratch, lane, local, first, replaced, count)
    return True


@cpu_driver
def cross_lanes(problem, search, state, scratch, lanes, option, length, taken, stop):
    """`cross` for the lanes listed (int64[*]), which belong to one unit; ``taken`` (int64[L]) counts sentences."""
    for lane in lanes:
        taken[lane] = cross(problem, search, state, scratch, lane, option, length, stop)
