"""Proposals that are taken whatever they score: what takes a chain away from a local optimum."""

from gpusearch.kernels.commit import shift_slots
from gpusearch.kernels.judge import change_of_jumps, within_reach
from gpusearch.kernels.records import MOSES_CHECK, SENTENCE_SLOT, UNIT_FIRST_SENTENCE
from gpusearch.kernels.step import draw
from gpusearch.kernels.target import cpu_driver, shared


@shared
def perturb(problem, search, state, scratch, lane, proposals):
    """Take the next proposals of a lane, but for those that exceed the distortion limit; they count as steps.

    No score is looked at, and none is kept: `refresh` is to follow. So it needs no language model.
    """
    step = state.step[lane]
    for k in range(proposals):
        _, local, first, replaced, count = draw(problem, search, state, scratch, lane, step + k)
        if first < 0:
            continue
        sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
        _, fault = change_of_jumps(problem, search, state, scratch, lane, sentence, first, replaced, count)
        if fault < 0 or (
            search.number[MOSES_CHECK]
            and not within_reach(problem, search, state, scratch, lane, sentence, first, replaced, count)
        ):
            continue
        slots = problem.sentence[sentence, SENTENCE_SLOT]
        length = state.length[lane, local] + 0
        shift_slots(state, lane, slots + first + replaced, slots + length, count - replaced, 0)
        for place in range(count):
            state.option[lane, slots + first + place] = scratch.option[place]
            state.covers[lane, slots + first + place] = scratch.covers[place]
        state.length[lane, local] = length + count - replaced
    state.step[lane] = step + proposals


@cpu_driver
def perturb_lanes(problem, search, state, scratch, lanes, proposals):
    """Take so many proposals in each of the lanes listed (int64[*])."""
    for lane in lanes:
        perturb(problem, search, state, scratch, lane, proposals)
