"""Pairs of texts compared by their n-grams: what BLEU and chrF have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from einops import rearrange
from numpy.typing import NDArray

from gpusearch.mbr.grams import GramCounts, count_grams
from gpusearch.mbr.products import pack, unpacking
from gpusearch.mbr.utility import Index, Room, Statistics

_SCORING = 96  # bytes: a dozen numbers a pair in float64, as BLEU and chrF have at a time


class GramPairs:
    """N texts with their n-grams of K orders.

    Statistics are (n-grams of the hypothesis [K, H, 1], of the reference [K, 1, R], matches [K, H, R]).

    Args:
        groups: texts as symbols, and how many orders of them; several for metrics of characters and words.
        device: where products are computed.
        both_sides: n-grams of a hypothesis count only where the reference has any of their order, [K, H, R] then.
    """

    def __init__(
        self,
        groups: Sequence[tuple[Sequence[NDArray[np.int64]], int]],
        device: torch.device | str,
        *,
        both_sides: bool = False,
    ) -> None:
        self._counts = [counts for sequences, orders in groups for counts in count_grams(sequences, orders)]
        self._columns = [pack(counts) for counts in self._counts]
        self._totals = np.stack([counts.totals for counts in self._counts]).astype(np.float32)
        self._device, self._both_sides = device, both_sides

    @property
    def room(self) -> Room:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        products = unpacking(self._totals.shape[1])
        kept = self._totals.itemsize * len(self._totals) * (2 if self._both_sides else 1)
        return Room(kept, max(products.work, _SCORING), products.once)

    def statistics(self, rows: Index, columns: Index) -> Statistics:
        """See :class:`~gpusearch.mbr.utility.Pairs`; exact integers in float32."""
        matches = torch.empty((len(self._columns), len(rows), len(columns)), device=self._device)
        for order, one in enumerate(self._columns):
            matches[order] = one.matches(rows, columns, self._device)
        references = rearrange(self._sums(columns), "k r -> k 1 r")
        return self._hypotheses(rows, references), references, matches

    def _hypotheses(self, rows: Index, references: torch.Tensor) -> torch.Tensor:
        totals = rearrange(self._sums(rows), "k h -> k h 1")
        return totals * (references > 0) if self._both_sides and not bool((references > 0).all()) else totals

    def _sums(self, texts: Index) -> torch.Tensor:
        return torch.from_numpy(self._totals[:, texts]).to(self._device)

    def expected(self, rows: Index, weights: NDArray[np.float64], left_out: NDArray[np.float64]) -> Statistics:
        """Matches with expected counts (DeNero et al. 2009; Vamvas & Sennrich 2024), float64."""
        share = weights / weights.sum()
        matches = np.stack([_expected_matches(counts, share, rows, left_out) for counts in self._counts])
        totals = self._totals.astype(np.float64)
        expected = ((totals @ share)[:, None] - left_out * totals[:, rows]) / (1 - left_out)
        references, found = (
            rearrange(torch.from_numpy(values), "k h -> k h 1").to(self._device) for values in (expected, matches)
        )
        return self._hypotheses(rows, references).double(), references, found


def _expected_matches(
    counts: GramCounts, share: NDArray[np.float64], rows: Index, left_out: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of texts `rows` with a text that has each n-gram as often as is expected."""
    expected = np.bincount(counts.gram, share[counts.text] * counts.count, minlength=counts.grams)
    own = np.zeros(len(share))
    own[rows] = left_out
    own = own[counts.text]
    whole = expected[counts.gram]
    others = whole - own * counts.count
    # Where no other text has the n-gram nothing is left but rounding, whose fourth root a BLEU would show.
    others = np.where(others > whole * 1e-12, others, 0) / (1 - own)
    matches = np.bincount(counts.text, np.minimum(counts.count, others), minlength=len(share))
    return matches[rows].astype(np.float64, copy=False)
