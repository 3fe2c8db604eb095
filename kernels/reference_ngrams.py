"""The readable twin of the features of n-grams: patterns are spelled out, and looked for at every word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import floor

import numpy as np

from gpusearch.kernels.bleu import SMOOTH_BITS, Bleu
from gpusearch.kernels.clipped import GROUP, GROUPS, ITEM_FIRST, LIMIT, Clipped
from gpusearch.kernels.consensus import Consensus
from gpusearch.kernels.exponential import exponential
from gpusearch.kernels.glossary import Glossary
from gpusearch.kernels.ngrams import KINDS, NGrams
from gpusearch.kernels.records import OPTION_TARGET, OPTION_WORDS, SCORE_BITS, SENTENCE_OPTION, Problem, Search
from gpusearch.kernels.reference import Phrases, document_value
from gpusearch.kernels.reference_features import logarithm, nearest

Codes = tuple[int, ...]


@document_value.version(Consensus)
def consensus(feature: Consensus, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """Each word by the longest beginning of a pattern that ends with it."""
    total = 0
    for phrases in filter(None, sentences):
        states = spelled(feature.ngrams, sentence_of(problem, phrases))
        total += sum(int(feature.value[state]) for state in longest(states, codes_of(feature.ngrams, problem, phrases)))
    return total


@document_value.version(Bleu)
def bleu(feature: Bleu, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """From the counts of the whole text; logarithm and exponential are those of the kernels."""
    matches, totals, reference = [0] * GROUPS, [0] * GROUPS, 0
    for phrases in filter(None, sentences):
        sentence, words = sentence_of(problem, phrases), len(codes_of(feature.matches.ngrams, problem, phrases))
        for group, many in clipped(feature.matches, problem, phrases).items():
            matches[group] += many
        for order in range(GROUPS):
            totals[order] += max(0, words - order)
        lengths = [int(k) for k in feature.length[int(feature.first[sentence]) : int(feature.first[sentence + 1])]]
        reference += min(lengths, key=lambda length: (abs(length - words), length))
    smooth = int(feature.number[1])
    if not matches[0] or not all(many or smooth for many in matches):
        return 0
    minus_log = 0
    for order in range(GROUPS):
        added = smooth if order else 0
        counts = [(many[order] << SMOOTH_BITS) + added for many in (totals, matches)]
        minus_log += logarithm(search, counts[0]) - logarithm(search, counts[1])
    minus_log = floor(Fraction(minus_log, GROUPS) + Fraction(1, 2))
    if reference > totals[0]:
        minus_log += floor(Fraction((reference - totals[0]) << SCORE_BITS, totals[0]))
    return nearest(int(exponential(feature.table, minus_log)))


@document_value.version(Glossary)
def glossary(feature: Glossary, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> int:
    """What a sentence is worth without translations of its terms, and those translations up to their limits."""
    total = 0
    for phrases in filter(None, sentences):
        total += int(feature.sentence[sentence_of(problem, phrases)])
        total += int(feature.value[0]) * clipped(feature.terms, problem, phrases).total()
    return total


def clipped(counts: Clipped, problem: Problem, phrases: Phrases) -> Counter[int]:
    """Items of a sentence, each up to its limit, summed by groups."""
    sentence = sentence_of(problem, phrases)
    states = longest(spelled(counts.ngrams, sentence), codes_of(counts.ngrams, problem, phrases))
    found = Counter(
        int(counts.end[k]) for at in states for k in range(int(counts.first[at]), int(counts.first[at + 1]))
    )
    sums: Counter[int] = Counter()
    for item, many in found.items():
        row = int(counts.sentence[sentence, ITEM_FIRST]) + item
        sums[int(counts.item[row, GROUP])] += min(many, int(counts.item[row, LIMIT]))
    return sums


def longest(states: dict[Codes, int], codes: Codes) -> list[int]:
    """Of each word the state whose words are the longest that end there."""
    ends = [codes[:stop] for stop in range(1, len(codes) + 1)]
    return [next(states[end[k:]] for k in range(len(end) + 1) if end[k:] in states) for end in ends]


def spelled(ngrams: NGrams, sentence: int) -> dict[Codes, int]:
    """The states of a sentence by their words."""
    kinds = int(ngrams.number[KINDS])
    edges: dict[int, list[tuple[int, int]]] = {}
    for place in range(len(ngrams.edge)):
        key, following = int(ngrams.edge[place, 0]), int(ngrams.edge[place, 1])
        if key >= 0:
            edges.setdefault(key // kinds, []).append((key % kinds, following))
    found: dict[Codes, int] = {(): int(ngrams.root[sentence])}
    pending: list[Codes] = [()]
    while pending:
        words = pending.pop()
        for code, following in edges.get(found[words], []):
            found[(*words, code)] = following
            pending.append((*words, code))
    return found


def sentence_of(problem: Problem, phrases: Phrases) -> int:
    """The sentence of a problem that some phrases belong to."""
    first = [int(problem.sentence[k, SENTENCE_OPTION]) for k in range(len(problem.sentence))]
    return int(np.searchsorted(first, phrases[0], side="right")) - 1


def codes_of(ngrams: NGrams, problem: Problem, phrases: Phrases) -> Codes:
    """Codes of the words of some phrases."""
    codes: list[int] = []
    for option in phrases:
        target = int(problem.option_place[option, OPTION_TARGET])
        codes += [int(ngrams.code[target + k]) for k in range(int(problem.option_place[option, OPTION_WORDS]))]
    return tuple(codes)
