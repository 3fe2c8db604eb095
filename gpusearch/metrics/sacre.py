"""BLEU, chrF and TER as sacreBLEU has them, and BLEU with documents as its units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gpusearch.metrics.base import References, Statistics, reference_streams


class SacreMetric:
    """A metric of sacreBLEU, taken apart into statistics and score.

    The statistics are sacreBLEU's own, so that scores equal those of its command line.

    Args:
        name: as it is printed.
        metric: an instance of a sacreBLEU metric class.
        width: number of statistics k.
        dtype: of the statistics.
        unit: what a row stands for; documents are named in the signature (``unit:doc``).
        reference_count: references a unit.
        higher_is_better: False for error rates.
    """

    def __init__(
        self,
        name: str,
        metric: Any,
        width: int,
        dtype: type[np.int64] | type[np.float64] = np.int64,
        *,
        unit: Literal["segment", "document"] = "segment",
        reference_count: int = 1,
        higher_is_better: bool = True,
    ) -> None:
        self.name, self.unit, self.higher_is_better = name, unit, higher_is_better
        self._metric, self._width, self._dtype, self._reference_count = metric, width, dtype, reference_count

    @property
    def signature(self) -> str:
        """sacreBLEU's signature."""
        self._metric.num_refs = self._reference_count
        own = str(self._metric.get_signature())
        return own if self.unit == "segment" else f"{own}|unit:doc"

    def statistics(self, hypotheses: Sequence[str], references: References) -> Statistics:
        """Statistics [N, k]; see :class:`~gpusearch.metrics.base.Metric`."""
        streams = reference_streams(hypotheses, references, self._reference_count)
        # sacreBLEU has no public way to the statistics of segments; its paired tests use this one.
        rows = self._metric._extract_corpus_statistics(list(hypotheses), streams) if hypotheses else []
        return np.array(rows, self._dtype).reshape(len(hypotheses), self._width)

    def score(self, statistics: Statistics) -> float:
        """Score of summed statistics [k], 0-100 (TER: 0 and more)."""
        return float(self._metric._compute_score_from_stats(statistics.tolist()).score)


def bleu(*, lowercase: bool = False, reference_count: int = 1) -> SacreMetric:
    """BLEU (Papineni et al. 2002). Statistics: length, reference length, 4 matches, 4 totals."""
    from sacrebleu.metrics import BLEU

    return SacreMetric("BLEU", BLEU(lowercase=lowercase, force=True), 10, reference_count=reference_count)


def document_bleu(*, lowercase: bool = False, reference_count: int = 1) -> SacreMetric:
    """BLEU with a document as the segment: n-grams match anywhere in the document, and across its sentences.

    Not to be compared with BLEU of sentences, than which it is usually some points higher.
    """
    from sacrebleu.metrics import BLEU

    metric = BLEU(lowercase=lowercase, force=True)
    return SacreMetric("d-BLEU", metric, 10, unit="document", reference_count=reference_count)


def chrf(*, lowercase: bool = False, reference_count: int = 1) -> SacreMetric:
    """chrF2 (Popović 2015). Statistics: for orders 1-6 n-grams of the hypothesis, of the reference, of both."""
    from sacrebleu.metrics import CHRF

    return SacreMetric("chrF2", CHRF(lowercase=lowercase), 18, reference_count=reference_count)


def ter(*, lowercase: bool = False, reference_count: int = 1) -> SacreMetric:
    """TER (Snover et al. 2006), an error rate. Statistics: edits, average reference length."""
    from sacrebleu.metrics import TER

    metric = TER(case_sensitive=not lowercase)
    return SacreMetric("TER", metric, 2, np.float64, reference_count=reference_count, higher_is_better=False)
