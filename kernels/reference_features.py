"""The readable twin of the features of the document: what each is worth on a whole translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor, isqrt

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
from gpusearch.kernels.option_sum import Balance, OptionSum, Parity
from gpusearch.kernels.q_value import AS_LOGARITHM, PAIR_TABLE, SHIFT, QValue
from gpusearch.kernels.records import (
    OPTION_LENGTH,
    OPTION_TARGET,
    OPTION_WORDS,
    SCORE_BITS,
    SENTENCE_OPTION,
    UNIT_FIRST_SENTENCE,
    VALUE_BITS,
    Problem,
    Search,
)
from gpusearch.kernels.reference import Phrases, Proposal, document_bound, document_value
from gpusearch.kernels.semantic import (
    BINS,
    COSINE_BITS,
    FIRST_CELL,
    LENGTH_BITS,
    LENGTHS,
    SEMANTIC_HISTORY,
    VECTOR_BITS,
    Semantic,
)
from gpusearch.kernels.semantic_document import BEST, SemanticDocument
from gpusearch.kernels.sentence_length import LONGER, SHORTER, SentenceLength
from gpusearch.kernels.target import plain
from gpusearch.kernels.type_token import FORM, LOGARITHM, OVIX, RATIO, WORD_TABLE, TypeToken
from gpusearch.kernels.well_formedness import WellFormedness


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


@document_value.version(QValue)
def q_value(feature: QValue, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Mean of f / (n(s) + n(t)) over the occurrences of pairs, with rounded reciprocals; all of one unit."""
    number = [int(k) for k in feature.number]
    counts = items(problem, number[PAIR_TABLE], sentences)
    if not counts:
        return 0
    unit = unit_of(problem, next(option for phrases in sentences for option in phrases))
    row = int(feature.unit[unit, 0])
    sides = {item: tuple(int(k) for k in (feature.side[row + item, 0], feature.side[row + item, 1])) for item in counts}
    partners = Counter(side for both in sides.values() for side in both)
    total = sum(
        f * f * ((2 << number[SHIFT]) // (partners[source] + partners[target]) + 1 >> 1)
        for f, (source, target) in ((f, sides[item]) for item, f in counts.items())
    )
    if number[AS_LOGARITHM]:
        return nearest(
            logarithm(search, total) - logarithm(search, 1 << number[SHIFT]) - logarithm(search, counts.total())
        )
    return floor(Fraction(total, counts.total() << (number[SHIFT] - VALUE_BITS)) + Fraction(1, 2))


def unit_of(problem: Problem, option: int) -> int:
    """The unit of an option."""
    sentences = problem.sentence
    sentence = max(n for n in range(len(sentences)) if int(sentences[n, SENTENCE_OPTION]) <= option)
    return max(u for u in range(len(problem.unit)) if int(problem.unit[u, UNIT_FIRST_SENTENCE]) <= sentence)


@document_value.version(SemanticDocument)
def semantic(feature: SemanticDocument, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Each word of the space by its cosine with the sum of the words of the space before it."""
    codes = semantic_codes(feature, problem, sentences)
    cells = semantic_cells(feature.model, codes)
    return sum(semantic_value(feature.model, code, cell) for code, cell in zip(codes, cells, strict=True))


@document_bound.version(SemanticDocument)
def semantic_bound(
    feature: SemanticDocument,
    weight: int,
    problem: Problem,
    search: Search,
    sentences: Sequence[Phrases],
    local: int,
    proposal: Proposal,
) -> int:
    """Words of the space at their best where they are put in; those behind, as many as a history has, by their lift."""
    phrases, first, last = sentences[local], proposal.first, proposal.first + proposal.replaced
    front = semantic_codes(feature, problem, [*sentences[:local], phrases[:first]])
    old, new = (semantic_codes(feature, problem, [options]) for options in (phrases[first:last], proposal.options))
    back = semantic_codes(feature, problem, [phrases[last:], *sentences[local + 1 :]])
    cells = semantic_cells(feature.model, [*front, *old, *back])[len(front) :]
    while old and new and old[0] == new[0]:
        del old[0], new[0], cells[0]
    while old and new and old[-1] == new[-1]:
        back.insert(0, old.pop())
        new.pop()
    going = zip(old, cells[: len(old)], strict=True)
    total = -sum(semantic_value(feature.model, code, cell) for code, cell in going)
    total += sum(int(feature.number[BEST]) if code >= 0 else semantic_value(feature.model, code, 0) for code in new)
    changing = max(sum(code >= 0 for code in codes) for codes in (old, new))
    if changing:
        behind = [cell for code, cell in zip(back, cells[len(old) :], strict=True) if code >= 0]
        row = min(changing, feature.lift.shape[0]) - 1
        total += sum(int(feature.lift[row, cell]) for cell in behind[: int(feature.model.number[SEMANTIC_HISTORY])])
    return weight * total


def semantic_codes(feature: SemanticDocument, problem: Problem, sentences: Sequence[Phrases]) -> list[int]:
    """Codes of the words of some sentences."""
    codes = []
    for option in (option for phrases in sentences for option in phrases):
        target = int(problem.option_place[option, OPTION_TARGET])
        codes += [int(feature.code[target + k]) for k in range(int(problem.option_place[option, OPTION_WORDS]))]
    return codes


def semantic_value(model: Semantic, code: int, cell: int) -> int:
    """Value of a word, 2^-20 nat."""
    return int(model.value[cell] if code >= 0 else model.fixed[-1 - code])


def semantic_cells(model: Semantic, codes: Sequence[int]) -> list[int]:
    """Cells of the words of a document; 0 of those that are none of the space."""
    vectors = [
        [int(model.vector[row, d]) for d in range(model.vector.shape[1])] for row in range(model.vector.shape[0])
    ]
    history = int(model.number[SEMANTIC_HISTORY])
    before: list[list[int]] = []
    cells = []
    for code in codes:
        if code < 0:
            cells.append(0)
            continue
        mean = [sum(column) for column in zip(*before[-history:], strict=True)]
        dot = sum(one * other for one, other in zip(vectors[code], mean, strict=False))
        length = isqrt(sum(one * one for one in mean))
        cosine = (dot << (COSINE_BITS - VECTOR_BITS)) // length if length else 0
        place = BINS * (cosine + (1 << COSINE_BITS)) // (2 << COSINE_BITS)
        halves = min(length // (1 << LENGTH_BITS), LENGTHS - 1)
        cells.append(BINS * halves + min(max(place, 0), BINS - 1) if before else FIRST_CELL)
        before.append(vectors[code])
    return cells


@document_value.version(SentenceLength)
def sentence_length(feature: SentenceLength, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Of each sentence, by its source and target words."""
    total = 0
    for phrases in filter(None, sentences):
        place = [problem.option_place[option] for option in phrases]
        longer = sum(int(option[OPTION_WORDS]) - int(option[OPTION_LENGTH]) for option in place)
        total += int(feature.value[LONGER, longer] if longer >= 0 else feature.value[SHORTER, -longer])
    return total


@document_value.version(OptionSum)
def option_sum(feature: OptionSum, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Of each option by itself."""
    return sum(int(feature.value[option]) for phrases in sentences for option in phrases)


@document_value.version(Balance)
def balance(feature: Balance, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Of each pair how much more often one of it occurs."""
    every = [option for phrases in sentences for option in phrases]
    pairs = range(feature.value.shape[0])
    return -sum(abs(sum(int(feature.value[pair, option]) for option in every)) for pair in pairs) << VALUE_BITS


@document_value.version(Parity)
def parity(feature: Parity, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """The rarer of even and odd numbers of words."""
    words = [sum(int(problem.option_place[o, OPTION_WORDS]) for o in phrases) for phrases in sentences if phrases]
    odd = sum(number % 2 for number in words)
    return -min(odd, len(words) - odd) << VALUE_BITS


@document_value.version(WellFormedness)
def well_formedness(feature: WellFormedness, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """With a stack of the open tags, from the first tag of the document to the last."""
    conflicts, opened = 0, list[int]()
    for option in (option for phrases in sentences for option in phrases):
        for tag in feature.tag[int(feature.first[option]) : int(feature.first[option + 1])]:
            if tag > 0:
                opened.append(int(tag))
            elif opened and opened[-1] == -tag:
                opened.pop()
            else:
                conflicts += 1
    return -(conflicts + len(opened)) << VALUE_BITS


@document_value.version(Cohesion)
def cohesion(feature: Cohesion, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Step by step, T(n) as sets of words (gpusearch/features/cohesion.py has the algorithms as they are printed)."""
    feature, problem = plain(feature), plain(problem)
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
