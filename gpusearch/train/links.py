"""Word alignments of many sentence pairs, in memory and as text (`0-0 1-2`, source-target, from 0)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, split_blank
from gpusearch.train.corpus import Array, ParallelCorpus

_POINT = re.compile(r"([0-9]{1,9})-([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, eq=False)
class Links:
    """Alignment points of N sentence pairs.

    Attributes:
        offsets: int64[N + 1]; the points of pair n are ``points[offsets[n] : offsets[n + 1]]``.
        points: uint16[*, 2], source and target place within the sentence, sorted, each once.
    """

    offsets: Array
    points: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, number: int) -> list[tuple[int, int]]:
        """Points of a sentence pair."""
        points = self.points[self.offsets[number] : self.offsets[number + 1]]
        return [(int(source), int(target)) for source, target in points]

    def save(self, path: Path) -> None:
        """Write to a folder of plain arrays."""
        path.mkdir(parents=True, exist_ok=True)
        np.save(path / "offsets.npy", self.offsets)
        np.save(path / "points.npy", self.points)

    @classmethod
    def load(cls, path: Path) -> Links:
        """Read what :meth:`save` wrote."""
        return cls(np.load(path / "offsets.npy", allow_pickle=False), np.load(path / "points.npy", allow_pickle=False))


def make_links(sentences: list[list[tuple[int, int]]]) -> Links:
    """Links from lists of (source place, target place)."""
    ordered = [sorted(set(points)) for points in sentences]
    offsets = np.cumsum([0, *(len(points) for points in ordered)], dtype=np.int64)
    flat = [point for points in ordered for point in points]
    return Links(offsets, np.array(flat, np.uint16).reshape(-1, 2))


def read_links(path: str | Path, corpus: ParallelCorpus) -> Links:
    """Read word alignments, a line for each line of the text (those that the corpus leaves out included).

    Raises:
        InputError: another number of lines, a token that is no point, a point outside of its sentence pair.
    """
    kept = dict(zip(corpus.lines.tolist(), range(len(corpus)), strict=True))
    sizes = np.stack([corpus.source.lengths(), corpus.target.lengths()], axis=1).tolist()
    sentences: list[list[tuple[int, int]]] = []
    count = 0
    for count, line in enumerate(read_lines(path), 1):
        pair = kept.get(count - 1)
        if pair is not None:
            sentences.append([_point(token, sizes[pair], path, count) for token in split_blank(line)])
    if count != corpus.total:
        raise InputError(
            "not one line of alignment for every sentence pair",
            path=path,
            found=count,
            expected=f"{corpus.total}, as many as lines of text",
        )
    return make_links(sentences)


def _point(token: str, size: list[int], path: str | Path, line: int) -> tuple[int, int]:
    match = _POINT.fullmatch(token)
    if match is None:
        raise InputError(
            "not an alignment point", path=path, line=line, found=token, expected="source-target, such as 0-0"
        )
    source, target = int(match[1]), int(match[2])
    if source >= size[0] or target >= size[1]:
        raise InputError(
            "alignment point outside of the sentence pair",
            path=path,
            line=line,
            found=token,
            expected=f"places from 0 within {size[0]} source and {size[1]} target words",
            hint="the alignment must be of the tokens as training makes them",
        )
    return source, target
