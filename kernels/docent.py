"""Docent's own distributions of proposals (``compat = "docent"``), for comparisons with that decoder.

They differ from ours in four ways. Blocks and distances are 1 + G with a geometric G from 1 on, as far as there is
room, so that they start at two: adjacent phrases change places at the ends of a sentence only, and one phrase alone
is segmented anew only where the sentence has no other. Options are drawn uniformly, the present one included. A
resegmented block need not be contiguous in the source. And a draw that comes to nothing is repeated with another
operation, within the same step and its random stream: a step without a proposal ends the chain.

What Docent does in error is not repeated: linearising sorts the whole block (there only from its first phrase that is
out of order, and the result is put beside its place).
"""

from gpusearch.kernels.operations import draw_operation, keep, linearise_block, phrase, trim
from gpusearch.kernels.options import cover, longest_of, put, span_row, start_of, stop_of
from gpusearch.kernels.philox import next_word, uniform
from gpusearch.kernels.records import (
    CHANGE,
    LINEARISE,
    LINEARISE_BLOCK,
    MOVE,
    MOVE_BLOCK,
    MOVE_DISTANCE,
    PERMUTE,
    PERMUTE_BLOCK,
    RESEGMENT,
    RESEGMENT_BLOCK,
    RIGHT_MOVE,
    SENTENCE_WORDS,
    SWAP,
    SWAP_DISTANCE,
    UNIT_FIRST_SENTENCE,
    UNIT_FIRST_WORD,
    UNIT_SENTENCES,
    UNIT_WORDS,
)
from gpusearch.kernels.target import optional, shared

# Sentences drawn until one has two phrases; orders drawn until one differs.
TRIES = 11


def _above_zero(docent):
    return 0


@optional(_above_zero)
def threshold(docent):
    """A proposal is taken if it changes the score by more than this: Docent's hill climbing takes equal scores, too."""
    return -1


@shared
def draw_sentence(problem, random, unit):
    """A sentence of a unit, counted within it, in proportion to its source words."""
    if problem.unit[unit, UNIT_SENTENCES] == 1:
        return 0
    return problem.word[problem.unit[unit, UNIT_FIRST_WORD] + uniform(random, problem.unit[unit, UNIT_WORDS])] + 0


@shared
def draw_as_docent(docent, problem, search, state, scratch, lane):
    """A proposal from the open stream, as `gpusearch.kernels.step.draw` returns it."""
    operation = 0
    local = 0
    first = -1
    replaced = 0
    count = 0
    draws = 0
    while first < 0 and draws < docent.draws[0]:
        draws += 1
        operation = draw_operation(search, scratch.random)
        local, first, replaced, count = _attempt(problem, search, state, scratch, lane, operation)
    return operation, local, first, replaced, count


@shared
def _attempt(problem, search, state, scratch, lane, operation):
    """One draw of an operation: (sentence within the unit, first slot or -1, slots replaced, phrases put in)."""
    unit = state.unit[lane]
    local = draw_sentence(problem, scratch.random, unit)
    if operation != CHANGE and operation != RESEGMENT:
        tries = 1
        while state.length[lane, local] < 2 and tries < TRIES:
            local = draw_sentence(problem, scratch.random, unit)
            tries += 1
        if state.length[lane, local] < 2:
            return local, -1, 0, 0
    sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
    phrases = state.length[lane, local]
    first = -1
    replaced = 0
    count = 0
    if operation == CHANGE:
        first, replaced, count = _change(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == SWAP:
        first, replaced, count = _swap(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == RESEGMENT:
        first, replaced, count = _resegment(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == PERMUTE:
        first, replaced, count = _permute(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == LINEARISE:
        first, replaced, count = _linearise(problem, search, state, scratch, lane, sentence, phrases)
    elif operation == MOVE:
        first, replaced, count = _move(problem, search, state, scratch, lane, sentence, phrases)
    if first >= 0:
        first, replaced, count = trim(problem, state, scratch, lane, sentence, first, replaced, count)
    return local, first, replaced, count


@shared
def one_more_than_geometric(random, survival, row, most):
    """1 + min(G, most): G = 1, 2, ... with probability (1 - decay) decay^(G - 1).

    ``survival[row, k]`` is decay^k in 2^-32; no G is longer than the table.
    """
    word = next_word(random)
    most = min(most, survival.shape[1] - 1)
    k = 1
    while k < most and word < survival[row, k]:
        k += 1
    return 1 + min(k, most)


@shared
def _change(problem, search, state, scratch, lane, sentence, phrases):
    """Another option of a phrase's span; none where the present one is drawn."""
    slot = uniform(scratch.random, phrases)
    present = phrase(problem, state, lane, sentence, slot)
    start = start_of(problem, present)
    row = span_row(problem, sentence, start, stop_of(problem, present) - start)
    option = problem.span[row] + uniform(scratch.random, problem.span[row + 1] - problem.span[row])
    if option == present:
        return -1, 0, 0
    put(scratch, 0, option, start_of(problem, present), stop_of(problem, present))
    return slot, 1, 1


@shared
def _swap(problem, search, state, scratch, lane, sentence, phrases):
    """A phrase changes places with one to its right or left, two away at least where there is one."""
    slot = uniform(scratch.random, phrases)
    room = phrases - 1 - slot
    if slot > 0 and (room == 0 or next_word(scratch.random) >> 31 == 0):
        distance = one_more_than_geometric(scratch.random, search.survival, SWAP_DISTANCE, slot - 1)
        first = slot - distance
    else:
        distance = one_more_than_geometric(scratch.random, search.survival, SWAP_DISTANCE, room - 1)
        first = slot
    keep(problem, state, scratch, lane, sentence, first + distance, 0)
    for k in range(1, distance):
        keep(problem, state, scratch, lane, sentence, first + k, k)
    keep(problem, state, scratch, lane, sentence, first, distance)
    return first, distance + 1, distance + 1


@shared
def _move(problem, search, state, scratch, lane, sentence, phrases):
    """A block goes to the right or to the left."""
    right = next_word(scratch.random) < search.number[RIGHT_MOVE]
    block = one_more_than_geometric(scratch.random, search.survival, MOVE_BLOCK, phrases - 2)
    start = uniform(scratch.random, phrases - block)
    if right:
        room = phrases - start - block
        distance = one_more_than_geometric(scratch.random, search.survival, MOVE_DISTANCE, room - 1)
        first = start
        left_part = block
        right_part = distance
    else:
        start += 1
        distance = one_more_than_geometric(scratch.random, search.survival, MOVE_DISTANCE, start - 1)
        first = start - distance
        left_part = distance
        right_part = block
    for k in range(right_part):
        keep(problem, state, scratch, lane, sentence, first + left_part + k, k)
    for k in range(left_part):
        keep(problem, state, scratch, lane, sentence, first + k, right_part + k)
    return first, block + distance, block + distance


@shared
def _permute(problem, search, state, scratch, lane, sentence, phrases):
    """The phrases of a block in random order; none where the order stays time after time."""
    block = one_more_than_geometric(scratch.random, search.survival, PERMUTE_BLOCK, phrases - 1)
    first = uniform(scratch.random, phrases - block + 1)
    moved = False
    tries = 0
    while not moved and tries < TRIES:
        tries += 1
        for k in range(block):
            scratch.mark[k] = first + k
        for k in range(block - 1, 0, -1):
            other = uniform(scratch.random, k + 1)
            slot = scratch.mark[k]
            scratch.mark[k] = scratch.mark[other]
            scratch.mark[other] = slot
        for k in range(block):
            if scratch.mark[k] != first + k:
                moved = True
    if not moved:
        return -1, 0, 0
    for k in range(block):
        keep(problem, state, scratch, lane, sentence, scratch.mark[k], k)
    return first, block, block


@shared
def _linearise(problem, search, state, scratch, lane, sentence, phrases):
    """The phrases of a block in the order of the source; none where they stand in it."""
    block = one_more_than_geometric(scratch.random, search.survival, LINEARISE_BLOCK, phrases - 1)
    first = uniform(scratch.random, phrases - block + 1)
    linearise_block(problem, state, scratch, lane, sentence, first, block)
    return first, block, block


@shared
def _resegment(problem, search, state, scratch, lane, sentence, phrases):
    """New phrases for all source words of a block, in the order of the source."""
    block = one_more_than_geometric(scratch.random, search.survival, RESEGMENT_BLOCK, phrases - 1)
    first = uniform(scratch.random, phrases - block + 1)
    start = problem.sentence[sentence, SENTENCE_WORDS]
    stop = 0
    for k in range(block):
        option = phrase(problem, state, lane, sentence, first + k)
        start = min(start, start_of(problem, option))
        stop = max(stop, stop_of(problem, option))
    for position in range(start, stop):
        scratch.mark[position] = 0
    for k in range(block):
        option = phrase(problem, state, lane, sentence, first + k)
        for position in range(start_of(problem, option), stop_of(problem, option)):
            scratch.mark[position] = 1
    count = 0
    while start < stop:
        run = start
        while run < stop and scratch.mark[run]:
            run += 1
        count = cover_uniformly(problem, search, scratch, sentence, start, run, count)
        start = run
        while start < stop and not scratch.mark[start]:
            start += 1
    return first, block, count


@shared
def cover_uniformly(problem, search, scratch, sentence, start, end, count):
    """Cover the source words start .. end - 1 from left to right, each time uniformly by an option that fits.

    Appends to ``scratch.option`` from index `count` on and returns the new count. No way is a dead end: every word
    has an option of its own.
    """
    while start < end:
        row = span_row(problem, sentence, start, 1)
        last = row + min(longest_of(problem, sentence), end - start)
        option = problem.span[row] + uniform(scratch.random, problem.span[last] - problem.span[row])
        stop = stop_of(problem, option)
        put(scratch, count, option, start, stop)
        count += 1
        start = stop
    return count


def _cover_as_we_do(docent, problem, search, scratch, sentence, words):
    return cover(problem, search, scratch, sentence, 0, words, 0)


@optional(_cover_as_we_do)
def cover_sentence(docent, problem, search, scratch, sentence, words):
    """Random phrases for a whole sentence, put into ``scratch.option``; returns how many."""
    return cover_uniformly(problem, search, scratch, sentence, 0, words, 0)
