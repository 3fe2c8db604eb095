"""Utilities of all pairs as sacreBLEU has them, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU, CHRF, TER

from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.ter import Ter
from gpusearch.mbr.utility import Utility

UTILITIES: dict[str, tuple[Utility, Any, int]] = {
    "bleu": (Bleu(), BLEU(effective_order=True), 1),
    "bleu without effective order": (Bleu(effective_order=False), BLEU(force=True), 1),
    "bleu of Arun et al.": (
        Bleu("add-k", 0.01, tokenize="none"),
        BLEU(smooth_method="add-k", smooth_value=0.01, effective_order=True, tokenize="none", force=True),
        1,
    ),
    "bleu floor": (
        Bleu("floor", 0.1, lowercase=True),
        BLEU(smooth_method="floor", smooth_value=0.1, effective_order=True, lowercase=True),
        1,
    ),
    "bleu bare": (Bleu("none", tokenize="intl"), BLEU(smooth_method="none", effective_order=True, tokenize="intl"), 1),
    "bleu of characters": (
        Bleu(tokenize="char", orders=2),
        BLEU(tokenize="char", max_ngram_order=2, effective_order=True),
        1,
    ),
    "chrf": (Chrf(), CHRF(), 1),
    "chrf++": (Chrf(word_order=2), CHRF(word_order=2), 1),
    "chrf3 with blanks": (
        Chrf(char_order=4, beta=3, whitespace=True, lowercase=True),
        CHRF(char_order=4, beta=3, whitespace=True, lowercase=True),
        1,
    ),
    "ter": (Ter(), TER(case_sensitive=True), -1),
}
"""Our utility, sacreBLEU's metric and its sign."""


def pair_by_pair(metric: Any, sign: int, hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """[H, R] of ``sentence_score``."""
    return np.array([[sign * metric.sentence_score(one, [other]).score for other in references] for one in hypotheses])
