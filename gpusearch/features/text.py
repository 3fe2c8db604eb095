"""A translation as features see it when it is scored in floating point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Phrase:
    """A phrase pair in its place: source words start .. stop - 1."""

    start: int
    stop: int
    words: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    """(source, target) positions within the phrase, both from 0."""


@dataclass(frozen=True)
class Sentence:
    """A sentence: its source words, and phrases in target order. An empty one has neither."""

    source: Sequence[str]
    phrases: Sequence[Phrase]

    @property
    def words(self) -> list[str]:
        """Target words."""
        return [word for phrase in self.phrases for word in phrase.words]


Document = Sequence[Sentence]
