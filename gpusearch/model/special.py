"""Places of a batch whose options the input has a say in: translations that it gives or forbids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpusearch.model.entries import Entries
from gpusearch.model.tableless import Constraint, Given, Words
from gpusearch.model.units import Sentence

if TYPE_CHECKING:
    from gpusearch.model.model import Model

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Places:
    """Places by one number each: ``position * stride + length``."""

    first_position: Array
    stride: int

    def key(self, position: Array | int, length: Array | int) -> Any:
        """The number of a place; `position` counts the words of the batch."""
        return position * self.stride + length


@dataclass(eq=False)
class _Place:
    """What the input says of one place."""

    given: list[int]
    """Places in the list of all given translations."""
    forbidden: set[Words]
    exclusive: bool
    copied: int
    """Of a single word its number among the unknown ones, in case nothing else is left; else -1."""


@dataclass(frozen=True, eq=False)
class Special:
    """All such places of a batch."""

    places: Places
    by_key: dict[int, _Place]
    given: tuple[Given, ...]

    @property
    def keys(self) -> Array:
        """Their numbers, in rising order."""
        return np.array(sorted(self.by_key), np.int64)

    def is_excluded(self, keys: Array) -> Array:
        """bool[n]: whether a place overlaps an exclusive one without being it."""
        start, length = keys // self.places.stride, keys % self.places.stride
        excluded = np.zeros(len(keys), bool)
        for key, place in self.by_key.items():
            if place.exclusive:
                first, words = divmod(key, self.places.stride)
                overlaps = (start < first + words) & (start + length > first)
                excluded |= overlaps & ~((start == first) & (length == words))
        return excluded

    def allowed(self, key: int, model: Model, entries: Entries, found: Iterable[int]) -> list[int]:
        """Those of the entries of tables that are options of a place."""
        place = self.by_key[key]
        if place.exclusive:
            return []
        return [entry for entry in found if _target(model, entries, entry) not in place.forbidden]

    def entries_of(
        self, key: int, model: Model, entries: Entries, first_entry: Array, phrases: Array, first_copied: int
    ) -> list[int]:
        """The entries of a place: within the limit of each table those that are allowed, and those that are given.

        Args:
            first_entry: of each distinct phrase, and behind the last.
            phrases: the place's distinct phrase in each table, or -1.
            first_copied: the first entry of an unknown word; given translations stand behind the last of them.
        """
        place = self.by_key[key]
        chosen: list[int] = []
        for table, phrase in zip(model.tables, phrases.tolist(), strict=True):
            if phrase >= 0:
                rows = range(int(first_entry[phrase]), int(first_entry[phrase + 1]))
                best = sorted(self.allowed(key, model, entries, rows), key=lambda entry: -int(entries.score[entry]))
                chosen += best[: table.limit or None]
        first_given = len(entries) - len(self.given)
        chosen += [first_given + number for number in place.given]
        if not chosen and place.copied >= 0:
            chosen.append(first_copied + place.copied)
        return chosen


def _target(model: Model, entries: Entries, entry: int) -> Words:
    return tuple(model.tables[entries.table[entry]].pairs.target(int(entries.row[entry])))


def special_places(
    sentences: Sequence[Sentence],
    places: Places,
    constraints: Mapping[int, Sequence[Constraint]],
    copied: list[str],
) -> Special:
    """Gather what the input says, by place.

    Args:
        constraints: by sentence of the batch.
        copied: the unknown words of the batch; words that may be left without an option are added.
    """
    by_key: dict[int, _Place] = {}
    given: dict[Given, int] = {}
    numbers = {word: number for number, word in enumerate(copied)}
    for sentence, several in constraints.items():
        for constraint in several:
            words = tuple(sentences[sentence][constraint.start : constraint.stop])
            length = constraint.stop - constraint.start
            key = int(places.key(int(places.first_position[sentence]) + constraint.start, length))
            if key not in by_key:
                number = -1
                if length == 1:
                    number = numbers.setdefault(words[0], len(copied))
                    if number == len(copied):
                        copied.append(words[0])
                by_key[key] = _Place([], set(), False, number)
            place = by_key[key]
            place.forbidden |= set(constraint.forbidden)
            place.exclusive |= constraint.exclusive
            scores = constraint.scores or ((),) * len(constraint.translations)
            for (target, log_score), of_candidate in zip(constraint.translations, scores, strict=True):
                one = Given(words, target, log_score, of_candidate, constraint.alignment)
                place.given.append(given.setdefault(one, len(given)))
    return Special(places, by_key, tuple(given))
