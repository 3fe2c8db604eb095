"""Phrase pairs that no table holds: unknown words, and translations that the input gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError

Words = tuple[str, ...]
Alignment = tuple[tuple[int, int], ...]
"""Source and target positions within a pair, both from 0."""

COPIED, GIVEN = -1, -2
"""Table numbers of entries that stand for an unknown source word, and for a given translation."""

LOWEST_LOG = -100.0
"""ln of a probability of 0, as in all tables."""


@dataclass(frozen=True)
class UnknownWords:
    """What becomes of words that no option covers."""

    mark: bool = False
    drop: bool = False
    prefix: str = "UNK"
    suffix: str = ""

    def target(self, word: str) -> Words:
        """The target words that stand for an unknown one. A word with a digit is never dropped, as in Moses."""
        if self.drop and not any(character.isdecimal() for character in word):
            return ()
        return (f"{self.prefix}{word}{self.suffix}",) if self.mark else (word,)


@dataclass(frozen=True)
class Constraint:
    """What the input says of the translation of source words start .. stop - 1 of a sentence."""

    start: int
    stop: int
    translations: tuple[tuple[Words, float], ...] = ()
    """Target words, and the natural logarithm of their probability, not below -100."""
    exclusive: bool = False
    """No phrase that overlaps these words is an option, but the translations given here."""
    forbidden: tuple[Words, ...] = ()
    """Target phrases that are no options of exactly these words."""
    scores: tuple[tuple[float, ...], ...] = ()
    """Of each translation its scores as a candidate, in the order of the model's; () where there are none."""
    alignment: Alignment = ()
    """Of its words, where the only translation comes with one."""


Constraints = Mapping[tuple[int, int], Sequence[Constraint]]
"""By document and sentence of a corpus."""


def part_of(constraints: Constraints, first: int, last: int) -> Constraints:
    """The constraints of the documents first .. last - 1, which then count from 0."""
    return {(d - first, s): several for (d, s), several in constraints.items() if first <= d < last}


@dataclass(frozen=True)
class Given:
    """A translation that the input gives."""

    source: Words
    target: Words
    log_score: float
    scores: tuple[float, ...] = ()
    """As in `Constraint`."""
    alignment: Alignment = ()


@dataclass(frozen=True, eq=False)
class Tableless:
    """The pairs of a batch that no table holds. An entry's row is its place among those of its kind."""

    copied: Words
    """The distinct unknown words."""
    given: tuple[Given, ...]
    unknown: UnknownWords

    @property
    def targets(self) -> list[Words]:
        """Target words of the unknown words, then of the given translations."""
        return [self.unknown.target(word) for word in self.copied] + [given.target for given in self.given]

    @property
    def log_scores(self) -> NDArray[np.float64]:
        """ln of the probability of each given translation."""
        return np.array([given.log_score for given in self.given], np.float64)

    def candidate_scores(self, columns: int) -> NDArray[np.float64]:
        """``[n, columns]``: the scores of each given translation as a candidate; 0 where it is none."""
        none = (0.0,) * columns
        return np.array([given.scores or none for given in self.given], np.float64).reshape(-1, columns)

    def target(self, table: int, row: int) -> Words:
        """Target words of an entry without a table."""
        return self.unknown.target(self.copied[row]) if table == COPIED else self.given[row].target

    def alignment(self, table: int, row: int) -> Alignment:
        """Word alignment of an entry without a table."""
        if table == COPIED:
            return ((0, 0),) if self.target(table, row) else ()
        return self.given[row].alignment

    def pairs(self, table: int) -> Iterable[tuple[Words, Words]]:
        """Source and target words of all entries of `COPIED` or `GIVEN`."""
        if table == COPIED:
            return [((word,), self.unknown.target(word)) for word in self.copied]
        return [(given.source, given.target) for given in self.given]


def check_constraints(constraints: Sequence[Constraint], words: int, name: str) -> None:
    """Constraints of a sentence of so many words.

    Raises:
        InputError: a span outside the sentence; one that overlaps another one that is exclusive. Calls it `name`.
    """
    for constraint in constraints:
        if not 0 <= constraint.start < constraint.stop <= words:
            raise InputError(
                f"a translation given for words that {name} does not have",
                found=f"{constraint.start}-{constraint.stop - 1}",
                expected=f"within 0-{words - 1}" if words else "none: it is empty",
            )
    for one in constraints:
        for other in constraints:
            apart = one.stop <= other.start or other.stop <= one.start
            same = (one.start, one.stop) == (other.start, other.stop)
            if one.exclusive and not (apart or same):
                raise InputError(
                    f"translations given for words of {name} that overlap",
                    found=f"{one.start}-{one.stop - 1} and {other.start}-{other.stop - 1}",
                    expected="an exclusive one to stand alone",
                )
