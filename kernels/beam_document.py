"""Features of whole sentences that the beam can hold: those that are sums over the steps of a derivation.

What a step adds may depend on the words translated before it, on the span of the phrase translated last, and on its own
span. All hypotheses of a group and all options of a span add the same, so it is found once a grid.
"""

from gpusearch.kernels.beam_order import left_of
from gpusearch.kernels.records import ACTIVE_WEIGHT
from gpusearch.kernels.target import by_type, optional


@by_type
def gain(feature, problem, missing, sentence, gap, mask, left, end, start, stop):
    """What a step adds to a feature's value, 2^-20: the words in front of `gap` and those of `mask` are translated, the
    last of them start at `left` (where that is needed) and end in front of `end`; the step's are start .. stop - 1."""
    return 0


@by_type
def needs_span(feature):
    """Whether `gain` needs to know where the last phrase starts."""
    return False


def _no_gain(document, problem, work, sentence, gap, mask, left, end, start, stop):
    return 0


@optional(_no_gain)
def gain_of_document(document, problem, work, sentence, gap, mask, left, end, start, stop):
    """What a step adds to the score by all features, 2^-40 nat."""
    return _gains(document.features, problem, work.missing, sentence, gap, mask, left, end, start, stop)


@optional(_no_gain)
def _gains(active, problem, missing, sentence, gap, mask, left, end, start, stop):
    own = gain(active.feature, problem, missing, sentence, gap, mask, left, end, start, stop)
    rest = _gains(active.rest, problem, missing, sentence, gap, mask, left, end, start, stop)
    return active.number[ACTIVE_WEIGHT] * own + rest


def _not_kept(document, work, grid, gained):
    return 0


@optional(_not_kept)
def keep_gain(document, work, grid, gained):
    """Note what the step of a grid adds."""
    work.grid_gain[grid] = gained
    return gained


def _none_kept(document, work, grid):
    return 0


@optional(_none_kept)
def kept_gain(document, work, grid):
    """What the step of a grid adds."""
    return work.grid_gain[grid] + 0


def _as_reordering_needs(document, problem, gap, mask, start):
    return left_of(problem.reordering, gap, mask, start)


@optional(_as_reordering_needs)
def left_to_keep(document, problem, gap, mask, start):
    """The start of the last phrase as far as it may matter to what follows, else -1."""
    if _any_needs_span(document.features):
        return start
    return left_of(problem.reordering, gap, mask, start)


def _none_needs_span(active):
    return False


@optional(_none_needs_span)
def _any_needs_span(active):
    return needs_span(active.feature) or _any_needs_span(active.rest)
