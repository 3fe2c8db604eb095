"""The best documents of independent segments, against all documents there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.candidates.draws import DocumentDraws, Draws
from gpusearch.candidates.pool import Candidates, candidates
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.joined import joined
from gpusearch.mbr.run import Options, decide_document


@st.composite
def segments(draw: st.DrawFn) -> list[Candidates]:
    """Up to three, each with up to five samples whose probabilities differ."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        texts = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
        scores = draw(st.lists(st.integers(0, 999), min_size=len(texts), max_size=len(texts), unique=True))
        sample = Draws(texts, -np.sqrt(2.0 + np.array(scores)), np.arange(len(texts)))
        found.append(candidates(sample, "score", draw(st.sampled_from([0.1, 1.0]))))
    return found


@pytest.mark.parametrize("rule", ["maxtrans", "maxderiv"])
@given(parts=segments(), keep=st.integers(1, 30))
def test_equals_the_best_of_all_documents(
    rule: Literal["maxtrans", "maxderiv"], parts: Sequence[Candidates], keep: int
) -> None:
    """Which need not be looked at: probabilities are products, scores are sums."""
    found = joined(parts, rule, keep)
    values = [part.pool.weights if rule == "maxtrans" else part.pool.derivation_weights for part in parts]
    every = {
        row: math.prod(value[place] for value, place in zip(values, row, strict=True))
        for row in product(*(range(len(part.texts)) for part in parts))
    }
    assert len(found.rows) == min(keep, len(every)) == len({tuple(row) for row in found.rows.tolist()})
    best = sorted(every.values(), reverse=True)[:keep]
    np.testing.assert_allclose(np.exp(found.log_values), best, rtol=1e-6)
    for row, value, score, weight in zip(
        found.rows.tolist(), found.log_values, found.scores, found.log_weights, strict=True
    ):
        assert math.exp(value) == pytest.approx(every[tuple(row)])
        assert score == pytest.approx(sum(part.pool.scores[place] for part, place in zip(parts, row, strict=True)))
        assert math.exp(weight) == pytest.approx(
            math.prod(part.pool.weights[place] for part, place in zip(parts, row, strict=True))
        )


@pytest.mark.parametrize(("rule", "text"), [("maxtrans", "x"), ("maxderiv", "y")])
def test_long_documents(rule: Literal["maxtrans", "maxderiv"], text: str) -> None:
    """Of which nobody would draw the best one: 0.6 or 0.4 a segment, so that even their product is too small."""
    sample = Draws(["x", "y", "x"], np.log([0.3, 0.4, 0.3]), np.array([0, 1, 2]))
    options = Options(rule=rule, unit="document")
    outcome = decide_document(DocumentDraws([sample] * 2000), Bleu(), 0, 0, options)
    assert outcome.best[0].texts == [text] * 2000
    assert outcome.best[0].score == pytest.approx(2000 * math.log({"x": 0.3, "y": 0.4}[text]))


def test_equal_documents_are_told_apart_by_score() -> None:
    """Where samples count alike whatever their scores, the better one wins, in each place of the list."""
    sample = Draws(["x", "y"], np.array([-2.0, -1.0]), np.arange(2))
    parts = [candidates(sample, "multiplicity")] * 3
    assert joined(parts, "maxderiv", 2).rows.tolist()[0] == [1, 1, 1]
    assert joined(parts, "maxderiv", 8).scores.tolist() == [-3, -4, -4, -4, -5, -5, -5, -6]
