"""What a feature is to the rest: what it looks at, its record for the kernels, its value in floating point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Protocol

import numpy as np

from gpusearch.features.counts import Table
from gpusearch.features.material import Material
from gpusearch.features.text import Document


class Scope(Enum):
    """How far a feature looks. One that looks beyond a sentence makes the document the unit of the search."""

    SENTENCE = "sentence"
    DOCUMENT = "document"


@dataclass
class Room:
    """Tables of counts, and room for what features keep of a lane."""

    material: Material
    tables: dict[str, int]
    """Number of each table, by its name."""
    table: list[Table]
    counts: int = 0
    """Columns of ``State.count`` in use."""
    sums: int = 0
    """Columns of ``State.sum`` in use."""
    marks: int = 0
    """Places of ``Scratch.mark`` that features use."""
    work: int = 0
    """Numbers of work space that some feature needs."""
    begins: list[int] = field(default_factory=list)
    """First column of each table in ``State.count``."""
    weights: Sequence[int] = ()
    """Of the values of the feature that is asked for its records, 2^-20."""

    def keep_counts(self, columns: int) -> int:
        """The first of so many columns of ``State.count`` of a feature's own."""
        self.counts += columns
        return self.counts - columns

    def keep_sums(self, columns: int) -> int:
        """The first of so many columns of ``State.sum`` of a feature's own."""
        self.sums += columns
        return self.sums - columns

    def need_marks(self, places: int) -> None:
        """A feature uses so many places of ``Scratch.mark`` while a function of its is at work."""
        self.marks = max(self.marks, places)

    def need_work(self, numbers: int) -> None:
        """Ask for so many numbers of work space (``Changed.work``)."""
        self.work = max(self.work, numbers)


class Feature(Protocol):
    """A feature. Its class is made of the options that the configuration gives it."""

    @property
    def scope(self) -> Scope:
        """How far it looks."""

    @property
    def counts(self) -> tuple[str, ...]:
        """The tables of counts that it asks for (`gpusearch.features.counts.TABLES`)."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its values; () where there is one, which has the feature's own name."""

    def records(self, room: Room) -> list[tuple[Any, ...]]:
        """What kernels read, of each value; none where the feature is computed outside them."""

    def values(self, document: Document) -> list[float]:
        """The values of a translated document in nats, from nothing; of scope SENTENCE sums over its sentences."""

    def fingerprint(self) -> bytes:
        """What tells features of other options or data apart, for the hash of a model."""

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Bounds of the absolute values, in nats, for each unit ``[U]``."""


Tokens = Callable[[str], list[str]]
"""From raw text to the tokens of a model."""


class OfTexts(ABC):
    """What makes a feature of raw texts: options, until the tokens of the model are known."""

    @abstractmethod
    def of_texts(self, source: Tokens, target: Tokens) -> Feature:
        """The feature, with its texts as tokens of the model's source and target."""


class OneValue(ABC):
    """A feature of one value that kernels compute, as most are."""

    names: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def record(self, room: Room) -> tuple[Any, ...]:
        """What kernels read: a named tuple of a type of the feature's own, whose functions are registered."""

    @abstractmethod
    def value(self, document: Document) -> float:
        """The value of a translated document in nats, from nothing; of scope SENTENCE a sum over its sentences."""

    def records(self, room: Room) -> list[tuple[Any, ...]]:
        """See `Feature`."""
        return [self.record(room)]

    def values(self, document: Document) -> list[float]:
        """See `Feature`."""
        return [self.value(document)]

    def fingerprint(self) -> bytes:
        """See `Feature`."""
        return repr(self).encode()
