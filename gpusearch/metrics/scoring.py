"""Scores of translations by any of the metrics: the way in for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from gpusearch.errors import InputError
from gpusearch.metrics import sacre
from gpusearch.metrics.base import Metric, References, Statistics, unit_statistics
from gpusearch.metrics.nist import Nist

METRICS: dict[str, Callable[..., Metric]] = {
    "bleu": sacre.bleu,
    "chrf": sacre.chrf,
    "ter": sacre.ter,
    "nist": Nist,
    "dbleu": sacre.document_bleu,
}
"""Metrics by the names that ``--metrics`` takes; each is made with ``lowercase`` and ``reference_count``."""


@dataclass(frozen=True)
class Result:
    """The score of a corpus by one metric."""

    name: str
    score: float
    signature: str
    higher_is_better: bool


def make_metric(name: str, *, lowercase: bool = False, reference_count: int = 1) -> Metric:
    """A metric by its name in :data:`METRICS`.

    Raises:
        InputError: there is none of that name.
    """
    if name not in METRICS:
        raise InputError("unknown metric", found=repr(name), expected=", ".join(METRICS))
    return METRICS[name](lowercase=lowercase, reference_count=reference_count)


def evaluate(
    hypotheses: Sequence[str],
    references: References,
    documents: Sequence[str] | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    *,
    lowercase: bool = False,
) -> list[Result]:
    """Score raw (detokenised) translations.

    Args:
        hypotheses: a translation for each segment.
        references: a reference for each segment, or several.
        documents: the document id of each segment; the segments of a document stand together. Needed for
            ``dbleu`` only.
        metrics: names from :data:`METRICS`.
        lowercase: ignore case.

    Returns:
        A result for each metric, in their order.

    Raises:
        InputError: counts that differ, no segment at all, an unknown metric, a document in two pieces.
    """
    starts = None if documents is None else document_starts(documents, len(hypotheses))
    results = []
    for metric in make_metrics(metrics, references, lowercase=lowercase):
        rows = corpus_statistics(metric, hypotheses, references, starts)
        score = metric.score(rows.sum(axis=0))
        results.append(Result(metric.name, score, metric.signature, metric.higher_is_better))
    return results


def make_metrics(names: Sequence[str], references: References, *, lowercase: bool = False) -> list[Metric]:
    """The metrics of these names for references of this form."""
    if not references:
        raise InputError("no segment to score")
    count = 1 if isinstance(references[0], str) else len(references[0])
    return [make_metric(name, lowercase=lowercase, reference_count=count) for name in names]


def corpus_statistics(
    metric: Metric, hypotheses: Sequence[str], references: References, starts: Sequence[int] | None
) -> Statistics:
    """Statistics of the documents [D, k], or of the segments [N, k] where no documents are given."""
    if starts is not None:
        return unit_statistics(metric, hypotheses, references, starts)
    if metric.unit == "document":
        raise InputError(f"{metric.name} without documents", hint="give the document id of each segment")
    return metric.statistics(hypotheses, references)


def document_starts(documents: Sequence[str], segments: int) -> list[int]:
    """Index of the first segment of each document.

    Raises:
        InputError: not an id for each segment; a document whose segments do not stand together.
    """
    if len(documents) != segments:
        raise InputError("not one document id for every segment", found=f"{len(documents)}", expected=f"{segments}")
    runs = [(name, len(list(run))) for name, run in groupby(documents)]
    seen: set[str] = set()
    for name, _ in runs:
        if name in seen:
            raise InputError(f"the segments of document {name!r} do not stand together")
        seen.add(name)
    return np.cumsum([0] + [length for _, length in runs])[:-1].tolist()
