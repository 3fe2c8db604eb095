"""Whole documents as candidates: the statistics of their segments, summed, as corpus BLEU and chrF are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.mbr.utility import Index, Pairs, Room, Statistics, add


class DocumentPairs:
    """N documents, each made of one candidate a segment.

    Documents that share a segment share its statistics: every pair of different candidates is compared once.

    Args:
        segments: S segments, 1 or more, with their candidates.
        sizes: [S] numbers of their candidates.
        rows: [N, S] the candidates of each document.
    """

    def __init__(self, segments: Sequence[Pairs], sizes: Sequence[int], rows: NDArray[np.int64]) -> None:
        self._segments, self._sizes, self._rows = segments, sizes, rows

    @property
    def room(self) -> Room:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        return room_of_documents(self._segments)

    def statistics(self, rows: Index, columns: Index) -> Statistics:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        return total(
            repeated(segment, places[rows], places[columns])
            for segment, places in zip(self._segments, self._rows.T, strict=True)
        )

    def expected(self, rows: Index, weights: NDArray[np.float64], left_out: NDArray[np.float64]) -> Statistics:
        """See :class:`~gpusearch.mbr.utility.Pairs`."""
        order, parts = [], []
        for share in np.unique(left_out):
            here = np.flatnonzero(left_out == share)
            order.append(here)
            parts.append([one.expand(-1, len(here), -1) for one in self._expected(rows[here], weights, float(share))])
        back = torch.from_numpy(np.argsort(np.concatenate([*order, np.zeros(0, np.int64)])))
        return tuple(torch.cat(values, dim=1)[:, back] for values in zip(*parts, strict=True))

    def _expected(self, rows: Index, weights: NDArray[np.float64], left_out: float) -> Statistics:
        """For documents that all leave out the same share of themselves."""
        parts = []
        for segment, size, places in zip(self._segments, self._sizes, self._rows.T, strict=True):
            different, where = np.unique(places[rows], return_inverse=True)
            shares = np.bincount(places, weights, minlength=size).astype(np.float64, copy=False)
            values = segment.expected(different, shares, np.full(len(different), left_out))
            parts.append(tuple(spread(one, 1, where) for one in values))
        return total(parts)


def room_of_documents(segments: Sequence[Pairs]) -> Room:
    """Of pairs of documents: beside their sum stand the statistics of a segment, as they are made and spread twice."""
    rooms = [segment.room for segment in segments]
    kept, work = max(room.kept for room in rooms), max(room.work for room in rooms)
    return Room(kept, work + 3 * kept, max(room.once for room in rooms))


def total(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of several segments together."""
    return reduce(add, parts)


def repeated(segment: Pairs, rows: Index, columns: Index) -> Statistics:
    """Statistics of a segment's candidates `rows` [H] and `columns` [R], many of them the same ones."""
    row, where_row = np.unique(rows, return_inverse=True)
    column, where_column = np.unique(columns, return_inverse=True)
    return tuple(spread(spread(one, 1, where_row), 2, where_column) for one in segment.statistics(row, column))


def spread(values: torch.Tensor, dimension: int, where: NDArray[np.int64]) -> torch.Tensor:
    """Values of different candidates, one for each place that has them; nothing to do where they do not differ."""
    if values.shape[dimension] == 1:
        return values
    return values.index_select(dimension, torch.from_numpy(where).to(values.device))
