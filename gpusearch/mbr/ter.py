"""TER of all pairs by sacreBLEU, pair by pair: for small sets only, some milliseconds a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from einops import rearrange
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.mbr.utility import Index, Room, Statistics

_TOGETHER = 64  # pairs of a call: sacreBLEU keeps what it makes of their references
_A_TEXT, _A_WORD = 1000, 100  # bytes of that: for a reference, and for each of its words


@dataclass(frozen=True)
class Ter:
    """TER with its sign changed, in per cent (0 is best)."""

    width: ClassVar[int] = 2
    lowercase: bool = False

    @property
    def signature(self) -> str:
        """As sacreBLEU's, with commas."""
        return f"-TER,case:{'lc' if self.lowercase else 'mixed'},tok:tercom,norm:no,punct:yes,asian:no"

    def prepare(self, texts: Sequence[str], segment: int) -> _TerPairs:
        """Nothing is done yet."""
        from gpusearch.metrics.sacre import ter

        return _TerPairs(texts, ter(lowercase=self.lowercase))

    def score(self, statistics: Statistics) -> torch.Tensor:
        """Edits a word of the reference; where there is none, 100 % if there are edits, as sacreBLEU has it."""
        edits, length = (values[0].double() for values in statistics)
        return -100 * torch.where(length > 0, edits / length.clamp_min(1), (edits > 0).double())


class _TerPairs:
    """Statistics are (edits, words of the reference), [1, H, R] both."""

    def __init__(self, texts: Sequence[str], metric: Any) -> None:
        self._texts, self._metric = texts, metric

    @property
    def room(self) -> Room:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        longest = max((len(text.split()) for text in self._texts), default=0)
        return Room(16, 56, _TOGETHER * (_A_TEXT + _A_WORD * longest))

    def statistics(self, rows: Index, columns: Index) -> Statistics:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        counted = np.empty((len(rows), len(columns), 2))
        for place, row in enumerate(rows):
            for start in range(0, len(columns), _TOGETHER):
                references = [self._texts[column] for column in columns[start : start + _TOGETHER]]
                values = self._metric.statistics([self._texts[row]] * len(references), references)
                counted[place, start : start + _TOGETHER] = values
        edits, length = rearrange(torch.from_numpy(counted), "h r both -> both 1 h r")
        return edits, length

    def expected(self, rows: Index, weights: NDArray[np.float64], left_out: NDArray[np.float64]) -> Statistics:
        """There are no counts whose expectation could be taken."""
        raise InputError("references cannot be aggregated for TER", expected="BLEU or chrF")
