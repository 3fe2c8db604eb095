"""A document put together from the segments of different samples, so that its expected utility is greatest.

Coordinate ascent: all candidates of a segment are tried at once, the others fixed, until no segment can be improved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.mbr.documents import repeated, room_of_documents, total
from gpusearch.mbr.utility import Index, Pairs, Statistics, Utility, add

_LEAST_GAIN = 1e-9  # more than rounding


@dataclass(frozen=True, eq=False)
class Recombined:
    """A local optimum."""

    rows: NDArray[np.int64]
    """[S] the candidate of each segment."""
    utility: float
    """Its expected utility."""
    start: float
    """That of the document it was begun with."""
    sweeps: int
    """Over all segments; the last one changed nothing."""


class Recombination:
    """Recombination of one document.

    Args:
        utility: of documents.
        segments, sizes: S segments, and the numbers of their candidates.
        references: [R, S] the candidates of each reference document.
        weights: [R] of the references; sum to 1.
        memory: bytes that statistics may take, but for a row of pairs, which blocks of documents have needed before.
            Tables that do not fit are computed anew in each sweep.
    """

    def __init__(
        self,
        utility: Utility,
        segments: Sequence[Pairs],
        sizes: Sequence[int],
        references: NDArray[np.int64],
        weights: NDArray[np.float64],
        memory: int,
    ) -> None:
        self._utility, self._segments, self._sizes = utility, segments, sizes
        self._references, self._weights = references, torch.from_numpy(weights)
        room, count = room_of_documents(segments), len(references)
        table = sum(segment.room.kept * size * count for segment, size in zip(segments, sizes, strict=True))
        fits = table + room.need(1, count) <= memory
        self._tables: dict[int, list[tuple[slice, Statistics]]] | None = {} if fits else None
        self._step = max(1, room.rows(memory - table if fits else memory, count))

    def improve(self, start: Index) -> Recombined:
        """The local optimum that is reached from a document [S]."""
        rows = np.array(start, np.int64)
        first = utility = float(self._expected(self._whole(rows))[0])
        sweeps, changed = 0, True
        while changed:
            changed = False
            sweeps += 1
            # Anew in each sweep: the statistics of functions are no integers, and would drift.
            whole = self._whole(rows)
            for segment in range(len(rows)):
                rest = _subtract(whole, self._of(segment, rows[segment]))
                values = np.concatenate([self._expected(add(rest, part)) for _, part in self._table(segment)])
                best = int(values.argmax())
                if values[best] > utility + _LEAST_GAIN:
                    rows[segment], utility, changed = best, float(values[best]), True
                    whole = add(rest, self._of(segment, best))
        return Recombined(rows, utility, first, sweeps)

    def _expected(self, statistics: Statistics) -> NDArray[np.float64]:
        values = self._utility.score(statistics)
        return (values @ self._weights.to(values.device)).cpu().numpy()

    def _whole(self, rows: Index) -> Statistics:
        return total(self._of(segment, int(row)) for segment, row in enumerate(rows))

    def _of(self, segment: int, candidate: int) -> Statistics:
        """Statistics of one candidate with all references, [K, 1, R]."""
        row = np.array([candidate], np.int64)
        if self._tables is None:
            return repeated(self._segments[segment], row, self._references[:, segment])
        part, values = next(one for one in self._table(segment) if one[0].start <= candidate < one[0].stop)
        place = candidate - part.start
        return tuple(one if one.shape[1] == 1 else one[:, place : place + 1] for one in values)

    def _table(self, segment: int) -> Sequence[tuple[slice, Statistics]] | Iterator[tuple[slice, Statistics]]:
        """Statistics of all candidates with all references, some rows at a time."""
        if self._tables is None:
            return self._computed(segment)
        if segment not in self._tables:
            self._tables[segment] = list(self._computed(segment))
        return self._tables[segment]

    def _computed(self, segment: int) -> Iterator[tuple[slice, Statistics]]:
        size = self._sizes[segment]
        for start in range(0, size, self._step):
            rows = np.arange(start, min(size, start + self._step))
            values = repeated(self._segments[segment], rows, self._references[:, segment])
            yield slice(start, start + len(rows)), values


def _subtract(first: Statistics, second: Statistics) -> Statistics:
    return tuple(one - other for one, other in zip(first, second, strict=True))
