"""ln q(S -> S') - ln q(S' -> S) of a proposal, where chains are to have a distribution of their own (Hastings 1970).

q is the probability of an operation's choices. Each proposal has one inverse: choices of the same operation that lead
from S' back to S, and have this proposal as their own inverse. So detailed balance holds operation by operation, even
choice by choice. A draw that comes to nothing stays where it is (`operations.tries`: it is not repeated), and so does
one whose inverse is never drawn.

- *change*: back to the old option of the same slot. Options are drawn among the others, p / (1 - p of the present one).
- *swap*, *permute*: the same places, the order undone; equally likely.
- *move*: the block goes back; likely as the other direction is.
- *resegment*: the same words from the new phrases; blocks are drawn by their number of phrases. There is none where
  the old phrases stand in an order that new ones never have.
- *insertion*: the option that was there from the same word on. There is one where the new option begins with the first
  phrase that gives way and the longer one of the two covers whole phrases of the other state, that stand together in
  the order of the source.
- *split and swap*: two neighbours, exchanged, become one phrase (`operations.merge_exchanged`); half of the draws try
  that.
- *linearise* has none: an order that it undoes is never restored.
"""

from gpusearch.kernels.options import behind, first_of, longest_of, span_row
from gpusearch.kernels.philox import NOTED, RATIO
from gpusearch.kernels.records import (
    CHANGE,
    HASTINGS_EXCHANGED,
    HASTINGS_IN_ORDER,
    HASTINGS_RIGHT,
    INSERTION,
    LINEARISE,
    MOVE,
    NEVER,
    RESEGMENT,
    SENTENCE_SLOT,
    SPLIT_AND_SWAP,
)
from gpusearch.kernels.target import optional, shared

# Columns of Hastings.option and .block.
DRAWN, NOT_DRAWN = range(2)
OF_LENGTH, OF_ALL = range(2)


def _as_drawn(hastings, problem, search, state, scratch, lane, sentence, operation, phrases, first, replaced, count):
    return first


@optional(_as_drawn)
def reversible(hastings, problem, search, state, scratch, lane, sentence, operation, phrases, first, replaced, count):
    """The first slot of a proposal, -1 where its inverse is never drawn; the ratio goes into the stream."""
    ratio = ratio_of(problem, search, state, scratch, lane, sentence, operation, phrases, first, replaced, count)
    scratch.random[RATIO] = ratio
    if ratio == NEVER:
        return -1
    return first


def _no_ratio(hastings, random):
    return 0


@optional(_no_ratio)
def drawn_ratio(hastings, random):
    """ln q(S -> S') - ln q(S' -> S) of the proposal that was drawn last, 2^-40 nat."""
    return random[RATIO]


@shared
def ratio_of(problem, search, state, scratch, lane, sentence, operation, phrases, first, replaced, count):
    """ln q(S -> S') - ln q(S' -> S) of a proposal that is not trimmed yet, 2^-40 nat; or NEVER."""
    hastings = search.hastings
    slot = problem.sentence[sentence, SENTENCE_SLOT] + first
    if operation == CHANGE:
        old = state.option[lane, slot]
        new = scratch.option[0]
        return (
            hastings.option[new, DRAWN]
            + hastings.option[new, NOT_DRAWN]
            - hastings.option[old, DRAWN]
            - hastings.option[old, NOT_DRAWN]
        )
    if operation == MOVE:
        return scratch.random[NOTED] * hastings.number[HASTINGS_RIGHT]
    if operation == RESEGMENT:
        forth = block_drawn(hastings, replaced, phrases)
        back = block_drawn(hastings, count, phrases - replaced + count)
        if back != NEVER:
            forth += covers_drawn(problem, search, sentence, scratch.option, scratch.covers, 0, count)
            more = covers_drawn(problem, search, sentence, state.option[lane], state.covers[lane], slot, replaced)
            back = more if more == NEVER else back + more
        return NEVER if back == NEVER else forth - back
    if operation == INSERTION:
        return ratio_of_insertion(problem, search, state, scratch, lane, sentence, slot, replaced, count)
    if operation == SPLIT_AND_SWAP:
        return ratio_of_split(problem, search, state, scratch, lane, slot, phrases, replaced)
    if operation == LINEARISE:
        return NEVER
    return 0


@shared
def block_drawn(hastings, block, phrases):
    """ln of the probability that a block of so many phrases is drawn of all; its place left out; or NEVER."""
    most = hastings.block.shape[0] - 1
    if block > most or hastings.block[block, OF_LENGTH] == NEVER:
        return NEVER
    return hastings.block[block, OF_LENGTH] - hastings.block[min(phrases, most), OF_ALL]


@shared
def cover_drawn(problem, search, sentence, option, start, stop):
    """ln of the probability of an option as the next one where the words start .. stop - 1 are covered."""
    row = span_row(problem, sentence, start, 1)
    lengths = problem.length[row + min(longest_of(problem, sentence), stop - start) - 1, 0]
    return search.hastings.option[option, DRAWN] - search.hastings.count[lengths]


@shared
def covers_drawn(problem, search, sentence, option, covers, first, count):
    """ln of the probability that a block's words are covered by these phrases, in their order; or NEVER.

    `option` and `covers` are rows with the phrases from index `first` on: those of the state, or of the proposal.
    """
    hastings = search.hastings
    start = 1 << 30
    stop = 0
    for k in range(count):
        start = min(start, first_of(covers[first + k] + 0))
        stop = max(stop, behind(covers[first + k] + 0))
    total = 0
    exchanged = False
    k = 0
    while k < count:
        here = covers[first + k] + 0
        if first_of(here) == start:
            total += cover_drawn(problem, search, sentence, option[first + k], start, stop)
            start = behind(here)
            k += 1
        else:
            if exchanged or k + 1 == count:
                return NEVER
            after = covers[first + k + 1] + 0
            if first_of(after) != start or first_of(here) != behind(after):
                return NEVER
            exchanged = True
            total += cover_drawn(problem, search, sentence, option[first + k + 1], start, stop)
            total += cover_drawn(problem, search, sentence, option[first + k], behind(after), stop)
            start = behind(here)
            k += 2
    if count > 1:
        how = hastings.number[HASTINGS_EXCHANGED] if exchanged else hastings.number[HASTINGS_IN_ORDER]
        if how == NEVER:
            return NEVER
        total += how
        if exchanged:
            total -= hastings.count[count - 1]
    return total


@shared
def rest_drawn(problem, search, sentence, option, covers, first, count):
    """ln of the probability of the phrases that follow on the first of `count`, in source order; or NEVER."""
    stop = behind(covers[first + count - 1] + 0)
    start = behind(covers[first] + 0)
    total = 0
    for k in range(1, count):
        here = covers[first + k] + 0
        if first_of(here) != start:
            return NEVER
        total += cover_drawn(problem, search, sentence, option[first + k], start, stop)
        start = behind(here)
    return total


@shared
def ratio_of_insertion(problem, search, state, scratch, lane, sentence, slot, replaced, count):
    """An option from the same word on takes the old one's place, and one of the two covers what was the rest."""
    old = state.covers[lane, slot] + 0
    last = state.covers[lane, slot + replaced - 1] + 0
    if (
        first_of(old) != scratch.random[NOTED]
        or (replaced > 1 and count > 1)
        or behind(scratch.covers[count - 1] + 0) != behind(last)
    ):
        return NEVER
    forth = rest_drawn(problem, search, sentence, scratch.option, scratch.covers, 0, count)
    back = rest_drawn(problem, search, sentence, state.option[lane], state.covers[lane], slot, replaced)
    if forth == NEVER or back == NEVER:
        return NEVER
    hastings = search.hastings
    forth += hastings.option[scratch.option[0], DRAWN]
    return forth - back - hastings.option[state.option[lane, slot], DRAWN]


@shared
def ratio_of_split(problem, search, state, scratch, lane, slot, phrases, replaced):
    """One phrase becomes two, exchanged; or two become one."""
    hastings = search.hastings
    if replaced == 1:
        covers = state.covers[lane, slot] + 0
        parts = hastings.option[scratch.option[0], DRAWN] + hastings.option[scratch.option[1], DRAWN]
        parts -= hastings.count[behind(covers) - first_of(covers) - 1]
        whole = hastings.option[state.option[lane, slot], DRAWN]
        return parts - hastings.count[phrases] - whole + hastings.count[phrases + 1]
    covers = scratch.covers[0] + 0
    parts = hastings.option[state.option[lane, slot], DRAWN] + hastings.option[state.option[lane, slot + 1], DRAWN]
    parts -= hastings.count[behind(covers) - first_of(covers) - 1]
    whole = hastings.option[scratch.option[0], DRAWN]
    return whole - hastings.count[phrases] - parts + hastings.count[phrases - 1]
