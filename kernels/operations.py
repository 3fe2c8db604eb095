"""The state operations. Each proposes, for one sentence, to replace some slots by other phrases.

An operation returns (first slot, slots replaced, phrases put in); the phrases stand in ``scratch.option``, and
``scratch.origin`` says for each the slot that it comes from, or -1 where it is new. It returns a first slot of -1
where it finds nothing to do. Slots are counted within the sentence.
"""

from gpusearch.kernels.options import (
    behind,
    cover,
    draw_length,
    draw_option,
    draw_other_option,
    first_of,
    longest_of,
    put,
    span_row,
)
from gpusearch.kernels.philox import NOTED, next_word, truncated_geometric, uniform
from gpusearch.kernels.records import (
    LINEARISE_BLOCK,
    MOVE_BLOCK,
    MOVE_DISTANCE,
    OPERATIONS,
    PERMUTE_BLOCK,
    RESEGMENT_BLOCK,
    RESEGMENT_SWAP,
    RIGHT_MOVE,
    SENTENCE_SLOT,
    SENTENCE_WORDS,
    SWAP_DISTANCE,
)
from gpusearch.kernels.target import optional, shared

# How often an operation looks for another place before it gives up.
TRIES = 8


def _many(hastings):
    return TRIES


@optional(_many)
def tries(hastings):
    """How often an operation looks for another place: never again, where its draws must have their exact chances."""
    return 1


def _only_splits(hastings, random):
    return False


@optional(_only_splits)
def merges(hastings, random):
    """Whether split-and-swap is to do the opposite: half of the draws, where each operation must have its inverse."""
    return next_word(random) >> 31 == 1


def _forget(hastings, random, what):
    return


@optional(_forget)
def note(hastings, random, what):
    """Leave in the stream what the inverse of a proposal must know and the proposal does not say."""
    random[NOTED] = what


@shared
def phrase(problem, state, lane, sentence, slot):
    """The option in a slot of a sentence."""
    return state.option[lane, problem.sentence[sentence, SENTENCE_SLOT] + slot]


@shared
def covered(problem, state, lane, sentence, slot):
    """The source words of the phrase in a slot, packed."""
    return state.covers[lane, problem.sentence[sentence, SENTENCE_SLOT] + slot] + 0


@shared
def draw_operation(search, random):
    """An operation by its share."""
    word = next_word(random)
    operation = 0
    for other in range(OPERATIONS - 1):  # no branch to guess
        operation += word >= search.operation[other]
    return operation


@shared
def trim(problem, state, scratch, lane, sentence, first, replaced, count):
    """Cut off what a proposal shares with the state at its ends; a first slot of -1 where nothing is left."""
    same = 0
    while (
        same < replaced
        and same < count
        and scratch.option[same] == phrase(problem, state, lane, sentence, first + same)
    ):
        same += 1
    if same == replaced and same == count:
        return -1, 0, 0
    if same > 0:
        first += same
        replaced -= same
        count -= same
        for k in range(count):
            scratch.option[k] = scratch.option[same + k]
            scratch.origin[k] = scratch.origin[same + k]
            scratch.covers[k] = scratch.covers[same + k]
    while (
        replaced > 0
        and count > 0
        and scratch.option[count - 1] == phrase(problem, state, lane, sentence, first + replaced - 1)
    ):
        replaced -= 1
        count -= 1
    return first, replaced, count


@shared
def change(problem, search, state, scratch, lane, sentence, phrases):
    """change-phrase-translation: another option for the span of one phrase (sec. 3.1)."""
    for _ in range(tries(search.hastings)):
        slot = uniform(scratch.random, phrases)
        present = phrase(problem, state, lane, sentence, slot)
        covers = covered(problem, state, lane, sentence, slot)
        start = first_of(covers)
        row = span_row(problem, sentence, start, behind(covers) - start)
        option = draw_other_option(problem, scratch.random, row, present)
        if option >= 0:
            put(scratch, 0, option, start, behind(covers))
            return slot, 1, 1
    return -1, 0, 0


@shared
def keep(problem, state, scratch, lane, sentence, slot, count):
    """Put the phrase of a slot in as phrase `count` of the proposal."""
    scratch.option[count] = phrase(problem, state, lane, sentence, slot)
    scratch.origin[count] = slot
    scratch.covers[count] = covered(problem, state, lane, sentence, slot)


@shared
def swap(problem, search, state, scratch, lane, sentence, phrases):
    """swap-phrases: two phrases change places; their distance is geometric, from adjacent ones on (sec. 3.2)."""
    if phrases < 2:
        return -1, 0, 0
    distance = truncated_geometric(scratch.random, search.survival, SWAP_DISTANCE, phrases - 1)
    first = uniform(scratch.random, phrases - distance)
    keep(problem, state, scratch, lane, sentence, first + distance, 0)
    for k in range(1, distance):
        keep(problem, state, scratch, lane, sentence, first + k, k)
    keep(problem, state, scratch, lane, sentence, first, distance)
    return first, distance + 1, distance + 1


@shared
def move(problem, search, state, scratch, lane, sentence, phrases):
    """move-phrases: a block of phrases goes some phrases to the right or to the left."""
    if phrases < 2:
        return -1, 0, 0
    block = truncated_geometric(scratch.random, search.survival, MOVE_BLOCK, phrases - 1)
    distance = truncated_geometric(scratch.random, search.survival, MOVE_DISTANCE, phrases - block)
    left, right = block, distance
    if next_word(scratch.random) >= search.number[RIGHT_MOVE]:
        left, right = distance, block
        note(search.hastings, scratch.random, -1)
    else:
        note(search.hastings, scratch.random, 1)
    first = uniform(scratch.random, phrases - block - distance + 1)
    for k in range(right):
        keep(problem, state, scratch, lane, sentence, first + left + k, k)
    for k in range(left):
        keep(problem, state, scratch, lane, sentence, first + k, right + k)
    return first, left + right, left + right


@shared
def permute(problem, search, state, scratch, lane, sentence, phrases):
    """permute-phrases: the phrases of a block, two at least, in a random other order."""
    if phrases < 2:
        return -1, 0, 0
    block = 1 + truncated_geometric(scratch.random, search.survival, PERMUTE_BLOCK, phrases - 1)
    first = uniform(scratch.random, phrases - block + 1)
    moved = False
    while not moved:
        for k in range(block):
            scratch.mark[k] = first + k
        for k in range(block - 1, 0, -1):
            other = uniform(scratch.random, k + 1)
            slot = scratch.mark[k]
            scratch.mark[k] = scratch.mark[other]
            scratch.mark[other] = slot
            if scratch.mark[k] != first + k:
                moved = True
    for k in range(block):
        keep(problem, state, scratch, lane, sentence, scratch.mark[k], k)
    return first, block, block


@shared
def linearise(problem, search, state, scratch, lane, sentence, phrases):
    """linearise-phrases: the phrases of a block, two at least, in the order of the source."""
    if phrases < 2:
        return -1, 0, 0
    for _ in range(tries(search.hastings)):
        block = 1 + truncated_geometric(scratch.random, search.survival, LINEARISE_BLOCK, phrases - 1)
        first = uniform(scratch.random, phrases - block + 1)
        if linearise_block(problem, state, scratch, lane, sentence, first, block):
            return first, block, block
    return -1, 0, 0


@shared
def linearise_block(problem, state, scratch, lane, sentence, first, block):
    """Put the phrases of a block in, in the order of the source; returns whether it differs from the present one."""
    moved = False
    for k in range(block):  # insertion sort: blocks are short, or sorted but for a few
        keep(problem, state, scratch, lane, sentence, first + k, k)
        start = first_of(scratch.covers[k])
        place = k
        while place > 0 and first_of(scratch.covers[place - 1]) > start:
            scratch.option[place] = scratch.option[place - 1]
            scratch.origin[place] = scratch.origin[place - 1]
            scratch.covers[place] = scratch.covers[place - 1]
            place -= 1
        if place < k:
            moved = True
            keep(problem, state, scratch, lane, sentence, first + k, place)
    return moved


@shared
def resegment(problem, search, state, scratch, lane, sentence, phrases):
    """resegment: a block that is contiguous on both sides gets new phrases in source order (sec. 3.3).

    With probability RESEGMENT_SWAP two neighbours among the new phrases change places.
    """
    for _ in range(tries(search.hastings)):
        block = truncated_geometric(scratch.random, search.survival, RESEGMENT_BLOCK, phrases)
        first = uniform(scratch.random, phrases - block + 1)
        start = problem.sentence[sentence, SENTENCE_WORDS]
        stop = 0
        words = 0
        for k in range(block):
            covers = covered(problem, state, lane, sentence, first + k)
            start = min(start, first_of(covers))
            stop = max(stop, behind(covers))
            words += behind(covers) - first_of(covers)
        if stop - start == words:
            count = cover(problem, search, scratch, sentence, start, stop, 0)
            swap_rate = search.number[RESEGMENT_SWAP]
            if count > 1 and swap_rate > 0 and next_word(scratch.random) < swap_rate:
                k = uniform(scratch.random, count - 1)
                option = scratch.option[k]
                scratch.option[k] = scratch.option[k + 1]
                scratch.option[k + 1] = option
                covers = scratch.covers[k]
                scratch.covers[k] = scratch.covers[k + 1]
                scratch.covers[k + 1] = covers
            same = count == block
            k = 0
            while same and k < block:
                same = scratch.option[k] == phrase(problem, state, lane, sentence, first + k)
                k += 1
            if count > 0 and not same:
                return first, block, count
    return -1, 0, 0


@shared
def overlapped(problem, state, lane, sentence, phrases, start, stop):
    """The first and the last slot whose phrase covers one of the source words start .. stop - 1."""
    first = -1
    last = -1
    for slot in range(phrases):
        covers = covered(problem, state, lane, sentence, slot)
        if first_of(covers) < stop and behind(covers) > start:
            last = slot
            if first < 0:
                first = slot
    return first, last


@shared
def insertion(problem, search, state, scratch, lane, sentence, phrases):
    """insertion: any option of the sentence is put in; the phrases that it overlaps give way.

    Its place is that of the first of them; what is left of them is covered anew where it stood, the words before
    the option in front of it and the words behind it after it.
    """
    words = problem.sentence[sentence, SENTENCE_WORDS]
    for _ in range(tries(search.hastings)):
        start = uniform(scratch.random, words)
        length = draw_length(problem, scratch.random, sentence, start, words)
        if length == 0:
            continue
        stop = start + length
        option = draw_option(problem, scratch.random, span_row(problem, sentence, start, length))
        first, last = overlapped(problem, state, lane, sentence, phrases, start, stop)
        if first == last and phrase(problem, state, lane, sentence, first) == option:
            continue
        count = 0
        for slot in range(first, last + 1):
            covers = covered(problem, state, lane, sentence, slot)
            left = first_of(covers)
            right = behind(covers)
            if left >= stop or right <= start:
                keep(problem, state, scratch, lane, sentence, slot, count)
                count += 1
                continue
            if left < start:
                count = cover(problem, search, scratch, sentence, left, start, count)
            if slot == first and count >= 0:
                put(scratch, count, option, start, stop)
                count += 1
            if right > stop and count >= 0:
                count = cover(problem, search, scratch, sentence, stop, right, count)
            if count < 0:
                break
        if count >= 0:
            note(search.hastings, scratch.random, start)
            return first, last - first + 1, count
    return -1, 0, 0


@shared
def split_and_swap(problem, search, state, scratch, lane, sentence, phrases):
    """split-and-swap: one phrase is split in two, and the second part goes in front of the first."""
    for _ in range(tries(search.hastings)):
        slot = uniform(scratch.random, phrases)
        if merges(search.hastings, scratch.random):
            return merge_exchanged(problem, search, state, scratch, lane, sentence, phrases, slot)
        covers = covered(problem, state, lane, sentence, slot)
        start = first_of(covers)
        words = behind(covers) - start
        if words > 1:
            left = 1 + uniform(scratch.random, words - 1)
            row = span_row(problem, sentence, start, left)
            other = span_row(problem, sentence, start + left, words - left)
            if problem.span[row + 1] > problem.span[row] and problem.span[other + 1] > problem.span[other]:
                put(scratch, 0, draw_option(problem, scratch.random, other), start + left, start + words)
                put(scratch, 1, draw_option(problem, scratch.random, row), start, start + left)
                return slot, 1, 2
    return -1, 0, 0


@shared
def merge_exchanged(problem, search, state, scratch, lane, sentence, phrases, slot):
    """The inverse of split-and-swap: a phrase and the one behind it, which covers the words in front, become one."""
    if slot + 1 < phrases:
        right = covered(problem, state, lane, sentence, slot)
        left = covered(problem, state, lane, sentence, slot + 1)
        start = first_of(left)
        words = behind(right) - start
        if behind(left) == first_of(right) and words <= longest_of(problem, sentence):
            row = span_row(problem, sentence, start, words)
            if problem.span[row + 1] > problem.span[row]:
                put(scratch, 0, draw_option(problem, scratch.random, row), start, start + words)
                return slot, 2, 1
    return -1, 0, 0
