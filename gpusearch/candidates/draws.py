"""What chains or lists say about a segment or a document, before it is weighed: one entry a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Draws:
    """M samples (or entries of a list) of one segment, in the order in which they were made."""

    texts: Sequence[str]
    """[M] what each says."""
    scores: NDArray[np.float64]
    """[M] in nats; NaN where unknown."""
    derivations: NDArray[np.int64]
    """[M] equal numbers for equal derivations; equal derivations say the same text."""
    chains: NDArray[np.int64] | None = None
    """[M] the chain of each; None where nobody knows."""
    missing: bool = False
    """A list had no entry for the segment: the one draw is the empty translation."""


@dataclass(frozen=True, eq=False)
class DocumentDraws:
    """The segments of a document.

    Where `scores` is given, sample m of the document consists of the samples m of all its segments, and this is its
    score. Otherwise the segments are independent of each other.
    """

    segments: Sequence[Draws]
    scores: NDArray[np.float64] | None = None
    """[M] of whole documents, in nats."""
    chains: NDArray[np.int64] | None = None
    """[M] of whole documents."""


def numbered(items: Sequence[object]) -> NDArray[np.int64]:
    """Equal numbers for equal items, from 0 in order of first appearance."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(item, len(numbers)) for item in items], np.int64)
