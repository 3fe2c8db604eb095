"""Several utilities as one: their weighted mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.mbr.utility import Index, Pairs, Room, Statistics, Utility


class Ensemble:
    """``sum of weight * utility / sum of weights``.

    Args:
        members: utilities with their weights.
    """

    def __init__(self, members: Sequence[tuple[Utility, float]]) -> None:
        self._members = list(members)
        self.width = sum(utility.width for utility, _ in self._members)

    @property
    def signature(self) -> str:
        """Those of the members, with their weights."""
        return "+".join(f"{weight:g}*({utility.signature})" for utility, weight in self._members)

    def prepare(self, texts: Sequence[str], segment: int) -> Pairs:
        """See :class:`~gpusearch.mbr.utility.Utility`."""
        return _Together([utility.prepare(texts, segment) for utility, _ in self._members])

    def score(self, statistics: Statistics) -> torch.Tensor:
        """Weighted mean."""
        start, total = 0, torch.zeros((), dtype=torch.float64)
        for utility, weight in self._members:
            total = total + weight * utility.score(statistics[start : start + utility.width]).cpu()
            start += utility.width
        return total / sum(weight for _, weight in self._members)


class _Together:
    """Statistics of all members, one behind the other."""

    def __init__(self, members: Sequence[Pairs]) -> None:
        self._members = members

    @property
    def room(self) -> Room:
        """See :class:`~gpusearch.mbr.utility.Pairs`: members are scored one after the other."""
        rooms = [member.room for member in self._members]
        work = max(room.work for room in rooms) + 16  # their sum before and after
        return Room(sum(room.kept for room in rooms), work, max(room.once for room in rooms))

    def statistics(self, rows: Index, columns: Index) -> Statistics:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        return _joined(member.statistics(rows, columns) for member in self._members)

    def expected(self, rows: Index, weights: NDArray[np.float64], left_out: NDArray[np.float64]) -> Statistics:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        return _joined(member.expected(rows, weights, left_out) for member in self._members)


def _joined(parts: Iterable[Statistics]) -> Statistics:
    return tuple(values for part in parts for values in part)
