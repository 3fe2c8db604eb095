"""Source-tree cohesion as a feature: what cohesion.py counts, below 0."""

from typing import NamedTuple

from gpusearch.kernels.cohesion import Trees, change_of_cohesion, cohesion_of_sentence
from gpusearch.kernels.document import delta, full
from gpusearch.kernels.records import UNIT_FIRST_SENTENCE, UNIT_SENTENCES, VALUE_BITS, Array
from gpusearch.kernels.target import shared

# Indices of Cohesion.number, and what the second may be.
EXHAUSTIVE, COUNTED = range(2)
INTERRUPTIONS, LEFT_BEHIND, VERBS, NOUNS = range(4)


class Cohesion(NamedTuple):
    """Sum over the sentences of a unit. Work space is ``Scratch.mark``: a place for each word of a tree."""

    trees: Trees
    number: Array  # int64[2]: whether all words are foci; which of the four numbers of a step counts


@shared
def value_of(feature, interruptions, words, verbs, nouns):
    """The value of the numbers of some steps, or of their change, 2^-20."""
    counted = feature.number[COUNTED]
    found = interruptions
    if counted == LEFT_BEHIND:
        found = words
    elif counted == VERBS:
        found = verbs
    elif counted == NOUNS:
        found = nouns
    return -(found << VALUE_BITS)


@full.version(Cohesion)
def full_cohesion(feature, problem, search, state, scratch, lane):
    unit = state.unit[lane]
    total = 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        one, words, verbs, nouns = cohesion_of_sentence(
            feature.trees, problem, state, lane, local, sentence, scratch.mark, feature.number[EXHAUSTIVE]
        )
        total += value_of(feature, one, words, verbs, nouns)
    return total


@delta.version(Cohesion)
def change_of_value(feature, problem, search, state, scratch, lane, change):
    one, words, verbs, nouns = change_of_cohesion(
        feature.trees,
        problem,
        state,
        scratch,
        lane,
        change.local,
        change.sentence,
        scratch.mark,
        change.first,
        change.replaced,
        change.count,
        feature.number[EXHAUSTIVE],
    )
    return value_of(feature, one, words, verbs, nouns)
