"""The neighbourhood of a sentence's translation, as layouts: which phrases stay, and which source spans are open.

A *layout* is a proposal with at most three open places, each of which takes any option of its span; its neighbours are
all ways to fill them. Layouts are numbered within a *group*, groups within a sentence of n phrases and w source words:

- *blocks*, 3 n groups, a slot and a number of phrases: where 1 to 3 phrases cover source words that stand together, at
  most `WORDS` of them if there is more than one part, before or after: every way to cut these words into one to three
  parts, in every order. So a phrase changes its option, is split, its parts change places, phrases are merged, change
  places among each other, or are segmented anew;
- *exchanges*, n groups, a slot: the phrases from there to any other slot, and those from there to any further one,
  change places: all moves of a block of phrases;
- *swaps*, n groups, a slot: the phrase there and any one behind it, not the next, change places;
- *insertions*, w groups, a source position: every span that begins there is put in as a whole; the phrases that it
  overlaps give way, and what is left of them at either end is one phrase each. It takes the place of the first of
  them, or of the last.
"""

from gpusearch.kernels.operations import covered, keep, overlapped
from gpusearch.kernels.options import behind, first_of, longest_of, put, span_row
from gpusearch.kernels.records import SENTENCE_WORDS
from gpusearch.kernels.target import shared

# Kinds of groups: rows of the tallies where a sweep runs.
BLOCK, EXCHANGE, TWO, PUT_IN = range(4)
# Phrases of a block, before and after, and its source words where it has more than one part.
PARTS, WORDS = 3, 7


@shared
def groups_of(phrases, words):
    """Number of groups of a sentence."""
    return (PARTS + 2) * phrases + words


@shared
def kind_of(phrases, group):
    """(kind of a group of a sentence, number within the kind)."""
    if group < PARTS * phrases:
        return BLOCK, group
    group -= PARTS * phrases
    if group < phrases:
        return EXCHANGE, group
    group -= phrases
    if group < phrases:
        return TWO, group
    return PUT_IN, group - phrases


@shared
def layouts_of(problem, search, state, lane, sentence, phrases, kind, number):
    """How many layouts a group has, those included that turn out not to exist."""
    if kind == BLOCK:
        first = number // PARTS
        _, words = block_of(problem, state, lane, sentence, phrases, first, number - PARTS * first + 1)
        if words <= 0:
            return 0
        if words > WORDS:
            return 1
        return 1 + 2 * (words - 1) + 3 * (words - 1) * (words - 2)
    if kind == EXCHANGE:
        return (phrases - number) * (phrases - number)
    if kind == TWO:
        return max(0, phrases - number - 2)
    return 2 * min(longest_of(problem, sentence), problem.sentence[sentence, SENTENCE_WORDS] - number)


@shared
def block_of(problem, state, lane, sentence, phrases, first, count):
    """(first source word, source words) of so many phrases; no words where they do not stand together, or are too many
    for more than one phrase."""
    if first + count > phrases:
        return 0, 0
    start = problem.sentence[sentence, SENTENCE_WORDS]
    stop = 0
    words = 0
    for slot in range(first, first + count):
        covers = covered(problem, state, lane, sentence, slot)
        start = min(start, first_of(covers))
        stop = max(stop, behind(covers))
        words += behind(covers) - first_of(covers)
    if stop - start != words or (count > 1 and words > WORDS):
        return 0, 0
    return start, words


@shared
def put_layout(problem, search, state, scratch, lane, sentence, phrases, kind, number, layout):
    """(first slot, slots replaced, phrases put in, three open places) of a layout; a place of -1 is not there.

    The first slot is -1 where there is no such layout. An open place holds the first option of its span.
    """
    if kind == BLOCK:
        return put_block(problem, search, state, scratch, lane, sentence, phrases, number, layout)
    if kind == EXCHANGE:
        width = phrases - number
        middle = 1 + layout // width
        stop = 1 + layout - (middle - 1) * width
        if stop <= middle:
            return -1, 0, 0, -1, -1, -1
        for k in range(stop - middle):
            keep(problem, state, scratch, lane, sentence, number + middle + k, k)
        for k in range(middle):
            keep(problem, state, scratch, lane, sentence, number + k, stop - middle + k)
        return number, stop, stop, -1, -1, -1
    if kind == TWO:
        distance = layout + 2
        for k in range(distance + 1):
            keep(problem, state, scratch, lane, sentence, number + k, k)
        keep(problem, state, scratch, lane, sentence, number + distance, 0)
        keep(problem, state, scratch, lane, sentence, number, distance)
        return number, distance + 1, distance + 1, -1, -1, -1
    return put_insertion(problem, search, state, scratch, lane, sentence, phrases, number, layout)


@shared
def put_open(problem, search, scratch, sentence, place, start, stop):
    """Open a place for a span; False where it has no option."""
    if stop - start > longest_of(problem, sentence):
        return False
    row = span_row(problem, sentence, start, stop - start)
    if problem.span[row] == problem.span[row + 1]:
        return False
    put(scratch, place, problem.span[row] + 0, start, stop)
    return True


@shared
def put_block(problem, search, state, scratch, lane, sentence, phrases, number, layout):
    """One part, then two by border and order, then three by borders and order."""
    first = number // PARTS
    replaced = number - PARTS * first + 1
    start, words = block_of(problem, state, lane, sentence, phrases, first, replaced)
    stop = start + words
    if layout == 0:
        if not put_open(problem, search, scratch, sentence, 0, start, stop):
            return -1, 0, 0, -1, -1, -1
        return first, replaced, 1, 0, -1, -1
    layout -= 1
    if layout < 2 * (words - 1):
        border = start + 1 + (layout >> 1)
        place = layout & 1
        there = put_open(problem, search, scratch, sentence, place, start, border)
        there = there and put_open(problem, search, scratch, sentence, 1 - place, border, stop)
        if not there:
            return -1, 0, 0, -1, -1, -1
        return first, replaced, 2, 0, 1, -1
    layout -= 2 * (words - 1)
    borders = layout // 6
    order = layout - 6 * borders
    one = 1
    while borders >= words - 1 - one:
        borders -= words - 1 - one
        one += 1
    two = start + one + 1 + borders
    one += start
    # The place of the first part, then that of the second among those that are left.
    left = order >> 1
    middle = (left + 1 + (order & 1)) % 3
    there = put_open(problem, search, scratch, sentence, left, start, one)
    there = there and put_open(problem, search, scratch, sentence, middle, one, two)
    there = there and put_open(problem, search, scratch, sentence, 3 - left - middle, two, stop)
    if not there:
        return -1, 0, 0, -1, -1, -1
    return first, replaced, 3, 0, 1, 2


@shared
def put_insertion(problem, search, state, scratch, lane, sentence, phrases, start, layout):
    """A span from `start` on, in the place of the first phrase that it overlaps or (odd layouts) of the last."""
    stop = start + 1 + (layout >> 1)
    first, last = overlapped(problem, state, lane, sentence, phrases, start, stop)
    target = first
    if layout & 1 == 1:
        if first == last:
            return -1, 0, 0, -1, -1, -1
        target = last
    count = 0
    inside = -1
    before = -1
    after = -1
    there = True
    for slot in range(first, last + 1):
        covers = covered(problem, state, lane, sentence, slot)
        left = first_of(covers)
        right = behind(covers)
        if left >= stop or right <= start:
            keep(problem, state, scratch, lane, sentence, slot, count)
            count += 1
            continue
        if left < start:
            there = there and put_open(problem, search, scratch, sentence, count, left, start)
            before = count
            count += 1
        if slot == target:
            there = there and put_open(problem, search, scratch, sentence, count, start, stop)
            inside = count
            count += 1
        if right > stop:
            there = there and put_open(problem, search, scratch, sentence, count, stop, right)
            after = count
            count += 1
    if not there:
        return -1, 0, 0, -1, -1, -1
    if before < 0:
        before = after
        after = -1
    return first, last - first + 1, count, inside, before, after
