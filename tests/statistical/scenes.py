"""Short sentences of the laws100k parity model with its reordering model, all their derivations listed; and how long
chains take to forget where they began."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gpusearch.kernels.records import UNIT_WORDS
from gpusearch.model.model import Model
from gpusearch.search.enumeration import Enumerated, enumerate_derivations
from tests.parity_model import laws_documents

SCALES = (0.5, 1.0, 3.0)


def short_sentences(parity: Path, longest: int) -> list[list[str]]:
    """Different ones of two words or more, short ones first."""
    short = {tuple(s) for document in laws_documents(parity) for s in document if 2 <= len(s) <= longest}
    return [list(sentence) for sentence in sorted(short, key=lambda s: (len(s), s))]


def short_scenes(model: Model, parity: Path, wanted: int, longest: int, most: int) -> list[Enumerated]:
    """Sentences, each with a table limit of its own that leaves at most so many derivations."""
    each = short_sentences(parity, longest)
    spread = [each[k * (len(each) - 1) // (wanted - 1)] for k in range(wanted)]
    return [enumerate_derivations(model, [sentence], most) for sentence in spread]


class BurnIn(NamedTuple):
    """Iterations, or proposals a source word, before the last state is looked at.

    Some more than the transition matrices ask for (`docs/decisions.md`).
    """

    small: int
    """At scales up to 1."""
    large: int
    order: int
    """At larger ones, where derivations differ in their order alone: it seldom changes."""

    def of(self, scene: Enumerated, scale: float) -> int:
        """For a sentence or a document."""
        if scale <= 1:
            return self.small
        return self.order if len(scene.problem.option_place) == scene.problem.unit[0, UNIT_WORDS] else self.large
