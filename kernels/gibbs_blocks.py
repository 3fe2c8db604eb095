"""The blocks of the Gibbs sampler and their candidates (Arun et al. 2010, section 3; the fourth closes the gap of 6).

A block is a set of states that differ in one place, all of them reachable from each other: one of its members is drawn
in proportion to its probability. Which states belong to it depends on what they share, never on the one that is there:

- *retrans*, a source position: all options for the span of the phrase that begins there;
- *merge-split*, the border between two source words: where a phrase covers it, or two phrases meet there that stand
  together in source order, all options of the whole span and all pairs of options of its two parts; where two
  phrases meet that stand apart, all pairs;
- *reorder*, a source position and a number: the phrase that begins there and the so-manieth behind it in the source,
  as they stand or exchanged;
- *resegment*, a source position and a length: where whole phrases that stand together cover these words, all ways to
  cover them by the first options of each span, short blocks in every order (`records.Gibbs.pattern`). A state whose
  phrases are none of these keeps to itself: its block is empty.

Functions here return slots as operations do. A block is eight numbers: operator, sentence within the unit, first slot,
slots replaced, candidates (0: the block is empty), and three of the operator's own.
"""

from gpusearch.kernels.operations import covered, keep, phrase
from gpusearch.kernels.options import behind, first_of, longest_of, put, span_row
from gpusearch.kernels.philox import SCAN, philox
from gpusearch.kernels.records import (
    GIBBS_PAIRS,
    GIBBS_RANDOM_SCAN,
    GIBBS_WINDOW,
    MERGE_SPLIT,
    REORDER,
    RESEGMENT_WINDOW,
    RETRANS,
    SENTENCE_SOURCE,
    SENTENCE_WORDS,
    UNIT_FIRST_SENTENCE,
    UNIT_FIRST_WORD,
    UNIT_KEY_HIGH,
    UNIT_KEY_LOW,
    UNIT_WORDS,
)
from gpusearch.kernels.target import shared


@shared
def blocks_of_word(gibbs):
    """Blocks of an iteration for each source word."""
    return 2 + gibbs.number[GIBBS_PAIRS] + (gibbs.number[GIBBS_WINDOW] > 1)


@shared
def block_of_step(problem, search, state, lane, step):
    """The block that a step draws: sequential scan goes from word to word, random scan takes any; both independent of
    the state. An iteration is as many steps as its unit has words times `blocks_of_word`."""
    unit = state.unit[lane]
    of_word = blocks_of_word(search.gibbs)
    blocks = problem.unit[unit, UNIT_WORDS] * of_word
    number = step % blocks
    turn = step // blocks + number // of_word
    if search.gibbs.number[GIBBS_RANDOM_SCAN]:
        word, turn, _, _ = philox(
            step & 0xFFFFFFFF,
            step >> 32,
            state.chain[lane],
            SCAN,
            problem.unit[unit, UNIT_KEY_LOW],
            problem.unit[unit, UNIT_KEY_HIGH],
        )
        number = (word * blocks) >> 32
    word = number // of_word
    kind = number - word * of_word
    local = problem.word[problem.unit[unit, UNIT_FIRST_WORD] + word] + 0
    sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
    position = word - problem.sentence[sentence, SENTENCE_SOURCE]
    if kind == 0:
        return retrans(problem, search, state, lane, local, sentence, position)
    if kind == 1:
        return merge_split(problem, search, state, lane, local, sentence, position)
    if kind < 2 + search.gibbs.number[GIBBS_PAIRS]:
        return reorder(problem, state, lane, local, sentence, position, kind - 1)
    words = 2 + turn % (search.gibbs.number[GIBBS_WINDOW] - 1)
    return resegment_block(problem, search, state, lane, local, sentence, position, words)


@shared
def slot_from(problem, state, lane, local, sentence, position):
    """The slot of the phrase that begins at a source position, or -1."""
    for slot in range(state.length[lane, local]):
        if first_of(covered(problem, state, lane, sentence, slot)) == position:
            return slot
    return -1


@shared
def slot_over(problem, state, lane, sentence, position):
    """The slot of the phrase that covers a source position."""
    slot = 0
    while True:
        covers = covered(problem, state, lane, sentence, slot)
        if first_of(covers) <= position and position < behind(covers):
            return slot
        slot += 1


@shared
def count_options(problem, sentence, start, words):
    """Number of options of a span."""
    if words > longest_of(problem, sentence):
        return 0
    row = span_row(problem, sentence, start, words)
    return problem.span[row + 1] - problem.span[row]


@shared
def retrans(problem, search, state, lane, local, sentence, position):
    """Own numbers: first and last source position of the phrase."""
    slot = slot_from(problem, state, lane, local, sentence, position)
    if slot < 0:
        return RETRANS, local, 0, 0, 0, 0, 0, 0
    stop = behind(covered(problem, state, lane, sentence, slot))
    count = count_options(problem, sentence, position, stop - position)
    return RETRANS, local, slot, 1, count, position, stop, 0


@shared
def merge_split(problem, search, state, lane, local, sentence, position):
    """Own numbers: first source position, the border, and the position behind; the border is that before `position`.

    The second is negative where the right part stands before the left one in the translation.
    """
    if position == 0:
        return MERGE_SPLIT, local, 0, 0, 0, 0, 0, 0
    left = slot_over(problem, state, lane, sentence, position - 1)
    right = slot_over(problem, state, lane, sentence, position)
    start = first_of(covered(problem, state, lane, sentence, left))
    stop = behind(covered(problem, state, lane, sentence, right))
    pairs = count_options(problem, sentence, start, position - start) * count_options(
        problem, sentence, position, stop - position
    )
    first = min(left, right)
    replaced = max(left, right) - first + 1
    if left == right or right == left + 1:
        pairs += count_options(problem, sentence, start, stop - start)
    return MERGE_SPLIT, local, first, replaced, pairs, start, (position if left <= right else -position), stop


@shared
def reorder(problem, state, lane, local, sentence, position, number):
    """The phrase that begins at a position and the one `number` phrases behind it in the source."""
    one = slot_from(problem, state, lane, local, sentence, position)
    if one < 0:
        return REORDER, local, 0, 0, 0, 0, 0, 0
    other = one
    words = problem.sentence[sentence, SENTENCE_WORDS]
    while number > 0:
        stop = behind(covered(problem, state, lane, sentence, other))
        if stop == words:
            return REORDER, local, 0, 0, 0, 0, 0, 0
        other = slot_from(problem, state, lane, local, sentence, stop)
        number -= 1
    first = min(one, other)
    return REORDER, local, first, max(one, other) - first + 1, 2, 0, 0, 0


@shared
def resegment_block(problem, search, state, lane, local, sentence, position, words):
    """Own numbers: first source position, words, first row of patterns."""
    stop = position + words
    if stop > problem.sentence[sentence, SENTENCE_WORDS]:
        return RESEGMENT_WINDOW, local, 0, 0, 0, 0, 0, 0
    options = search.gibbs.window[words, 1]
    ordered = search.gibbs.window[words, 2]
    first = -1
    last = -1
    found = 0
    before = position
    fits = True
    for slot in range(state.length[lane, local]):
        covers = covered(problem, state, lane, sentence, slot)
        start = first_of(covers)
        end = behind(covers)
        if start < stop and end > position:
            if first < 0:
                first = slot
            last = slot
            found += 1
            row = span_row(problem, sentence, start, end - start)
            rank = phrase(problem, state, lane, sentence, slot) - problem.span[row]
            fits = fits and start >= position and end <= stop and rank < options and (ordered or start == before)
            before = end
    if not fits or last - first + 1 != found:
        return RESEGMENT_WINDOW, local, 0, 0, 0, 0, 0, 0
    begin = search.gibbs.window[words, 0]
    return RESEGMENT_WINDOW, local, first, found, search.gibbs.window[words + 1, 0] - begin, position, words, begin


@shared
def put_candidate(problem, search, state, scratch, lane, sentence, operator, first, replaced, one, two, three, number):
    """Put a candidate of a block into the proposal: its phrases, or -1 where it has an option that does not exist."""
    if operator == RETRANS:
        put(scratch, 0, problem.span[span_row(problem, sentence, one, two - one)] + number, one, two)
        return 1
    if operator == MERGE_SPLIT:
        return put_merged_or_split(
            problem, search, state, scratch, lane, sentence, first, replaced, one, two, three, number
        )
    if operator == REORDER:
        for k in range(replaced):
            keep(problem, state, scratch, lane, sentence, first + k, k)
        if number == 1:
            keep(problem, state, scratch, lane, sentence, first + replaced - 1, 0)
            keep(problem, state, scratch, lane, sentence, first, replaced - 1)
        return replaced
    return put_pattern(problem, search, scratch, sentence, one, three + number)


@shared
def put_merged_or_split(problem, search, state, scratch, lane, sentence, first, replaced, start, border, stop, number):
    """The options of the whole first, then pairs, those of the right part running faster."""
    middle = abs(border)
    left = span_row(problem, sentence, start, middle - start)
    right = span_row(problem, sentence, middle, stop - middle)
    if border > 0 and replaced < 3:
        # One phrase, or two that meet: else the pair stands apart. A pair of the other order has a negative border.
        whole = count_options(problem, sentence, start, stop - start)
        if number < whole:
            row = span_row(problem, sentence, start, stop - start)
            put(scratch, 0, problem.span[row] + number, start, stop)
            return 1
        number -= whole
    many = problem.span[right + 1] - problem.span[right]
    rank = number // many
    option = problem.span[left] + rank
    other = problem.span[right] + number - rank * many
    count = max(replaced, 2)
    for k in range(1, count - 1):
        keep(problem, state, scratch, lane, sentence, first + k, k)
    if border > 0:
        put(scratch, 0, option, start, middle)
        put(scratch, count - 1, other, middle, stop)
    else:
        put(scratch, 0, other, middle, stop)
        put(scratch, count - 1, option, start, middle)
    return count


@shared
def put_pattern(problem, search, scratch, sentence, position, row):
    """A row of patterns: parts in target order, each with its place, its words and the rank of its option."""
    count = 0
    while count < search.gibbs.pattern.shape[1]:
        part = search.gibbs.pattern[row, count] + 0
        if part < 0:
            return count
        start = position + (part & 15)
        words = part >> 4 & 15
        if part >> 8 >= count_options(problem, sentence, start, words):
            return -1
        option = problem.span[span_row(problem, sentence, start, words)] + (part >> 8)
        put(scratch, count, option, start, start + words)
        count += 1
    return count
