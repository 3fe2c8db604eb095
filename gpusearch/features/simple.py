"""Small features that Docent has as well: long words, brackets, parity of sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.features.type_token import check_form
from gpusearch.kernels import option_sum as kernels
from gpusearch.kernels.records import UNIT_PLACES, UNIT_SENTENCES
from gpusearch.model.weights import VALUE_UNITS

BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("«", "»"), ("“", "”"))


@dataclass(frozen=True)
class LongWords(OneValue):
    """-(target words of `letters` letters or more); with ``form = "docent"`` of so many bytes."""

    letters: int = 7
    form: str = "paper"
    scope: ClassVar[Scope] = Scope.SENTENCE
    counts: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_form("long-words", self.form)
        if not isinstance(self.letters, int) or self.letters < 1:
            raise InputError("unusable letters of long-words", found=self.letters, expected="a number from 1 on")

    def is_long(self, word: str) -> bool:
        """Whether a word counts."""
        return (len(word) if self.form == "paper" else len(word.encode())) >= self.letters

    def record(self, room: Room) -> kernels.OptionSum:
        """See `gpusearch.features.protocol.Feature`."""
        long = np.array([self.is_long(word) for word in room.material.words], np.int64)
        return kernels.OptionSum((-VALUE_UNITS * room.material.sums(long)).astype(np.int32))

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        return -float(sum(self.is_long(word) for sentence in document for word in sentence.words))

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return material.problem.unit[:, UNIT_PLACES].astype(np.float64)


@dataclass(frozen=True)
class Bracketing(OneValue):
    """-sum |opening - closing| over pairs of brackets, each counted over the whole document."""

    pairs: tuple[tuple[str, str], ...] = BRACKETS
    scope: ClassVar[Scope] = Scope.DOCUMENT
    counts: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        good = isinstance(self.pairs, list | tuple) and all(
            isinstance(pair, list | tuple)
            and all(isinstance(one, str) for one in pair)
            and len({*pair}) == len(pair) == 2
            for pair in self.pairs
        )
        if not good:
            expected = '[["(", ")"], ...], two different words each'
            raise InputError("unusable pairs of bracketing", found=repr(self.pairs), expected=expected)

    def record(self, room: Room) -> kernels.Balance:
        """See `gpusearch.features.protocol.Feature`."""
        words = room.material.words
        rows = [
            room.material.sums(np.array([(word == opening) - (word == closing) for word in words], np.int64))
            for opening, closing in self.pairs
        ]
        value = np.array(rows, np.int32).reshape(len(rows), len(room.material.problem.option_place))
        return kernels.Balance(np.array([room.keep_sums(len(rows))], np.int64), value)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        words = Counter(word for sentence in document for word in sentence.words)
        return -float(sum(abs(words[opening] - words[closing]) for opening, closing in self.pairs))

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return len(self.pairs) * material.problem.unit[:, UNIT_PLACES].astype(np.float64)


@dataclass(frozen=True)
class SentenceParity(OneValue):
    """-min(sentences with an even number of words, those with an odd one): an example of what only documents have."""

    scope: ClassVar[Scope] = Scope.DOCUMENT
    counts: ClassVar[tuple[str, ...]] = ()

    def record(self, room: Room) -> kernels.Parity:
        """See `gpusearch.features.protocol.Feature`."""
        return kernels.Parity(np.array([room.keep_sums(2)], np.int64))

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        lengths = [len(sentence.words) % 2 for sentence in document if sentence.phrases]
        return -float(min(sum(lengths), len(lengths) - sum(lengths)))

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return material.problem.unit[:, UNIT_SENTENCES].astype(np.float64)
