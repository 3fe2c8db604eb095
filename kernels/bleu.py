"""BLEU of a translated document (Papineni et al. 2002) against references, inside the search."""

from typing import NamedTuple

from gpusearch.kernels.clipped import GROUPS, Clipped, keep_matches, list_matches, start_matches
from gpusearch.kernels.document import change_of_words, delta, full, keep
from gpusearch.kernels.exponential import exponential
from gpusearch.kernels.fixed import minus_log_of_ratio
from gpusearch.kernels.records import SCORE_BITS, SENTENCE_WORDS, UNIT_FIRST_SENTENCE, UNIT_SENTENCES, Array
from gpusearch.kernels.target import shared
from gpusearch.kernels.type_token import LOG_POWER, rounded

# What is summed over the sentences of a unit, in State.sum and, as changes, in the work space: matches of n-grams of
# 1 .. 4 words, n-grams of the translation, words of the reference. Behind them in State.sum the value stands.
MATCHES, TOTALS, REFERENCE, VALUE = 0, GROUPS, 2 * GROUPS, 2 * GROUPS + 1
BLEU_SUMS = 2 * GROUPS + 2
# Numbers of n-grams, below 2^22, with what smoothing adds.
SMOOTH_BITS = 40


class Bleu(NamedTuple):
    """exp of the mean ln of four precisions, and of 1 - r / c where the translation's c words are fewer than the
    reference's r; groups of the matches are orders of n-grams, items n-grams of the references.

    0 where a precision is 0, or no word matches. The reference of a sentence whose length is closest counts; of two
    that are as close the shorter one.
    """

    matches: Clipped
    number: Array  # int64[2]: first column of State.sum; what is added to matches and n-grams of 2 .. 4 words, 2^-40
    length: Array  # int32[*]: words of the references of a sentence, rising
    first: Array  # int64[N + 1]: where those of a sentence begin
    table: Array  # int64[*]: of the exponential


@shared
def closest_length(feature, sentence, words):
    """Words of the reference that a translation of so many words is held against; 0 without any."""
    closest = 0
    least = 1 << 62
    for k in range(feature.first[sentence], feature.first[sentence + 1]):
        distance = abs(feature.length[k] - words)
        if distance < least:
            least = distance
            closest = feature.length[k] + 0
    return closest


@shared
def minus_log_of_precision(feature, search, order, matched, total):
    """-ln of a smoothed precision, 2^-40 nat; `order` counts from 0."""
    smooth = 0 if order == 0 else feature.number[1] + 0
    of_total = minus_log_of_ratio(search.logarithm, (total << SMOOTH_BITS) + smooth, LOG_POWER)
    return minus_log_of_ratio(search.logarithm, (matched << SMOOTH_BITS) + smooth, LOG_POWER) - of_total


@shared
def value_of_sums(feature, search, state, work, lane):
    """BLEU of the sums of a lane with the changes of the work space, 2^-20."""
    sums = feature.number[0] + 0
    minus_log = 0
    for order in range(GROUPS):
        matched = state.sum[lane, sums + MATCHES + order] + work[MATCHES + order]
        total = state.sum[lane, sums + TOTALS + order] + work[TOTALS + order]
        if matched == 0 and (order == 0 or feature.number[1] == 0):
            return 0
        minus_log += minus_log_of_precision(feature, search, order, matched, total)
    words = state.sum[lane, sums + TOTALS] + work[TOTALS]
    missing = state.sum[lane, sums + REFERENCE] + work[REFERENCE] - words
    minus_log = (minus_log + GROUPS // 2) // GROUPS
    if missing > 0:
        minus_log += (missing << SCORE_BITS) // words
    return rounded(exponential(feature.table, minus_log))


@shared
def add_lengths(feature, work, sentence, words, by):
    """Add to the listed changes what follows from a sentence's number of words."""
    for order in range(GROUPS):
        work[TOTALS + order] = work[TOTALS + order] + by * max(0, words - order)
    work[REFERENCE] = work[REFERENCE] + by * closest_length(feature, sentence, words)


@shared
def list_changes_of_sums(feature, problem, state, scratch, lane, change):
    """List all changes of sums but those of the matches."""
    work = scratch.changed.work
    for k in range(TOTALS, VALUE):
        work[k] = 0
    words, more = change_of_words(problem, state, scratch, lane, change)
    if more != 0:
        add_lengths(feature, work, change.sentence, words + more, 1)
        add_lengths(feature, work, change.sentence, words, -1)


@full.version(Bleu)
def full_bleu(feature, problem, search, state, scratch, lane):
    work = scratch.changed.work
    for k in range(VALUE):
        work[k] = 0
    unit = state.unit[lane]
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        if problem.sentence[sentence, SENTENCE_WORDS] > 0:
            words = start_matches(feature.matches, problem, state, work, lane, local, sentence)
            add_lengths(feature, work, sentence, words, 1)
    for k in range(VALUE):
        state.sum[lane, feature.number[0] + k] = 0
    value = value_of_sums(feature, search, state, work, lane)
    for k in range(VALUE):
        state.sum[lane, feature.number[0] + k] = work[k]
    state.sum[lane, feature.number[0] + VALUE] = value
    return value


@delta.version(Bleu)
def change_of_bleu(feature, problem, search, state, scratch, lane, change):
    list_matches(feature.matches, problem, state, scratch, lane, change)
    list_changes_of_sums(feature, problem, state, scratch, lane, change)
    work = scratch.changed.work
    same = True
    for k in range(VALUE):
        same = same and work[k] == 0
    if same:
        return 0
    return value_of_sums(feature, search, state, work, lane) - state.sum[lane, feature.number[0] + VALUE]


@keep.version(Bleu)
def keep_bleu(feature, problem, search, state, scratch, lane, change):
    keep_matches(feature.matches, problem, state, scratch, lane, change)
    list_changes_of_sums(feature, problem, state, scratch, lane, change)
    work = scratch.changed.work
    value = value_of_sums(feature, search, state, work, lane)
    sums = feature.number[0] + 0
    for k in range(VALUE):
        state.sum[lane, sums + k] = state.sum[lane, sums + k] + work[k]
    state.sum[lane, sums + VALUE] = value
