"""Length of a sentence's translation beside that of its source, as Docent has it (sentence-length-model)."""

from typing import NamedTuple

from gpusearch.kernels.document import ceilings, change_of_words, delta, full, words_of_layout
from gpusearch.kernels.records import (
    OPTION_WORDS,
    SENTENCE_SLOT,
    SENTENCE_WORDS,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Array,
)
from gpusearch.kernels.target import shared

SHORTER, LONGER = range(2)


class SentenceLength(NamedTuple):
    """Sum over the sentences of a unit; an empty one is worth nothing."""

    value: Array  # int32[2, *]: of a translation that has so many words less than its source, or more; 2^-20 nat


@shared
def of_lengths(feature, source, target):
    """The value of a sentence of so many source and target words."""
    if target < source:
        return feature.value[SHORTER, source - target] + 0
    return feature.value[LONGER, target - source] + 0


@full.version(SentenceLength)
def full_lengths(feature, problem, search, state, scratch, lane):
    unit = state.unit[lane]
    total = 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        phrases = state.length[lane, local]
        if phrases > 0:
            words = state.place[lane, problem.sentence[sentence, SENTENCE_SLOT] + phrases]
            total += of_lengths(feature, problem.sentence[sentence, SENTENCE_WORDS], words)
    return total


@delta.version(SentenceLength)
def change_of_lengths(feature, problem, search, state, scratch, lane, change):
    words, more = change_of_words(problem, state, scratch, lane, change)
    if more == 0:
        return 0
    source = problem.sentence[change.sentence, SENTENCE_WORDS]
    return of_lengths(feature, source, words + more) - of_lengths(feature, source, words)


@ceilings.version(SentenceLength)
def ceilings_of_lengths(feature, weight, problem, search, state, scratch, lane, change):
    """The best of the lengths that a layout may give the sentence."""
    words, more = change_of_words(problem, state, scratch, lane, change)
    for k in range(change.count):
        if scratch.origin[k] < 0:
            more -= problem.option_place[scratch.option[k], OPTION_WORDS]
    fewest, most = words_of_layout(problem, scratch.changed)
    source = problem.sentence[change.sentence, SENTENCE_WORDS] + 0
    greatest = weight * of_lengths(feature, source, words + more + fewest)
    for put_in in range(fewest + 1, most + 1):
        greatest = max(greatest, weight * of_lengths(feature, source, words + more + put_in))
    return greatest - weight * of_lengths(feature, source, words)
