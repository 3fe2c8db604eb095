"""What a utility is: statistics of pairs of texts, which add up, and a score of their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

Index = NDArray[np.int64]
Statistics = tuple[torch.Tensor, ...]
"""Tensors [K, H or 1, R or 1], K different ones for each: of H hypotheses and R references. Those of several segments
are added up element by element, as is done with the segments of a corpus."""


@dataclass(frozen=True)
class Room:
    """Bytes that pairs of texts take at most, on the way from texts that are ready to utilities."""

    kept: int
    """A pair: its statistics."""
    work: int
    """A pair: what making and scoring them takes besides."""
    once: int = 0
    """However many pairs there are."""

    def need(self, rows: int, columns: int) -> int:
        """Bytes of so many hypotheses with so many references."""
        return self.once + rows * columns * (self.kept + self.work)

    def rows(self, memory: int, columns: int) -> int:
        """How many hypotheses with so many references take `memory` bytes at most; 0 where one takes more."""
        return max(0, memory - self.once) // max(1, columns * (self.kept + self.work))


class Pairs(Protocol):
    """The texts of one segment, made ready to be compared with each other."""

    @property
    def room(self) -> Room:
        """What `statistics` takes, and the utility's `score` of them."""

    def statistics(self, rows: Index, columns: Index) -> Statistics:
        """Of texts `rows` [H] as hypotheses and texts `columns` [R] as references."""

    def expected(self, rows: Index, weights: NDArray[np.float64], left_out: NDArray[np.float64]) -> Statistics:
        """Of texts `rows` [H] and one reference (R = 1) that has the expected counts of all texts under `weights` [N].

        Args:
            left_out: [H] share of the text itself, below 1, that is no part of its reference.

        Raises:
            InputError: the utility knows no counts.
        """


class Utility(Protocol):
    """How good a text is where another one is right; more is better."""

    @property
    def signature(self) -> str:
        """Name and all settings, without ``|``."""

    @property
    def width(self) -> int:
        """How many tensors its statistics are."""

    def prepare(self, texts: Sequence[str], segment: int) -> Pairs:
        """Make the N different texts of a segment ready; `segment` is its number in the input, from 0."""

    def score(self, statistics: Statistics) -> torch.Tensor:
        """Utilities, float64 [H, R]."""


def add(first: Statistics, second: Statistics) -> Statistics:
    """The statistics of two segments together."""
    return tuple(one + other for one, other in zip(first, second, strict=True))


def reciprocal(values: torch.Tensor) -> torch.Tensor:
    """1 / x in float64; 0 for 0."""
    values = values.double()
    return torch.where(values > 0, 1 / values.clamp_min(torch.finfo(torch.float64).tiny), 0.0)
