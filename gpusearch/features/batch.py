"""Many translations, and many proposals, as a feature written in Python or torch sees them.

Letters: ``L`` lanes (a translation of a document each), ``W`` words of the longest, ``R`` proposals. Words are numbers,
which `Preparation.words` names; -1 fills the rows. Row r of the states that come with proposals is the translation that
proposal r would change.

Words of states are read when they are looked at first, which costs what the documents have of them: a feature that
looks at what is removed and added alone never pays for the rest. So look at them while a function is at work: later the
search has moved on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import (
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Problem,
    Proposals,
    State,
)
from gpusearch.model.entries import offsets_of, ranges
from gpusearch.model.texts import lane_texts

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Preparation:
    """What a feature is told before it is asked."""

    words: Sequence[str]
    """Target words by their number: all that may occur."""
    sources: Sequence[Sequence[Sequence[str]]]
    """Source tokens of the documents (or, where each sentence is searched by itself, of the sentences)."""


@dataclass(frozen=True, eq=False)
class States:
    """Translations of L documents."""

    sentences: Integers
    """``[L]``: how many there are."""
    lane: Integers
    """``[L]``: a number that stays the same while a chain runs."""
    document: Integers
    """``[L]``: place of the document in `Preparation.sources`."""
    names: Sequence[str]
    """`Preparation.words`."""
    read: Callable[[], tuple[Integers, Integers]]
    """`words` and `sentence`."""

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def words(self) -> Integers:
        """``[L, W]``: target words of all sentences, one after the other."""
        return self._rows[0]

    @property
    def sentence(self) -> Integers:
        """``[L, W]``: the sentence of each word, from 0."""
        return self._rows[1]

    @cached_property
    def _rows(self) -> tuple[Integers, Integers]:
        return self.read()

    def texts(self) -> list[list[list[str]]]:
        """Of each translation the sentences, as lists of words."""
        result = []
        for words, sentence, count in zip(self.words, self.sentence, self.sentences, strict=True):
            texts: list[list[str]] = [[] for _ in range(int(count))]
            for word, place in zip(words.tolist(), sentence.tolist(), strict=True):
                if word >= 0:
                    texts[place].append(self.names[word])
            result.append(texts)
        return result


@dataclass(frozen=True, eq=False)
class Proposed:
    """R proposals: in each some words of a sentence give way to others."""

    state: States
    sentence: Integers
    """``[R]``"""
    place: Integers
    """``[R]``: where the words that give way begin in that sentence."""
    removed: Integers
    """``[R, *]``: words that give way."""
    added: Integers
    """``[R, *]``: words that take their place."""

    def __len__(self) -> int:
        return len(self.sentence)

    @cached_property
    def begin(self) -> Integers:
        """``[R]``: where the words that give way begin in a row of ``state.words``."""
        earlier = (self.state.sentence < self.sentence[:, None]) & (self.state.words >= 0)
        return np.asarray(earlier.sum(axis=1) + self.place, np.int64)

    @cached_property
    def after(self) -> States:
        """The translations as proposed."""
        rows = []
        for row, words in enumerate(self.state.words):
            begin, gone = int(self.begin[row]), int((self.removed[row] >= 0).sum())
            added = self.added[row][self.added[row] >= 0]
            rows.append(np.concatenate((words[:begin], added, words[begin + gone :])))
        places = []
        for row, sentence in enumerate(self.state.sentence):
            begin, gone = int(self.begin[row]), int((self.removed[row] >= 0).sum())
            added = np.full(int((self.added[row] >= 0).sum()), self.sentence[row])
            places.append(np.concatenate((sentence[:begin], added, sentence[begin + gone :])))
        after = padded(rows), padded(places)
        return replace(self.state, read=lambda: after)


@dataclass(frozen=True, eq=False)
class Reader:
    """Makes states and proposals of what kernels hold."""

    problem: Problem
    word: Integers
    """``[T]``: number of each target word."""
    words: Sequence[str]

    def states(self, state: State, lanes: Integers) -> States:
        """The translations of some lanes."""
        unit = state.unit[lanes].astype(np.int64)
        many = self.problem.unit[unit, UNIT_SENTENCES]
        lanes = np.array(lanes, np.int64)
        return States(many, lanes, unit, self.words, lambda: self._rows(state, lanes, many))

    def _rows(self, state: State, lanes: Integers, many: Integers) -> tuple[Integers, Integers]:
        """`States.words` and `States.sentence`; `many`: sentences of each lane."""
        texts = lane_texts(self.problem, state, lanes)
        counts = np.add.reduceat(texts.counts, offsets_of(many)[:-1])
        local = ranges(np.zeros_like(many), many)
        return _cut(self.word[texts.column], counts), _cut(np.repeat(local, texts.counts), counts)

    def proposed(self, state: State, proposals: Proposals) -> Proposed:
        """Some proposals; each with the translation of its lane."""
        unit = state.unit[proposals.lane]
        sentence = self.problem.unit[unit, UNIT_FIRST_SENTENCE] + proposals.sentence
        first = self.problem.sentence[sentence, SENTENCE_SLOT] + proposals.first
        gone = state.option[np.repeat(proposals.lane, proposals.replaced), ranges(first, proposals.replaced)]
        come = proposals.option[np.repeat(np.arange(len(first)), proposals.count), _counted(proposals.count)]
        return Proposed(
            self.states(state, proposals.lane),
            proposals.sentence,
            state.place[proposals.lane, first].astype(np.int64),
            self._words(gone, proposals.replaced),
            self._words(come, proposals.count),
        )

    def _words(self, options: NDArray[np.integer[Any]], counts: Integers) -> Integers:
        """``[R, *]``: words of the options of each row, of which there are `counts`."""
        place = self.problem.option_place[options].astype(np.int64)
        many = place[:, OPTION_WORDS]
        row = np.repeat(np.arange(len(counts)), counts)
        words = self.word[ranges(place[:, OPTION_TARGET], many)]
        return _cut(words, np.bincount(row, many, len(counts)).astype(np.int64))


def _counted(counts: Integers) -> Integers:
    """0 .. counts[i] - 1 of all i, one after the other."""
    return np.asarray(ranges(np.zeros_like(counts), counts), np.int64)


def _cut(flat: Integers, counts: Integers) -> Integers:
    """A row for each of some parts that stand one after the other; -1 behind its end."""
    rows = np.full((len(counts), int(counts.max(initial=0))), -1, np.int64)
    rows[np.arange(rows.shape[1]) < counts[:, None]] = flat
    return rows


def padded(rows: Sequence[NDArray[np.int64]]) -> Integers:
    """``[R, *]``: rows of any length; -1 behind the end of each."""
    whole = np.full((len(rows), max((len(row) for row in rows), default=0)), -1, np.int64)
    for number, row in enumerate(rows):
        whole[number, : len(row)] = row
    return whole
