"""Terms and their translations: a glossary that translations should keep to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.automata import Items, Words, make_clipped
from gpusearch.features.by_source import numbered
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.io.files import read_lines, split_blank
from gpusearch.kernels import glossary as kernels
from gpusearch.model.tableless import LOWEST_LOG
from gpusearch.model.weights import VALUE_UNITS

FORMS = ("reward", "hard")
BORDER = "|||"
_LINE = "term ||| translation"


@dataclass(frozen=True)
class Glossary(OneValue):
    """Sum over terms of min(occurrences in the source, occurrences of their translations in the target), by sentence.

    Of terms that overlap in the source the first one counts, of those that begin together the longest. The translations
    of a term count alike, and those that end in the same word of the target count once. With ``form = "hard"`` the
    value is -100 for each occurrence of a term that lacks a translation.
    """

    terms: Mapping[Words, tuple[Words, ...]]
    """Of each term its translations."""
    form: str = "reward"
    lowercase: bool = False
    """Compare without case."""
    scope: ClassVar[Scope] = Scope.SENTENCE
    counts: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise InputError("unknown form of glossary", found=repr(self.form), expected=" or ".join(FORMS))
        if not isinstance(self.lowercase, bool):
            raise InputError("unusable lowercase of glossary", found=repr(self.lowercase), expected="true or false")

    def fold(self, word: str) -> str:
        """What is compared of a word."""
        return word.lower() if self.lowercase else word

    def terms_of(self, source: Sequence[str]) -> Counter[Words]:
        """The terms of a source sentence, leftmost and longest first, and how often each occurs."""
        words, found, place = tuple(self.fold(word) for word in source), Counter[Words](), 0
        longest = max(map(len, self.terms), default=0)
        while place < len(words):
            ends = range(min(len(words), place + longest), place, -1)
            stop = next((stop for stop in ends if words[place:stop] in self.terms), None)
            if stop is not None:
                found[words[place:stop]] += 1
            place = place + 1 if stop is None else stop
        return found

    def _value(self, terms: int, matched: int) -> float:
        """Of so many occurrences of terms, so many of them translated."""
        return float(matched) if self.form == "reward" else LOWEST_LOG * (terms - matched)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        total = 0.0
        for sentence in document:
            words = tuple(self.fold(word) for word in sentence.words)
            terms = self.terms_of(sentence.source)
            matched = sum(min(many, _places(words, self.terms[term])) for term, many in terms.items())
            total += self._value(terms.total(), matched)
        return total

    def record(self, room: Room) -> kernels.Glossary:
        """See `gpusearch.features.protocol.Feature`."""
        of_sentence, sources = numbered(room.material.sentences)
        found = [self.terms_of(source) for source in sources]
        worth = np.array([self._value(terms.total(), 0) for terms in found])[np.array(of_sentence, np.int64)]
        return kernels.Glossary(
            terms=make_clipped(room, of_sentence, [self._items(terms) for terms in found], self.fold),
            sentence=np.rint(worth * VALUE_UNITS).astype(np.int64),
            value=np.array([round(self._value(1, 1) - self._value(1, 0)) * VALUE_UNITS], np.int64),
        )

    def _items(self, terms: Mapping[Words, int]) -> Items:
        """An item a term; a translation of several terms counts for each of them."""
        pairs = [(pattern, item) for item, term in enumerate(terms) for pattern in self.terms[term]]
        return Items(
            [pattern for pattern, _ in pairs], [item for _, item in pairs], [*terms.values()], [0] * len(terms)
        )

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        worth = abs(self._value(1, 0 if self.form == "hard" else 1))
        return material.of_units([worth * self.terms_of(source).total() for source in material.sentences])


def _places(words: Words, translations: Sequence[Words]) -> int:
    """Words with which one of the translations ends."""
    return sum(any(words[: stop + 1][-len(one) :] == one for one in translations) for stop in range(len(words)))


def read_glossary(path: str | Path, form: str = "reward", lowercase: bool = False) -> Glossary:
    """The glossary of a file: a line ``term ||| translation`` each, in tokens; ``#`` begins a line of comment.

    Several lines of a term are alternatives.

    Raises:
        InputError: a line of another form; names file and line.
    """
    terms: dict[Words, dict[Words, None]] = {}
    made = Glossary({}, form, lowercase)
    for number, line in enumerate(read_lines(path), 1):
        words = split_blank(line)
        if not words or line.startswith("#"):
            continue
        if words.count(BORDER) != 1:
            found = f"{words.count(BORDER) + 1} fields" if BORDER in words else repr(line[:60])
            raise InputError("not a line of a glossary", path=path, line=number, found=found, expected=_LINE)
        border = words.index(BORDER)
        term, translation = (tuple(made.fold(word) for word in side) for side in (words[:border], words[border + 1 :]))
        if not term or not translation:
            what = "no translation" if term else "no term"
            raise InputError("not a line of a glossary", path=path, line=number, found=what, expected=_LINE)
        terms.setdefault(term, {})[translation] = None
    if not terms:
        raise InputError("a glossary without terms", path=path, expected=_LINE)
    return Glossary({term: tuple(several) for term, several in terms.items()}, form, lowercase)
