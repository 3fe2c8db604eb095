"""Utilities that another program has computed, read from a file.

As TSV: ``segment  hypothesis  reference  score``, or ``segment  hypothesis  score`` for scores that look at no
reference, such as quality estimation. As npz what ``--save-matrix`` writes of sentences: for segment s the arrays
``s.texts`` [N] and ``s.utilities`` [N, N]. Segments count from 0; more is better. What ``--save-matrix`` writes of
whole documents is no utility: it says nothing of their segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.io.arrays import open_arrays
from gpusearch.io.files import read_lines, wrong_line
from gpusearch.mbr.averaged import WIDTH, AveragedPairs, averaged
from gpusearch.mbr.utility import Index, Statistics

_Scores = dict[tuple[int, str, str | None], float]
_SAVED = "what --save-matrix writes of sentences"


class ExternalUtility:
    """Scores of a file.

    Raises:
        InputError: a file that cannot be read, a line that is none, a score that is no number, two for the same texts.
    """

    width = WIDTH

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self.signature = f"file:{self._path.name}"
        self._scores = _read_npz(self._path) if self._path.suffix == ".npz" else _read_tsv(self._path)

    def prepare(self, texts: Sequence[str], segment: int) -> AveragedPairs:
        """See :class:`~gpusearch.mbr.utility.Utility`."""

        def matrix(rows: Index, columns: Index) -> NDArray[np.float64]:
            return np.array(
                [[self._score(segment, texts[row], texts[column]) for column in columns] for row in rows]
            ).reshape(len(rows), len(columns))

        return AveragedPairs(self.signature, matrix)

    def _score(self, segment: int, hypothesis: str, reference: str) -> float:
        for key in ((segment, hypothesis, reference), (segment, hypothesis, None)):
            if key in self._scores:
                return self._scores[key]
        raise InputError(
            f"no score of segment {segment}",
            path=self._path,
            found=f"the hypothesis {hypothesis[:60]!r} with the reference {reference[:60]!r}",
            expected="a score for every pair",
        )

    def score(self, statistics: Statistics) -> torch.Tensor:
        """Mean of the segments."""
        return averaged(statistics)


def _read_tsv(path: Path) -> _Scores:
    scores: _Scores = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split("\t")
        try:
            if not 3 <= len(fields) <= 4:
                raise ValueError(f"{len(fields)} fields")
            value = float(fields[-1])
            if not np.isfinite(value):
                raise ValueError("no finite score")
            key = int(fields[0]), fields[1], fields[2] if len(fields) == 4 else None
            if scores.setdefault(key, value) != value:
                raise ValueError(f"the same texts had the score {scores[key]:g} before")
        except ValueError as error:
            raise wrong_line(
                f"not a line of scores ({error})",
                path,
                number,
                line,
                "segment, hypothesis, reference (or none), score; tabs between them",
            ) from None
    return scores


def _read_npz(path: Path) -> _Scores:
    scores: _Scores = {}
    with open_arrays(path, _SAVED) as arrays:
        if any(name.endswith(".rows") for name in arrays.names):
            raise InputError(
                "utilities of whole documents, which say nothing of their segments",
                path=path,
                expected=_SAVED,
                hint="save them with --unit sentence",
            )
        for name in arrays.names:
            segment, _, kind = name.partition(".")
            if kind != "utilities":
                continue
            texts, values = arrays.read(f"{segment}.texts", "U", 1).tolist(), arrays.read(name, "fiu", 2)
            if not segment.isdecimal():
                raise InputError("utilities of no segment", path=path, found=repr(name), expected=_SAVED)
            if values.shape != (len(texts), len(texts)) or not np.isfinite(values).all():
                fits = values.shape == (len(texts), len(texts))
                raise InputError(
                    f"utilities of segment {segment}",
                    path=path,
                    found="NaN or infinity" if fits else f"shape {values.shape}",
                    expected=f"finite numbers {len(texts), len(texts)}, as there are texts",
                )
            for hypothesis, row in zip(texts, values.tolist(), strict=True):
                for reference, value in zip(texts, row, strict=True):
                    if scores.setdefault((int(segment), hypothesis, reference), value) != value:
                        raise InputError(
                            f"two scores of the same texts of segment {segment}",
                            path=path,
                            found=f"{hypothesis[:60]!r} with {reference[:60]!r}",
                            expected="each text once",
                        )
    return scores
