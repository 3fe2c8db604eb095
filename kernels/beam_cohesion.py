"""Source-tree cohesion in the beam: all features of the same trees at once, so that a step is looked at once."""

from typing import NamedTuple

from gpusearch.kernels.beam_document import gain, needs_span, note_translated
from gpusearch.kernels.cohesion import (
    Trees,
    cover_words,
    interruption_from_all,
    interruption_from_ends,
    open_words,
)
from gpusearch.kernels.options import packed
from gpusearch.kernels.records import VALUE_BITS, Array
from gpusearch.kernels.target import shared

# Rows of BeamCohesion.weight; its columns are those of `cohesive.value_of`.
FROM_ENDS, FROM_ALL = range(2)


class BeamCohesion(NamedTuple):
    """Weighted sum of what interrupts subtrees. Work space is a place for each word of a tree."""

    trees: Trees
    # int64[2, 4]: weight (2^-20) of each of the four numbers of a step; seen from the ends of the phrase before it, and
    # from all words
    weight: Array


@shared
def weighs(feature, row):
    """Whether a number of these foci has a weight."""
    weight = feature.weight
    return (weight[row, 0] | weight[row, 1] | weight[row, 2] | weight[row, 3]) != 0


@shared
def weighted(feature, row, interruptions, words, verbs, nouns):
    """Weighted sum of the four numbers of a step, 2^-20."""
    weight = feature.weight
    return weight[row, 0] * interruptions + weight[row, 1] * words + weight[row, 2] * verbs + weight[row, 3] * nouns


@needs_span.version(BeamCohesion)
def needs_ends(feature):
    return weighs(feature, FROM_ENDS)


@note_translated.version(BeamCohesion)
def cover_translated(feature, missing, sentence, gap, mask):
    open_words(feature.trees, sentence, missing)
    cover_words(feature.trees, sentence, missing, packed(0, gap), 1)
    word = gap
    while mask != 0:
        if mask & 1:
            cover_words(feature.trees, sentence, missing, packed(word, word + 1), 1)
        mask >>= 1
        word += 1


@gain.version(BeamCohesion)
def gain_of_step(feature, missing, sentence, left, end, start, stop):
    if end == 0:
        return 0
    covers = packed(start, stop)
    cover_words(feature.trees, sentence, missing, covers, 1)
    loss = 0
    if weighs(feature, FROM_ENDS):
        one, words, verbs, nouns = interruption_from_ends(feature.trees, sentence, missing, packed(left, end), covers)
        loss += weighted(feature, FROM_ENDS, one, words, verbs, nouns)
    if weighs(feature, FROM_ALL):
        one, words, verbs, nouns = interruption_from_all(feature.trees, sentence, missing, covers)
        loss += weighted(feature, FROM_ALL, one, words, verbs, nouns)
    cover_words(feature.trees, sentence, missing, covers, -1)
    return -(loss << VALUE_BITS)
