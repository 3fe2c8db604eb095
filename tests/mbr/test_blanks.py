"""Utilities split at the same characters as sacreBLEU, the no-break space and the line separator among them."""

from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from gpusearch.mbr.matrix import utilities
from gpusearch.mbr.named import make_utility

TEXTS = ["a b\u00a0c d", "a b c d", "a\u00a0b c\u2028d e", "a b\x1fc\u3000d", "\u00a0", "a\u00a0b\u2028c\x1fd\u3000e"]
ORACLES = {
    "bleu": BLEU(effective_order=True),
    "chrf": CHRF(),
    "chrf++": CHRF(word_order=2),
    "ter": TER(case_sensitive=True),
}


@pytest.mark.parametrize("name", ORACLES)
def test_odd_blanks(name: str) -> None:
    oracle, sign = ORACLES[name], -1 if name == "ter" else 1
    expected = [[sign * oracle.sentence_score(one, [other]).score for other in TEXTS] for one in TEXTS]
    np.testing.assert_allclose(utilities(make_utility([name]), TEXTS, TEXTS), expected, atol=1e-9)
