"""Terms of a glossary: how many of those in the source have one of their translations in the target."""

from typing import NamedTuple

from gpusearch.kernels.clipped import Clipped, keep_matches, list_matches, start_matches
from gpusearch.kernels.document import delta, full, keep
from gpusearch.kernels.records import UNIT_FIRST_SENTENCE, UNIT_SENTENCES, Array


class Glossary(NamedTuple):
    """Sum over the sentences of a unit: of each term of the source, its translations up to its occurrences."""

    terms: Clipped  # an item each; all of one group
    sentence: Array  # int64[N]: what a sentence is worth without any of the translations, 2^-20 nat
    value: Array  # int64[1]: of a translation that counts, 2^-20 nat


@full.version(Glossary)
def full_glossary(feature, problem, search, state, scratch, lane):
    unit = state.unit[lane]
    work = scratch.changed.work
    work[0] = 0
    total = 0
    for local in range(problem.unit[unit, UNIT_SENTENCES]):
        sentence = problem.unit[unit, UNIT_FIRST_SENTENCE] + local
        start_matches(feature.terms, problem, state, work, lane, local, sentence)
        total += feature.sentence[sentence]
    return total + feature.value[0] * work[0]


@delta.version(Glossary)
def change_of_glossary(feature, problem, search, state, scratch, lane, change):
    list_matches(feature.terms, problem, state, scratch, lane, change)
    return feature.value[0] * scratch.changed.work[0]


@keep.version(Glossary)
def keep_glossary(feature, problem, search, state, scratch, lane, change):
    keep_matches(feature.terms, problem, state, scratch, lane, change)
