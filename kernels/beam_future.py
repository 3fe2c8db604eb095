"""What the words that a hypothesis has not covered will add: as estimated, and at most."""

from gpusearch.kernels.beam_records import LOWEST
from gpusearch.kernels.options import longest_of, span_row
from gpusearch.kernels.records import LM_END, LM_FIRST_SLOT, LM_WEIGHT, SENTENCE_WORDS
from gpusearch.kernels.target import shared


@shared
def best_sums(problem, value, sums, sentence):
    """Into `sums`: for each range of source words the best sum of values (int64[spans]) of spans that cover it."""
    words = problem.sentence[sentence, SENTENCE_WORDS] + 0
    stride = words + 1
    for start in range(words + 1):
        sums[start * stride + start] = 0
    for length in range(1, words + 1):
        for start in range(words - length + 1):
            stop = start + length
            best = LOWEST
            if length <= longest_of(problem, sentence):
                best = value[span_row(problem, sentence, start, length)] + 0
            for middle in range(start + 1, stop):
                best = max(best, sums[start * stride + middle] + sums[middle * stride + stop])
            sums[start * stride + stop] = best


@shared
def look_ahead(problem, beam, work, sentence):
    """``work.future``: what each range of source words is estimated to add; ``work.excess``: by how much it may add
    more, where there is a goal."""
    best_sums(problem, beam.best, work.future, sentence)
    if beam.goal[sentence] == LOWEST:
        return
    best_sums(problem, beam.most, work.excess, sentence)
    stride = problem.sentence[sentence, SENTENCE_WORDS] + 1
    for start in range(stride):
        for entry in range(start * stride + start, (start + 1) * stride):
            work.excess[entry] -= work.future[entry]


@shared
def excess_of(work, gap, mask, words):
    """By how much all that is not covered may add more than is estimated."""
    stride = words + 1
    total = 0
    start = gap
    while mask != 0:
        stop = start
        while mask & 1 == 0:
            mask >>= 1
            stop += 1
        total += work.excess[start * stride + stop]
        while mask & 1:
            mask >>= 1
            stop += 1
        start = stop
    return total + work.excess[start * stride + words]


@shared
def end_bound(problem):
    """Upper bound of what the sentence's end adds."""
    total = 0
    for model in range(problem.language.info.shape[0]):
        info = problem.language.info
        total += info[model, LM_WEIGHT] * problem.language.extreme[info[model, LM_FIRST_SLOT] + info[model, LM_END]]
    return total
