"""Clipped matches of all pairs of texts as products of matrices of 0 and 1.

What two texts have of an n-gram is ``min(a, b) = sum over k >= 1 of [a >= k] [b >= k]``: with a column for "occurs at
least k times" the matches of all pairs are one product. Columns that few or all texts have need no product, and equal
columns are multiplied once with their number as weight; n-grams of samples of one sentence come and go together, so
that few different columns are left. All numbers are integers below 2^24: float32 holds them exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.mbr.grams import GramCounts
from gpusearch.mbr.utility import Index, Room

_CELLS = 1 << 25  # of a matrix of 0 and 1 that is packed at once
_FEWEST = 32  # columns that are unpacked at once
_CELL = 18  # bytes of an unpacked cell: as a byte on both machines, as float32 plain, weighted, and selected from each


def unpacking(texts: int) -> Room:
    """What products of texts take besides what they return."""
    return Room(kept=0, work=_CELL + 4, once=_CELL * _FEWEST * texts)


@dataclass(frozen=True, eq=False)
class Columns:
    """What N texts have of the n-grams of one order, packed."""

    packed: NDArray[np.uint8]
    """[P, ceil(N / 8)] different columns, a bit a text."""
    weight: NDArray[np.float32]
    """[P] how many columns are equal to it."""
    alone: NDArray[np.float32]
    """[N] columns that no other text has: they match the text itself only."""
    everywhere: int
    """Columns that all N texts have."""

    def matches(self, rows: Index, columns: Index, device: torch.device | str = "cpu") -> torch.Tensor:
        """Clipped matches of texts `rows` [H] with texts `columns` [R]: float32 [H, R], exact."""
        result = torch.full((len(rows), len(columns)), float(self.everywhere), device=device)
        texts = len(self.alone)
        # No more cells are unpacked than there are pairs, so that blocks of pairs bound them as well.
        step = max(_FEWEST, len(rows) * len(columns) // max(1, texts))
        left, right = _selection(rows, texts, device), _selection(columns, texts, device)
        for start in range(0, len(self.packed), step):
            bits = np.unpackbits(self.packed[start : start + step], axis=1, count=texts)
            chunk = torch.from_numpy(bits).to(device).float()
            weighted = chunk * torch.from_numpy(self.weight[start : start + step, None]).to(device)
            first = weighted if left is None else weighted[:, left]
            result.addmm_(first.T, chunk if right is None else chunk[:, right])
        self._add_alone(result, rows, columns)
        return result

    def _add_alone(self, result: torch.Tensor, rows: Index, columns: Index) -> None:
        where: dict[int, list[int]] = {}
        for place, text in enumerate(columns.tolist()):
            where.setdefault(text, []).append(place)
        pairs = [(row, column) for row, text in enumerate(rows.tolist()) for column in where.get(text, ())]
        if pairs:
            row, column = np.array(pairs, np.int64).T
            alone = torch.from_numpy(self.alone[rows[row]]).to(result.device)
            result[torch.from_numpy(row).to(result.device), torch.from_numpy(column).to(result.device)] += alone


def _selection(texts: Index, count: int, device: torch.device | str) -> torch.Tensor | None:
    """None where all are taken as they stand."""
    if len(texts) == count and (texts == np.arange(count)).all():
        return None
    return torch.from_numpy(texts).to(device)


def pack(counts: GramCounts) -> Columns:
    """The columns of n-gram counts."""
    texts = len(counts.totals)
    most = np.zeros(counts.grams, np.int64)
    np.maximum.at(most, counts.gram, counts.count)
    # An entry with count c has a cell in the first c columns of its n-gram.
    entry = np.repeat(np.arange(len(counts.count)), counts.count)
    seen = np.arange(len(entry)) - np.repeat(np.cumsum(counts.count) - counts.count, counts.count)
    column = (np.cumsum(most) - most)[counts.gram[entry]] + seen
    text = counts.text[entry]
    size = np.bincount(column, minlength=int(most.sum()))
    alone = np.bincount(text[size[column] == 1], minlength=texts).astype(np.float32)
    kept = (size > 1) & (size < texts)
    cells = kept[column]
    packed, weight = _merge(_pack_bits((np.cumsum(kept) - 1)[column[cells]], text[cells], int(kept.sum()), texts))
    return Columns(packed, weight, alone, int((size == texts).sum()) if texts > 1 else 0)


def _pack_bits(column: Index, text: Index, columns: int, texts: int) -> NDArray[np.uint8]:
    """Bits [columns, ceil(texts / 8)] of cells, some columns at a time."""
    packed = np.zeros((columns, -(-texts // 8)), np.uint8)
    step = max(1, _CELLS // max(1, texts))
    for start in range(0, columns, step):
        inside = slice(None) if columns <= step else (column >= start) & (column < start + step)
        dense = np.zeros((min(step, columns - start), texts), np.bool_)
        dense[column[inside] - start, text[inside]] = True
        packed[start : start + step] = np.packbits(dense, axis=1)
    return packed


def _merge(packed: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Different columns, and how many there are of each."""
    if not packed.size:
        return packed, np.ones(len(packed), np.float32)
    rows = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, number = np.unique(rows, return_index=True, return_counts=True)
    return packed[first], number.astype(np.float32)
