"""The readable twin of the features of the document: what each is worth on a whole translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor

import numpy as np

from gpusearch.kernels.cohesion import (
    NODE_HEAD,
    NODE_KIND,
    NODE_STOP,
    NODE_TOKENS,
    NOUN,
    TREE_NODE,
    TREE_TOKEN,
    TREE_WORDS,
    VERB,
)
from gpusearch.kernels.cohesive import COUNTED, EXHAUSTIVE, INTERRUPTIONS, LEFT_BEHIND, NOUNS, VERBS, Cohesion
from gpusearch.kernels.fixed import minus_log_of_ratio
from gpusearch.kernels.records import (
    OPTION_LENGTH,
    OPTION_WORDS,
    SCORE_BITS,
    SENTENCE_OPTION,
    VALUE_BITS,
    Problem,
    Search,
)
from gpusearch.kernels.reference import Phrases, document_value
from gpusearch.kernels.sentence_length import LONGER, SHORTER, SentenceLength
from gpusearch.kernels.type_token import FORM, LOGARITHM, OVIX, RATIO, WORD_TABLE, TypeToken


def items(problem: Problem, table: int, sentences: Sequence[Phrases]) -> Counter[int]:
    """How often each item of a table of counts occurs."""
    assert problem.document
    first, item = problem.document.first[table], problem.document.item
    return Counter(int(k) for phrases in sentences for o in phrases for k in item[int(first[o]) : int(first[o + 1])])


def logarithm(search: Search, number: int) -> int:
    """ln of a whole number, 2^-40 nat."""
    of_one, of_number = (minus_log_of_ratio(search.logarithm, one, 62) for one in (1, number))
    return int(of_one) - int(of_number)


def nearest(value: int) -> int:
    """From 2^-40 to 2^-20, rounded to the nearest."""
    bits = SCORE_BITS - VALUE_BITS
    return (value + (1 << (bits - 1))) >> bits


@document_value.version(TypeToken)
def type_token(feature: TypeToken, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """By different words V and words N."""
    counts = items(problem, int(feature.number[WORD_TABLE]), sentences)
    types, tokens, form = len(counts), counts.total(), feature.number[FORM]
    if not tokens:
        return 0
    if form == RATIO:
        return floor(Fraction(types * (1 << VALUE_BITS), tokens) + Fraction(1, 2))
    if form == LOGARITHM:
        return nearest(logarithm(search, types) - logarithm(search, tokens))
    if form == OVIX and types == tokens:
        if tokens < 3:
            return 0
        types -= 1
    longer = logarithm(search, tokens if form == OVIX else tokens + 1)
    divisor = logarithm(search, 2 * longer - logarithm(search, types)) - logarithm(search, longer)
    value = floor(Fraction(logarithm(search, tokens) * (1 << VALUE_BITS), divisor) + Fraction(1, 2))
    return value if form == OVIX else -value


@document_value.version(SentenceLength)
def sentence_length(feature: SentenceLength, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Of each sentence, by its source and target words."""
    total = 0
    for phrases in filter(None, sentences):
        place = [problem.option_place[option] for option in phrases]
        longer = sum(int(option[OPTION_WORDS]) - int(option[OPTION_LENGTH]) for option in place)
        total += int(feature.value[LONGER, longer] if longer >= 0 else feature.value[SHORTER, -longer])
    return total


@document_value.version(Cohesion)
def cohesion(feature: Cohesion, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Step by step, T(n) as sets of words (gpusearch/features/cohesion.py has the algorithms as they are printed)."""
    total = 0
    for phrases in filter(None, sentences):
        number = int(np.searchsorted(problem.sentence[:, SENTENCE_OPTION], phrases[0], side="right")) - 1
        spans = [range(start, start + length) for start, length in problem.option_place[list(phrases), :2].tolist()]
        for place in range(1, len(spans)):
            total += _left_behind(feature, number, spans[:place], spans[place])
    return -total << VALUE_BITS


def _left_behind(feature: Cohesion, sentence: int, before: Sequence[range], span: range) -> int:
    """What counts of the step to a span."""
    trees = feature.trees
    row = trees.sentence[sentence]
    node = trees.node[row[TREE_NODE] :][: row[TREE_WORDS]].tolist()
    below = [set(range(number, one[NODE_STOP])) for number, one in enumerate(node)]

    def words(tokens: Iterable[int]) -> list[int]:
        rows = trees.token[[row[TREE_TOKEN] + token for token in tokens], 2:].tolist()
        return [word for first, last in rows for word in trees.word[first:last].tolist()]

    translated = Counter(words(token for part in (*before, span) for token in part))
    missing = {number for number, one in enumerate(node) if translated[number] < one[NODE_TOKENS]}
    ends = {before[-1][0], before[-1][-1]}
    foci = words(token for part in before for token in part) if feature.number[EXHAUSTIVE] else words(ends)
    left: set[int] = set()
    for focus in foci:
        highest, above = None, focus
        while above >= 0 and not set(words(span)) <= below[above]:
            highest, above = above, node[above][NODE_HEAD]
        if highest is not None:
            left |= below[highest] & missing
    kinds = [node[number][NODE_KIND] for number in left]
    numbers = {
        INTERRUPTIONS: min(1, len(left)),
        LEFT_BEHIND: len(left),
        VERBS: kinds.count(VERB),
        NOUNS: kinds.count(NOUN),
    }
    return numbers[int(feature.number[COUNTED])]
