"""Features of whole sentences that the beam can hold: those that are sums over the steps of a derivation.

What a step adds may depend on the words translated before it, on the span of the phrase translated last, and on its own
span. All hypotheses of a group and all options of a span add the same, so it is found once a grid; what the words
translated before say is noted for all spans that may follow.
"""

from gpusearch.kernels.beam_order import left_of
from gpusearch.kernels.target import by_type, optional


@by_type
def note_translated(feature, missing, sentence, gap, mask):
    """Note in `missing`, int32[DOCUMENT_MARKS], that the words in front of `gap` and those of `mask` are translated."""


@by_type
def gain(feature, missing, sentence, left, end, start, stop):
    """What the step to the words start .. stop - 1 adds to the score, 2^-40 nat; leaves `missing` as it was noted. The
    last phrase starts at `left` (where that is needed) and ends in front of `end`, which is 0 where there is none."""
    return 0


@by_type
def needs_span(feature):
    """Whether `gain` needs to know where the last phrase starts."""
    return False


def _nothing(document, work, sentence, gap, mask):
    return 0


@optional(_nothing)
def note_for_document(document, work, sentence, gap, mask):
    """`note_translated` for all features: `gain_of_document` is then asked of the steps from there."""
    return _note(document.features, work, 0, sentence, gap, mask)


def _noted(active, work, row, sentence, gap, mask):
    return 0


@optional(_noted)
def _note(active, work, row, sentence, gap, mask):
    note_translated(active.feature, work.missing[row], sentence, gap, mask)
    return _note(active.rest, work, row + 1, sentence, gap, mask)


def _no_gain(document, work, sentence, left, end, start, stop):
    return 0


@optional(_no_gain)
def gain_of_document(document, work, sentence, left, end, start, stop):
    """What a step adds to the score by all features, 2^-40 nat."""
    return _gains(document.features, work, 0, sentence, left, end, start, stop)


def _no_gains(active, work, row, sentence, left, end, start, stop):
    return 0


@optional(_no_gains)
def _gains(active, work, row, sentence, left, end, start, stop):
    own = gain(active.feature, work.missing[row], sentence, left, end, start, stop)
    return own + _gains(active.rest, work, row + 1, sentence, left, end, start, stop)


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
