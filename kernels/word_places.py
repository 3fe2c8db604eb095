"""Words of a lane by their places, for features that keep a number of each: where they stand, and which ones change."""

from gpusearch.kernels.records import (
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
)
from gpusearch.kernels.target import shared


@shared
def words_of(problem, state, lane, local):
    """Words of a sentence of the unit."""
    sentence = problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local
    return state.place[lane, problem.sentence[sentence, SENTENCE_SLOT] + state.length[lane, local]] + 0


@shared
def first_place(problem, state, lane, local):
    """First word place of a sentence of the unit."""
    return problem.sentence[problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE] + local, SENTENCE_PLACE] + 0


@shared
def put_codes(code, column, offset, problem, state, scratch, lane, change):
    """Put the codes of a proposal's words into the work space; how many there are, and how many stay at either end.

    `code` has one for each target word of the problem; a lane keeps those of its words in ``State.count`` from `column`
    on. In the work space they begin at `offset`.
    """
    work = scratch.changed.work
    words = 0
    for k in range(change.count):
        option = scratch.option[k]
        target = problem.option_place[option, OPTION_TARGET]
        for j in range(problem.option_place[option, OPTION_WORDS]):
            work[offset + words] = code[target + j]
            words += 1
    slots = problem.sentence[change.sentence, SENTENCE_SLOT] + change.first
    begin = column + problem.sentence[change.sentence, SENTENCE_PLACE]
    first = begin + state.place[lane, slots]
    last = begin + state.place[lane, slots + change.replaced]
    most = min(words, last - first)
    before = 0
    while before < most and work[offset + before] == state.count[lane, first + before]:
        before += 1
    behind = 0
    while behind < most - before and work[offset + words - 1 - behind] == state.count[lane, last - 1 - behind]:
        behind += 1
    return words, before, behind


@shared
def shift_words(state, lane, first, stop, by):
    """Move the columns first .. stop - 1 of ``State.count`` by some places."""
    if by > 0:
        for column in range(stop - 1, first - 1, -1):
            state.count[lane, column + by] = state.count[lane, column]
    elif by < 0:
        for column in range(first, stop):
            state.count[lane, column + by] = state.count[lane, column]


@shared
def link(before_column, behind_column, problem, state, lane, local, filled):
    """Tell the sentences around one that it has words of some kind now (`filled`), or no longer.

    Columns of ``State.count``, by sentence: of the next sentence before it that has some, of the next behind it (-1:
    none).
    """
    before = state.count[lane, before_column + local] + 0
    behind = state.count[lane, behind_column + local] + 0
    stop = problem.unit[state.unit[lane], UNIT_SENTENCES] + 0
    if behind >= 0:
        stop = behind + 1
    for other in range(max(before, 0), local):
        state.count[lane, behind_column + other] = local if filled else behind
    for other in range(local + 1, stop):
        state.count[lane, before_column + other] = local if filled else before
