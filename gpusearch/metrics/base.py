"""What a metric is: statistics of each unit of text, which add up, and a score of their sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError

Statistics = NDArray[Any]
"""int64 or float64 [N, k]: a row a unit; rows may be added up. [k] for a sum."""

References = Sequence[str] | Sequence[Sequence[str]]
"""For each unit its reference, or all its references."""


class Metric(Protocol):
    """A score of a corpus that is a function of summed statistics.

    So a score of any part of a corpus, of a resample or of a mixture of systems needs no text: sum the rows,
    call :meth:`score`. Texts are raw (detokenised); the metric has its own tokenizer.
    """

    name: str
    """As it is printed."""
    unit: Literal["segment", "document"]
    """What a row stands for. Of a document, the segments are joined by blanks."""
    higher_is_better: bool

    @property
    def signature(self) -> str:
        """All that shapes the score, in sacreBLEU's form ``key:value|key:value``."""

    def statistics(self, hypotheses: Sequence[str], references: References) -> Statistics:
        """Statistics [N, k] of N units.

        Raises:
            InputError: not as many references as hypotheses.
        """

    def score(self, statistics: Statistics) -> float:
        """The score of summed statistics [k]."""


def reference_streams(hypotheses: Sequence[str], references: References, count: int) -> list[list[str]]:
    """References as ``count`` lists, each with one for every hypothesis.

    Raises:
        InputError: counts that differ.
    """
    if len(hypotheses) != len(references):
        raise InputError(
            "not one reference for every hypothesis",
            found=f"{len(references)} references",
            expected=f"{len(hypotheses)}",
        )
    rows = [(item,) if isinstance(item, str) else tuple(item) for item in references]
    for place, row in enumerate(rows, 1):
        if len(row) != count:
            raise InputError(f"references of unit {place}", found=f"{len(row)}", expected=f"{count} for each unit")
    return [[row[stream] for row in rows] for stream in range(count)]


def unit_statistics(
    metric: Metric, hypotheses: Sequence[str], references: References, starts: Sequence[int]
) -> Statistics:
    """Statistics of documents [D, k].

    Args:
        metric: of segments (their rows are summed) or of documents.
        hypotheses, references: of all segments, document after document.
        starts: index of the first segment of each document, increasing from 0; so no document is empty.
    """
    if metric.unit == "segment":
        rows = metric.statistics(hypotheses, references)
        summed: Statistics = np.add.reduceat(rows, np.asarray(starts, np.intp), axis=0)
        return summed
    stops = [*starts[1:], len(hypotheses)]
    spans = list(zip(starts, stops, strict=True))
    texts = [" ".join(hypotheses[start:stop]) for start, stop in spans]
    if all(isinstance(item, str) for item in references):
        return metric.statistics(texts, [" ".join(map(str, references[start:stop])) for start, stop in spans])
    joined = [[" ".join(stream) for stream in zip(*references[start:stop], strict=True)] for start, stop in spans]
    return metric.statistics(texts, joined)
