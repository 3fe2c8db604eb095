"""Source-tree cohesion as features of the search (Bach, Vogel and Cherry 2009).

coh1        -1 a step that interrupts a subtree, seen from the ends of the phrase before it (algorithm 1)
coh2        the same seen from all words translated so far (algorithm 2)
coh3, coh4  -1 a word that is left behind in an interrupted subtree (algorithms 3 and 4)
coh5-verbs, coh5-nouns  -1 a verb, a noun among the words of coh3; with coh1 and coh3 they are algorithm 5

A positive weight favours translations that keep source subtrees together.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.cohesion import (
    Step,
    exhaustive_interruption_check,
    exhaustive_interruption_count,
    interruption_check,
    interruption_count,
    rich_interruption,
    steps,
)
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.features.trees import SourceTrees, flat_trees, read_source_trees
from gpusearch.kernels import cohesive as kernels
from gpusearch.kernels.cohesive import INTERRUPTIONS, LEFT_BEHIND, NOUNS, VERBS


@dataclass(frozen=True)
class Cohesion(OneValue):
    """One of the numbers of a step, summed over the steps of a sentence, below 0."""

    trees: SourceTrees
    scope: ClassVar[Scope] = Scope.SENTENCE
    counts: ClassVar[tuple[str, ...]] = ()
    exhaustive: ClassVar[bool] = False
    counted: ClassVar[int] = INTERRUPTIONS

    @classmethod
    def of_file(cls, path: Path | None = None) -> Self:
        """The feature with the trees of a CoNLL-U file, one for each sentence that is translated.

        Raises:
            InputError: there is none, or it is no such file.
        """
        if path is None:
            raise InputError("cohesion without trees of the source", expected="--trees FILE, or path")
        return cls(read_source_trees(path))

    def of_step(self, step: Step) -> int:
        """What `exhaustive` and `counted` stand for, as it is printed."""
        return interruption_check(step)

    def record(self, room: Room) -> kernels.Cohesion:
        """See `gpusearch.features.protocol.Feature`."""
        sentences = room.material.sentences
        trees = [self.trees.of(tokens) if tokens else None for tokens in sentences]
        flat = flat_trees(trees, [len(tokens) for tokens in sentences])
        room.need_marks(max((len(tree.head) for tree in trees if tree is not None), default=0))
        return kernels.Cohesion(flat, np.array([self.exhaustive, self.counted], np.int64))

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        total = 0
        for sentence in document:
            if sentence.phrases:
                spans = [(phrase.start, phrase.stop) for phrase in sentence.phrases]
                total += sum(self.of_step(step) for step in steps(self.trees.of(sentence.source), spans))
        return -float(total)

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        most = [len(tokens) * (len(self.trees.of(tokens).head) if tokens else 0) for tokens in material.sentences]
        return material.of_units(most)

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        return type(self).__name__.encode() + self.trees.digest


class InterruptionCheck(Cohesion):
    """coh1."""


class ExhaustiveInterruptionCheck(Cohesion):
    """coh2."""

    exhaustive = True

    def of_step(self, step: Step) -> int:
        """See `Cohesion`."""
        return exhaustive_interruption_check(step)


class InterruptionCount(Cohesion):
    """coh3."""

    counted = LEFT_BEHIND

    def of_step(self, step: Step) -> int:
        """See `Cohesion`."""
        return interruption_count(step)


class ExhaustiveInterruptionCount(Cohesion):
    """coh4."""

    exhaustive = True
    counted = LEFT_BEHIND

    def of_step(self, step: Step) -> int:
        """See `Cohesion`."""
        return exhaustive_interruption_count(step)


class VerbCount(Cohesion):
    """coh5-verbs."""

    counted = VERBS

    def of_step(self, step: Step) -> int:
        """See `Cohesion`."""
        return rich_interruption(step)[VERBS]


class NounCount(Cohesion):
    """coh5-nouns."""

    counted = NOUNS

    def of_step(self, step: Step) -> int:
        """See `Cohesion`."""
        return rich_interruption(step)[NOUNS]
