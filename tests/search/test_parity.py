"""Force-scoring against Moses and Docent: what they print for their own best translations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.config import SearchConfig
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.search.force import score_segmented
from gpusearch.search.saved import given_from_trace
from gpusearch.search.translation import SentenceTranslation, describe
from tests.parity_model import LAWS, NEWSTEST, Derivation, laws_documents, newstest_documents, read_nbest

MOSES_NAMES = {
    "WordPenalty": "WordPenalty0",
    "PhrasePenalty": "PhrasePenalty0",
    "Distortion": "Distortion0",
}


def scored_traces(model: Model, parity: Path, *, first_jump: bool = True) -> list[list[SentenceTranslation]]:
    """Moses' best translations of the newstest documents, scored."""
    documents = newstest_documents(parity)
    given = given_from_trace(parity / NEWSTEST / "moses.nolr.trace.txt", documents)
    return score_segmented(model, SearchConfig(first_jump=first_jump), documents, given)


def check_derivations(batch: Batch, derivations: list[Derivation]) -> NDArray[np.float64]:
    """Every feature of the model within 1e-3 of Moses' figure for it; returns the scores."""
    options = [np.array(batch.options.find(one.sentence, one.phrases), np.int32) for one in derivations]
    found = describe(batch, options, first_jump=True)
    features = batch.options.model.features
    for name, (start, stop) in features.groups.items():
        if name == "UnknownWord":
            continue  # Moses leaves its value out
        expected = [one.features[MOSES_NAMES.get(name, name)] for one in derivations]
        values = np.array([one.features[start:stop] for one in found])
        np.testing.assert_allclose(values, expected, atol=1e-3, err_msg=name)
    return np.array([one.score for one in found])


def test_totals_of_all_newstest_sentences(newstest_model: Model, parity: Path) -> None:
    """Moses' best derivations of all 311 sentences: totals within 2e-3, -4305.15 in sum."""
    totals = [float(line) for line in (parity / NEWSTEST / "moses.nolr.totals.txt").read_text().split()]
    scores = [one.score for document in scored_traces(newstest_model, parity) for one in document]
    assert len(scores) == len(totals) == 311
    np.testing.assert_allclose(scores, totals, atol=2e-3)
    assert sum(scores) == pytest.approx(-4305.15, abs=0.02)


def test_features_and_totals_of_newstest_derivations(newstest_model: Model, parity: Path) -> None:
    """The 5-best of all 311 sentences: every feature within 1e-3, totals within 2e-3."""
    derivations = read_nbest(parity / NEWSTEST / "moses.nolr.nbest.gz")
    assert {one.sentence for one in derivations} == set(range(311))
    batch = build_problem(newstest_model, newstest_documents(parity))
    scores = check_derivations(batch, derivations)
    np.testing.assert_allclose(scores, [one.total for one in derivations], atol=2e-3)


def test_features_and_totals_with_reordering(newstest_reordering_model: Model, parity: Path) -> None:
    """moses.ini, the 5-best of all 311 sentences: every feature within 1e-3, totals within 2e-3; -4450.69 in sum."""
    derivations = read_nbest(parity / NEWSTEST / "moses.lr.nbest.gz")
    assert {one.sentence for one in derivations} == set(range(311))
    assert "LexicalReordering0" in newstest_reordering_model.features.groups
    batch = build_problem(newstest_reordering_model, newstest_documents(parity))
    scores = check_derivations(batch, derivations)
    np.testing.assert_allclose(scores, [one.total for one in derivations], atol=2e-3)
    documents = newstest_documents(parity)
    given = given_from_trace(parity / NEWSTEST / "moses.lr.trace.txt", documents)
    found = score_segmented(newstest_reordering_model, SearchConfig(), documents, given)
    assert sum(one.score for document in found for one in document) == pytest.approx(-4450.69, abs=0.02)


def test_features_and_totals_of_laws_derivations(laws_model: Model, parity: Path) -> None:
    """A model of real size: every feature of the 5-best of 300 sentences within 1e-3, all totals of the trace 2e-3."""
    documents = laws_documents(parity)
    derivations = read_nbest(parity / LAWS / "moses.cube500.first300.nbest.gz")
    assert {one.sentence for one in derivations} == set(range(300))
    assert "LexicalReordering0" in laws_model.features.groups
    check_derivations(build_problem(laws_model, documents), derivations)
    totals = [float(line) for line in (parity / LAWS / "moses.cube500.totals.txt").read_text().split()]
    given = given_from_trace(parity / LAWS / "moses.cube500.trace.txt", documents)
    found = score_segmented(laws_model, SearchConfig(), documents, given)
    np.testing.assert_allclose([one.score for document in found for one in document], totals, atol=2e-3)


def test_docents_convention(newstest_model: Model, parity: Path) -> None:
    """Docent counts no first jump: -118.956 for the first document, another total for three of the 311 sentences."""
    ours = scored_traces(newstest_model, parity)
    docents = scored_traces(newstest_model, parity, first_jump=False)
    assert sum(one.score for one in docents[0]) == pytest.approx(-118.956, abs=1e-3)
    differing = 0
    for document, other in zip(ours, docents, strict=True):
        for one, two in zip(document, other, strict=True):
            jump = one.phrases[0].start
            differing += jump > 0
            assert two.score - one.score == pytest.approx(0.15 * jump, abs=1e-9)
    assert differing == 3
