"""The readable twin of the features of the document: what each is worth on a whole translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from gpusearch.kernels.fixed import minus_log_of_ratio
from gpusearch.kernels.records import OPTION_LENGTH, OPTION_WORDS, SCORE_BITS, VALUE_BITS, Problem, Search
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
