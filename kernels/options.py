"""Drawing translation options, and covering source words anew."""

from gpusearch.kernels.philox import below, uniform
from gpusearch.kernels.records import LONGEST, OPTION_LENGTH, OPTION_START, SENTENCE_SPAN
from gpusearch.kernels.target import shared


@shared
def span_row(problem, search, sentence, start, length):
    """Row of ``problem.span`` for `length` source words from `start`."""
    return problem.sentence[sentence, SENTENCE_SPAN] + start * search.number[LONGEST] + length - 1


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
    """Place in its span of the option whose share of the draw table holds `word`."""
    low = first
    count = last - first
    while count > 1:
        half = count >> 1
        if problem.option_draw[low + half - 1] <= word:
            low += half
        count -= half
    return low - first


@shared
def draw_length(problem, search, random, sentence, start, stop):
    """Source words of a phrase from `start` on that ends by `stop`: uniform over the lengths that have options.

    There is always one: every word has an option of its own.
    """
    row = span_row(problem, search, sentence, start, 1)
    most = min(search.number[LONGEST], stop - start)
    count = 0
    for length in range(most):
        if problem.span[row + length + 1] > problem.span[row + length]:
            count += 1
    if count == 0:
        return 0
    chosen = uniform(random, count)
    for length in range(most):
        if problem.span[row + length + 1] > problem.span[row + length]:
            if chosen == 0:
                return length + 1
            chosen -= 1
    return 0


@shared
def cover(problem, search, scratch, sentence, start, stop, count):
    """Cover the source words start .. stop - 1 from left to right with drawn options (Hardmeier et al. 2012, sec. 3.3).

    Appends to ``scratch.option`` from index `count` on and returns the new count, or -1 where no phrase fits.
    """
    while start < stop:
        length = draw_length(problem, search, scratch.random, sentence, start, stop)
        if length == 0:
            return -1
        row = span_row(problem, search, sentence, start, length)
        scratch.option[count] = draw_option(problem, scratch.random, row)
        scratch.origin[count] = -1
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
