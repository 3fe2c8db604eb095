"""Lexicalised reordering in the beam: what a hypothesis must remember, and what it may still gain.

Two hypotheses that cover the same words and end alike may differ in what the next phrase adds: by the start of the
last phrase, as far as a swap with it is possible, and by its forward scores in the orientations that are possible.
Each function takes the record `records.Reordering` first, or () where a search has no such model.
"""

from gpusearch.kernels.beam_hash import mix
from gpusearch.kernels.records import DISCONTINUOUS_LEFT, MONOTONE, ORIENTATIONS, SWAPPED
from gpusearch.kernels.reordering import turn
from gpusearch.kernels.target import optional, shared


@shared
def is_free(gap, mask, word):
    """Whether a source word is not covered; no more than `MASK_BITS` behind the gap."""
    return word >= gap and (mask >> (word - gap)) & 1 == 0


@shared
def may_follow(column, gap, mask, end, left, words):
    """Whether a phrase with this orientation may follow; never False where one does."""
    if column == MONOTONE:
        return end < words and is_free(gap, mask, end)
    if column == SWAPPED:
        return left >= 0
    if column == DISCONTINUOUS_LEFT:
        return gap < end
    return end + 1 < words


def _no_left(reordering, gap, mask, start):
    return -1


@optional(_no_left)
def left_of(reordering, gap, mask, start):
    """The start of the last phrase where a swap with it may follow, else -1: the word in front of it is covered."""
    if start > gap and is_free(gap, mask, start - 1):
        return start
    return -1


def _no_turn(reordering, left, end, start, stop):
    return 0


@optional(_no_turn)
def grid_turn(reordering, left, end, start, stop):
    """Orientation of a span to the hypotheses of a group."""
    return turn(left, end, start, stop)


def _no_backward(reordering, option, column):
    return 0


@optional(_no_backward)
def backward_score(reordering, option, column):
    """What an option adds by its orientation to the phrase before it."""
    return reordering.score[option, column] + 0


def _no_forward(reordering, before, column):
    return 0


@optional(_no_forward)
def forward_score(reordering, before, column):
    """What the last phrase of a hypothesis adds by the orientation of the next; -1: there is none."""
    if before < 0:
        return 0
    return reordering.score[before, ORIENTATIONS + column] + 0


def _no_turns(reordering, option):
    return 0


@optional(_no_turns)
def best_backward(reordering, option):
    """The most that an option adds by its orientation to the phrase before it."""
    best = backward_score(reordering, option, 0)
    for column in range(1, ORIENTATIONS):
        best = max(best, backward_score(reordering, option, column))
    return best


@optional(_no_turns)
def best_forward(reordering, option):
    """The most that an option adds by the orientation of the next phrase; at least 0, for there may be none."""
    best = 0
    for column in range(ORIENTATIONS):
        best = max(best, forward_score(reordering, option, column))
    return best


def _no_prospect(reordering, option, gap, mask, end, left, words):
    return 0


@optional(_no_prospect)
def best_prospect(reordering, option, gap, mask, end, left, words):
    """The best forward score that may follow an option; 0 where nothing follows."""
    best = 0
    found = False
    for column in range(ORIENTATIONS):
        if may_follow(column, gap, mask, end, left, words):
            score = forward_score(reordering, option, column)
            if not found or score > best:
                best = score
                found = True
    return best


def _always_same(reordering, option, other, gap, mask, end, left, words):
    return True


@optional(_always_same)
def same_prospects(reordering, option, other, gap, mask, end, left, words):
    """Whether two options as last phrases are worth the same in all that may follow."""
    same = True
    for column in range(ORIENTATIONS):
        if may_follow(column, gap, mask, end, left, words):
            same = same and forward_score(reordering, option, column) == forward_score(reordering, other, column)
    return same


def _same_hash(reordering, hashed, option, gap, mask, end, left, words):
    return hashed


@optional(_same_hash)
def hash_prospects(reordering, hashed, option, gap, mask, end, left, words):
    """A hash, and what tells the prospects of options apart."""
    hashed = mix(hashed, left)
    for column in range(ORIENTATIONS):
        if may_follow(column, gap, mask, end, left, words):
            hashed = mix(hashed, forward_score(reordering, option, column))
    return hashed
