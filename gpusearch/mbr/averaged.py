"""Utilities that are no function of counts: of several segments together they are the mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.features.answers import answer_of
from gpusearch.mbr.utility import Index, Room, Statistics
from gpusearch.user_code import calling

Matrix = Callable[[Index, Index], NDArray[np.float64]]
"""Utilities [H, R] of texts by their numbers."""

WIDTH = 2  # tensors of statistics: sum, number of segments


class AveragedPairs:
    """The texts of a segment, compared by a function. Statistics are (sum of utilities, number of segments).

    Args:
        name: of the utility, for messages.
    """

    def __init__(self, name: str, matrix: Matrix) -> None:
        self._name, self._matrix = name, matrix

    @property
    def room(self) -> Room:
        """See :class:`~gpusearch.mbr.utility.Pairs`: lists of floats, too, but not what the function takes inside."""
        return Room(kept=8, work=56)

    def statistics(self, rows: Index, columns: Index) -> Statistics:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        values = torch.from_numpy(np.ascontiguousarray(self._matrix(rows, columns), np.float64))
        return values[None], torch.ones((1, 1, 1), dtype=torch.float64)

    def expected(self, rows: Index, weights: NDArray[np.float64], left_out: NDArray[np.float64]) -> Statistics:
        """There are no counts whose expectation could be taken."""
        raise InputError(
            f"references cannot be aggregated for {self._name}", expected="BLEU or chrF", hint="select exact or prune"
        )


def averaged(statistics: Statistics) -> torch.Tensor:
    """Mean utility of the segments, [H, R]."""
    total, segments = statistics
    return total[0] / segments[0]


class FunctionUtility:
    """Any function as a utility.

    Args:
        function: ``utility(hypotheses, references) -> matrix`` of floats [H, R], more is better.
        name: as it stands in the signature.
    """

    width = WIDTH

    def __init__(self, function: Callable[[Sequence[str], Sequence[str]], object], name: str) -> None:
        self._function, self.signature = function, name

    def prepare(self, texts: Sequence[str], segment: int) -> AveragedPairs:
        """See :class:`~gpusearch.mbr.utility.Utility`."""

        def matrix(rows: Index, columns: Index) -> NDArray[np.float64]:
            with calling(f"utility {self.signature}", self._function):
                given = self._function([texts[row] for row in rows], [texts[column] for column in columns])
            values = answer_of(f"utilities of {self.signature}", given).values
            if values.shape != (len(rows), len(columns)) or not np.isfinite(values).all():
                found = f"shape {values.shape}" if values.shape != (len(rows), len(columns)) else "NaN or infinity"
                raise InputError(
                    f"utilities of {self.signature}", found=found, expected=f"finite numbers {len(rows), len(columns)}"
                )
            return values

        return AveragedPairs(self.signature, matrix)

    def score(self, statistics: Statistics) -> torch.Tensor:
        """Mean of the segments."""
        return averaged(statistics)
