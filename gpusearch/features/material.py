"""What features are made from: the options of a batch as numbers of words, and as words.

Letters: ``O`` options, ``T`` places of target words (columns of ``Problem.target_word``), ``U`` units, ``N`` sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import (
    OPTION_LENGTH,
    OPTION_START,
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_LONGEST,
    SENTENCE_OPTION,
    SENTENCE_SPAN,
    SENTENCE_WORDS,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Problem,
)
from gpusearch.model.entries import offsets_of, ranges, sums
from gpusearch.model.extents import longest_derivations
from gpusearch.model.options import Options

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Points:
    """Word alignment within the phrase pairs: those of option o are the rows ``first[o] .. first[o + 1] - 1``."""

    first: NDArray[np.int64]
    place: NDArray[np.int64]
    """``[*, 2]``: source and target position within the pair."""


@dataclass(frozen=True, eq=False)
class Material:
    """The words of a problem. Equal words have equal numbers, whatever table they come from."""

    problem: Problem
    word: NDArray[np.int64]
    """``[T]``: number of each target word."""
    words: Sequence[str]
    """Target words by number."""
    source: NDArray[np.int64]
    """Numbers of the source words of all sentences, one sentence after the other."""
    source_words: Sequence[str]
    """Source words by number."""
    find_points: Callable[[], Points]
    tables: dict[str, Any] = field(default_factory=dict, init=False)
    """Tables of counts that have been made (`gpusearch.features.counts`)."""

    @cached_property
    def points(self) -> Points:
        """Word alignment of all options."""
        return self.find_points()

    @cached_property
    def sentence(self) -> NDArray[np.int64]:
        """``[O]``: the sentence of each option."""
        options = np.append(self.problem.sentence[:, SENTENCE_OPTION], len(self.problem.option_place))
        return np.repeat(np.arange(len(options) - 1), np.diff(options))

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """``[O]``: the unit of each option."""
        of_sentence = np.zeros(len(self.problem.sentence), np.int64)
        for unit, row in enumerate(self.problem.unit):
            first = int(row[UNIT_FIRST_SENTENCE])
            of_sentence[first : first + int(row[UNIT_SENTENCES])] = unit
        return of_sentence[self.sentence]

    @cached_property
    def first_source(self) -> NDArray[np.int64]:
        """``[N + 1]``: where the words of each sentence begin in `source`."""
        return offsets_of(self.problem.sentence[:, SENTENCE_WORDS])

    @cached_property
    def sentences(self) -> list[list[str]]:
        """``[N]``: source words of each sentence."""
        words = iter(self.source.tolist())
        counts = self.problem.sentence[:, SENTENCE_WORDS].tolist()
        return [[self.source_words[next(words)] for _ in range(count)] for count in counts]

    @cached_property
    def source_phrase(self) -> NDArray[np.int64]:
        """``[O]``: numbers of the options' source sides; equal words have equal numbers."""
        place = self.problem.option_place.astype(np.int64)
        begin = self.first_source[self.sentence] + place[:, OPTION_START]
        return _numbered(self.source, begin, place[:, OPTION_LENGTH])

    @cached_property
    def target_phrase(self) -> NDArray[np.int64]:
        """``[O]``: numbers of the options' target sides; equal words have equal numbers."""
        place = self.problem.option_place.astype(np.int64)
        return _numbered(self.word, place[:, OPTION_TARGET], place[:, OPTION_WORDS])

    @cached_property
    def longest_sentence(self) -> int:
        """Target words of the longest derivation of a sentence."""
        return int(self.most_of_sentences(self.problem.option_place[:, OPTION_WORDS]).max(initial=0))

    def most_of_sentences(self, counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """``[N]``: of each sentence the largest sum of a number, from 0 up, over the options of a derivation.

        Args:
            counts: ``[O]``: of each option.
        """
        rows = self.problem.sentence
        return longest_derivations(
            rows[:, SENTENCE_WORDS],
            rows[:, SENTENCE_SPAN],
            self.problem.span,
            np.ascontiguousarray(counts, np.int32),
            rows[:, SENTENCE_LONGEST],
        )

    def columns(self, many: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
        """Columns for the sentences of a lane, of which each needs so many ``[N]``: the first of each sentence, counted
        within its unit ``[N]``, and how many the unit needs that needs most."""
        before = offsets_of(many)
        first, column = self.problem.unit[:, UNIT_FIRST_SENTENCE], before[:-1].copy()
        last = first + self.problem.unit[:, UNIT_SENTENCES]
        for begin, end in zip(first.tolist(), last.tolist(), strict=True):
            column[begin:end] -= before[begin]
        return column, int((before[last] - before[first]).max(initial=0))

    def most_of_derivations(
        self, group: NDArray[np.int64], option: NDArray[np.int64], value: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Bounds of the sums of a value over the options of a derivation, of each group of options ``[G]``.

        An option shares its value out to its source words; a derivation covers each of them once, so the sum of each
        word's largest share bounds it.

        Args:
            group: ``[*]``: from 0; the options of a group are of one sentence.
            option: ``[*]``: those that have a value, each once in a group.
            value: ``[*]``: from 0 up.
        """
        place = self.problem.option_place.astype(np.int64)
        words = place[option, OPTION_LENGTH]
        position = ranges(place[option, OPTION_START], words)
        stride = int(position.max(initial=0)) + 1
        cells, cell = np.unique(np.repeat(group, words) * stride + position, return_inverse=True)
        largest = np.zeros(len(cells))
        np.maximum.at(largest, cell, np.repeat(value / words, words))
        return np.asarray(np.bincount(cells // stride, largest, int(group.max(initial=-1)) + 1), np.float64)

    def of_units(self, of_sentence: Sequence[float]) -> NDArray[np.float64]:
        """``[U]``: of each unit the sum of a number over its sentences."""
        before = np.cumsum([0.0, *of_sentence])
        first = self.problem.unit[:, UNIT_FIRST_SENTENCE]
        found: NDArray[np.float64] = before[first + self.problem.unit[:, UNIT_SENTENCES]] - before[first]
        return found

    def sums(self, of_word: NDArray[np.int64]) -> NDArray[np.int64]:
        """``[O]``: of each option the sum over its target words; `of_word` has a number for each of `words`."""
        places, first = self.target_places()
        return np.asarray(sums(of_word[self.word[places]], first), np.int64)

    def target_places(self) -> tuple[Array, Array]:
        """Places of the target words of all options, one option after the other, and where each option's begin."""
        place = self.problem.option_place.astype(np.int64)
        return ranges(place[:, OPTION_TARGET], place[:, OPTION_WORDS]), offsets_of(place[:, OPTION_WORDS])


def _numbered(words: Array, begin: Array, counts: Array) -> Array:
    """Numbers of the sequences ``words[begin[i] : begin[i] + counts[i]]``, from 0; equal ones have equal numbers."""
    stride = int(counts.max(initial=0)) + 1
    places, back = np.unique(begin * stride + counts, return_inverse=True)
    numbers: dict[bytes, int] = {}
    found = [
        numbers.setdefault(words[place // stride : place // stride + place % stride].tobytes(), len(numbers))
        for place in places.tolist()
    ]
    return np.array(found, np.int64)[back]


def material_of(problem: Problem, options: Options) -> Material:
    """The material of a batch."""
    word, words = _target_words(options)
    numbers: dict[str, int] = {}
    source = [numbers.setdefault(word, len(numbers)) for sentence in options.sentences for word in sentence]
    return Material(
        problem=problem,
        word=word,
        words=words,
        source=np.array(source, np.int64),
        source_words=list(numbers),
        find_points=lambda: _points(options),
    )


def _target_words(options: Options) -> tuple[Array, list[str]]:
    """Number of each target word of the entries, and the words."""
    entries, model = options.entries, options.model
    number_of = np.zeros(int(entries.first_word[-1]), np.int64)
    counts = np.diff(entries.first_word)
    numbers: dict[str, int] = {}
    for number, table in enumerate(model.tables):
        pairs, here = table.pairs, np.flatnonzero(entries.table == number)
        ids = pairs.target_words[ranges(pairs.target_offsets[entries.row[here]], counts[here])]
        used, back = np.unique(ids, return_inverse=True)
        joint = [numbers.setdefault(pairs.target_vocabulary[int(i)], len(numbers)) for i in used]
        number_of[ranges(entries.first_word[here], counts[here])] = np.array(joint, np.int64)[back]
    for entry in np.flatnonzero(entries.table < 0).tolist():
        target = options.tableless.target(int(entries.table[entry]), int(entries.row[entry]))
        begin = int(entries.first_word[entry])
        number_of[begin : begin + len(target)] = [numbers.setdefault(word, len(numbers)) for word in target]
    return number_of, list(numbers)


def _points(options: Options) -> Points:
    entries, model = options.entries, options.model
    many = np.zeros(len(entries), np.int64)
    for number, table in enumerate(model.tables):
        here = entries.table == number
        many[here] = np.diff(table.pairs.alignment_offsets)[entries.row[here]]
    rest = np.flatnonzero(entries.table < 0)
    kinds = zip(entries.table[rest].tolist(), entries.row[rest].tolist(), strict=True)
    of_rest = [options.tableless.alignment(table, row) for table, row in kinds]
    many[rest] = [len(points) for points in of_rest]
    first = offsets_of(many)
    place = np.zeros((int(first[-1]), 2), np.int64)
    place[ranges(first[rest], many[rest])] = np.array([*chain(*of_rest)], np.int64).reshape(-1, 2)
    for number, table in enumerate(model.tables):
        here = np.flatnonzero(entries.table == number)
        rows = ranges(table.pairs.alignment_offsets[entries.row[here]], many[here])
        place[ranges(first[here], many[here])] = table.pairs.alignment[rows]
    of_option = many[options.entry]
    return Points(offsets_of(of_option), place[ranges(first[options.entry], of_option)])
