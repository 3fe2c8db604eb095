"""Drawing translation options, and covering source words anew."""

from gpusearch.kernels.philox import below, uniform
from gpusearch.kernels.records import OPTION_LENGTH, OPTION_START, SENTENCE_LONGEST, SENTENCE_SPAN
from gpusearch.kernels.target import shared


@shared
def longest_of(problem, sentence):
    """Source words of a sentence's longest option: there are no rows for longer spans."""
    return problem.sentence[sentence, SENTENCE_LONGEST] + 0


@shared
def span_row(problem, sentence, start, length):
    """Row of ``problem.span`` for `length` source words from `start`."""
    return problem.sentence[sentence, SENTENCE_SPAN] + start * longest_of(problem, sentence) + length - 1


@shared
def draw_option(problem, random, row):
    """An option of a span that has one, by the weights of the option draw."""
    first = problem.span[row]
    last = problem.span[row + 1]
    return first + _find(problem, first, last, below(random, problem.option_draw[last - 1]))


@shared
def draw_other_option(problem, random, row, present):
    """An option of a span other than `present`, by the weights of the option draw; -1 where there is none."""
    first = problem.span[row]
    last = problem.span[row + 1]
    if last - first < 2:
        return -1
    before = 0
    if present > first:
        before = problem.option_draw[present - 1]
    weight = problem.option_draw[present] - before
    word = below(random, problem.option_draw[last - 1] - weight)
    if word >= before:
        word += weight
    return first + _find(problem, first, last, word)


@shared
def _find(problem, first, last, word):
    """Place in its span of the option whose share of the draw table holds `word`.

    Most draws end among the first four options, the best ones: they are compared without a branch.
    """
    last -= 1
    low = first
    if low + 4 < last:
        low += (
            (problem.option_draw[low] <= word)
            + (problem.option_draw[low + 1] <= word)
            + (problem.option_draw[low + 2] <= word)
            + (problem.option_draw[low + 3] <= word)
        )
        if low < first + 4:
            return low - first
    count = last - low + 1
    while count > 1:
        half = count >> 1
        if problem.option_draw[low + half - 1] <= word:
            low += half
        count -= half
    return low - first


@shared
def draw_length(problem, random, sentence, start, stop):
    """Source words of a phrase from `start` on that ends by `stop`: uniform over the lengths that have options.

    There is always one: every word has an option of its own.
    """
    row = span_row(problem, sentence, start, 1)
    most = min(longest_of(problem, sentence), stop - start)
    count = problem.length[row + most - 1, 0] + 0
    if count == 0:
        return 0
    return problem.length[row + uniform(random, count), 1] + 0


@shared
def put(scratch, place, option, start, stop):
    """Put a new phrase for the source words start .. stop - 1 into a proposal."""
    scratch.option[place] = option
    scratch.origin[place] = -1
    scratch.covers[place] = packed(start, stop)


@shared
def cover(problem, search, scratch, sentence, start, stop, count):
    """Cover the source words start .. stop - 1 from left to right with drawn options (Hardmeier et al. 2012, sec. 3.3).

    Appends to ``scratch.option`` from index `count` on and returns the new count, or -1 where no phrase fits.
    """
    while start < stop:
        length = draw_length(problem, scratch.random, sentence, start, stop)
        if length == 0:
            return -1
        row = span_row(problem, sentence, start, length)
        put(scratch, count, draw_option(problem, scratch.random, row), start, start + length)
        count += 1
        start += length
    return count


@shared
def start_of(problem, option):
    return problem.option_place[option, OPTION_START]


@shared
def stop_of(problem, option):
    """Source position behind the option's last word."""
    return problem.option_place[option, OPTION_START] + problem.option_place[option, OPTION_LENGTH]


@shared
def packed(start, stop):
    """The source words start .. stop - 1 as one number: the state and the proposal hold them beside their phrases, so
    that options, far apart in memory, need not be read for them."""
    return start | stop << 16


@shared
def first_of(covers):
    """First source word of a packed span."""
    return covers & 0xFFFF


@shared
def behind(covers):
    """Source position behind a packed span."""
    return covers >> 16
