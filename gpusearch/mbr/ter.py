"""TER of all pairs by sacreBLEU, pair by pair: for small sets only, some milliseconds a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from einops import rearrange
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.mbr.utility import Index, Statistics


@dataclass(frozen=True)
class Ter:
    """TER with its sign changed, in per cent (0 is best)."""

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
    """Statistics are (edits [1, H, R], words of the reference [1, 1, R])."""

    def __init__(self, texts: Sequence[str], metric: Any) -> None:
        self._texts, self._metric = texts, metric

    def statistics(self, rows: Index, columns: Index) -> Statistics:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        hypotheses = [self._texts[row] for row in rows for _ in columns]
        references = [self._texts[column] for _ in rows for column in columns]
        counted = torch.from_numpy(self._metric.statistics(hypotheses, references))
        edits, length = rearrange(counted, "(h r) both -> both 1 h r", h=len(rows), r=len(columns))
        return edits, length

    def expected(self, rows: Index, weights: NDArray[np.float64], left_out: NDArray[np.float64]) -> Statistics:
        """There are no counts whose expectation could be taken."""
        raise InputError("references cannot be aggregated for TER", expected="BLEU or chrF")
