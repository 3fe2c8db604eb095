"""What a feature in Python or torch was told, and translated texts in the numbers that it knows.

A report asks for the values of texts that a search has found, mostly of documents that the feature knows already. So
it is prepared anew only for texts that have other words or sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpusearch.features.batch import Preparation, States, padded
from gpusearch.features.text import Document

Source = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Told:
    """A preparation in which words and sources can be found."""

    preparation: Preparation

    @cached_property
    def number(self) -> dict[str, int]:
        """Of each word."""
        return {word: number for number, word in enumerate(self.preparation.words)}

    @cached_property
    def place(self) -> dict[Source, int]:
        """Of each document in `Preparation.sources`; of equal ones that of the first."""
        places: dict[Source, int] = {}
        for number, source in enumerate(self.preparation.sources):
            places.setdefault(tuple(map(tuple, source)), number)
        return places

    def holds(self, documents: Sequence[Document]) -> bool:
        """Whether the sources of translated documents are here, and all their words."""
        return all(
            _source(document) in self.place
            and all(word in self.number for sentence in document for word in sentence.words)
            for document in documents
        )

    def by_sentence(self) -> Told:
        """The same words; each sentence is a document."""
        sentences = [[sentence] for source in self.preparation.sources for sentence in source]
        return Told(Preparation(self.preparation.words, sentences))

    def states(self, documents: Sequence[Document]) -> States:
        """Translated documents that it holds, each a lane, as features see them."""
        rows = [
            np.array([self.number[word] for sentence in document for word in sentence.words], np.int64)
            for document in documents
        ]
        places = [
            np.repeat(np.arange(len(document)), [len(sentence.words) for sentence in document])
            for document in documents
        ]
        words = padded(rows), padded(places)
        return States(
            sentences=np.array([len(document) for document in documents], np.int64),
            lane=np.arange(len(documents)),
            document=np.array([self.place[_source(document)] for document in documents], np.int64),
            names=self.preparation.words,
            read=lambda: words,
        )


def told_of(documents: Sequence[Document]) -> Told:
    """What must be told of translated documents."""
    words = dict.fromkeys(word for document in documents for sentence in document for word in sentence.words)
    sources = [[list(sentence.source) for sentence in document] for document in documents]
    return Told(Preparation(list(words), sources))


def _source(document: Document) -> Source:
    return tuple(tuple(sentence.source) for sentence in document)
