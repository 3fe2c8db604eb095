"""Q-value: how consistently a document is translated (Stymne et al. 2013, section 5.4, equation 2)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gpusearch.features.counts import Table
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.features.type_token import check_form
from gpusearch.kernels import q_value as kernels
from gpusearch.kernels.records import UNIT_PLACES, UNIT_WORDS
from gpusearch.model.entries import offsets_of

# Bits behind the point of 1 / n, where sums of f^2 / n leave room for them; they stay below 2^61.
_MOST_SHIFT, _LEAST_SHIFT, _SUM_BITS = 32, 22, 61

Pair = tuple[tuple[str, ...], tuple[str, ...]]


def pairs_of_phrases(document: Document) -> Iterator[Pair]:
    """Source and target words of each phrase of a document."""
    for sentence in document:
        for phrase in sentence.phrases:
            yield tuple(sentence.source[phrase.start : phrase.stop]), phrase.words


def pairs_of_source_words(document: Document) -> Iterator[Pair]:
    """Each source word that is aligned, with all target words that it is aligned to."""
    for sentence in document:
        for phrase in sentence.phrases:
            for place in range(phrase.stop - phrase.start):
                partners = sorted({target for source, target in phrase.alignment if source == place})
                if partners:
                    yield (sentence.source[phrase.start + place],), tuple(phrase.words[k] for k in partners)


def pairs_of_target_words(document: Document) -> Iterator[Pair]:
    """Each target word that is aligned, with all source words that it is aligned to."""
    for sentence in document:
        for phrase in sentence.phrases:
            for place, word in enumerate(phrase.words):
                partners = sorted({source for source, target in phrase.alignment if target == place})
                if partners:
                    yield tuple(sentence.source[phrase.start + k] for k in partners), (word,)


def mean_q(pairs: Iterator[Pair]) -> float:
    """sum f q / sum f with q = f / (n(s) + n(t)); 0 where there are no pairs."""
    counts = Counter(pairs)
    sources = Counter(source for source, _ in counts)
    targets = Counter(target for _, target in counts)
    total = sum(f * f / (sources[source] + targets[target]) for (source, target), f in counts.items())
    return total / counts.total() if counts else 0.0


class _QValue(OneValue):
    """What both kinds have in common."""

    form: str
    scope: ClassVar[Scope] = Scope.DOCUMENT

    @abstractmethod
    def pairs(self, document: Document) -> Iterator[Pair]:
        """The pairs that are looked at."""

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        mean = mean_q(self.pairs(document))
        return math.log(mean) if self.form == "docent" and mean else mean

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        most = np.maximum(2, most_pairs(material)).astype(np.float64)
        return most if self.form == "paper" else np.log(2 * most)


@dataclass(frozen=True)
class QValueOfPhrases(_QValue):
    """The mean Q-value of a document over its phrase pairs; with ``form = "docent"`` its logarithm."""

    form: str = "paper"
    counts: ClassVar[tuple[str, ...]] = ("phrase-pairs",)

    def __post_init__(self) -> None:
        check_form("q-value-phrases", self.form)

    def pairs(self, document: Document) -> Iterator[Pair]:
        """Phrase pairs."""
        return pairs_of_phrases(document)

    def record(self, room: Room) -> kernels.QValue:
        """See `gpusearch.features.protocol.Feature`."""
        return _record(room, "phrase-pairs", self.form)


@dataclass(frozen=True)
class QValueOfWords(_QValue):
    """The mean Q-value of a document over word pairs: each aligned source word with all that it is aligned to.

    With ``form = "docent"`` the logarithm of that over each aligned target word with all that it is aligned to.
    """

    form: str = "paper"

    def __post_init__(self) -> None:
        check_form("q-value-words", self.form)

    @property
    def counts(self) -> tuple[str, ...]:
        """The table that counts the pairs."""
        return ("source-word-pairs" if self.form == "paper" else "target-word-pairs",)

    def pairs(self, document: Document) -> Iterator[Pair]:
        """Word pairs."""
        return pairs_of_source_words(document) if self.form == "paper" else pairs_of_target_words(document)

    def record(self, room: Room) -> kernels.QValue:
        """See `gpusearch.features.protocol.Feature`."""
        return _record(room, self.counts[0], self.form)


def most_pairs(material: Material) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Occurrences of pairs at most, in each unit ``[U]``."""
    unit = material.problem.unit
    return np.maximum(unit[:, UNIT_WORDS], unit[:, UNIT_PLACES])


def _record(room: Room, name: str, form: str) -> kernels.QValue:
    table = room.table[room.tables[name]]
    sides, begin, unit = _sides(table)
    most = int(most_pairs(room.material).max(initial=1))
    number = np.zeros(kernels.Q_NUMBERS, np.int64)
    number[kernels.PAIR_TABLE], number[kernels.AS_LOGARITHM] = room.tables[name], form == "docent"
    number[kernels.SHIFT] = max(_LEAST_SHIFT, min(_MOST_SHIFT, _SUM_BITS - 2 * most.bit_length()))
    number[kernels.PARTNERS] = room.keep_counts(int(np.diff(unit[:, 1], append=len(begin)).max(initial=0)))
    number[kernels.PRESENT] = room.keep_counts(2 * table.columns)
    number[kernels.SUM] = room.keep_sums(1)
    counted = np.arange(2 * min(most, table.columns) + 3)
    one = 1 << int(number[kernels.SHIFT])
    reciprocal = np.append(0, (2 * one // counted[1:] + 1) >> 1).astype(np.int64)
    return kernels.QValue(number, unit, sides, begin, reciprocal)


def _sides(table: Table) -> tuple[Any, Any, Any]:
    """``QValue.side``, ``begin`` and ``unit``: sources first, then targets, numbered from 0 in each unit."""
    units = len(table.first_of_unit) - 1
    side = np.zeros((len(table.what), 2), np.int32)
    unit = np.zeros((units, 2), np.int64)
    unit[:, 0] = table.first_of_unit[:-1]
    begins: list[Any] = []
    for number in range(units):
        here = slice(*table.first_of_unit[number : number + 2].tolist())
        of_pair = table.parts[table.what[here]]
        sources, source = np.unique(of_pair[:, 0], return_inverse=True)
        targets, target = np.unique(of_pair[:, 1], return_inverse=True)
        side[here, kernels.SOURCE], side[here, kernels.TARGET] = source, target + len(sources)
        pairs = np.bincount(side[here].reshape(-1), minlength=len(sources) + len(targets))
        unit[number, 1] = sum(map(len, begins))
        begins.append(offsets_of(pairs)[:-1])
    return side, np.concatenate([np.zeros(0, np.int32), *begins]).astype(np.int32), unit
