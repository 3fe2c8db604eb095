"""From what the chains have become to a translation, and to the n best."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpusearch
from gpusearch.config import SearchConfig, with_search
from gpusearch.model.model import Model
from gpusearch.search.force import score_segmented
from gpusearch.search.result import DocumentResult
from gpusearch.search.run import search_documents
from gpusearch.search.saved import Given
from tests.parity_model import newstest_documents
from tests.search.runs import Documents, search
from tests.tiny import TINY


@pytest.fixture(scope="module")
def documents(parity: Path) -> Documents:
    whole = newstest_documents(parity)
    return [whole[0], [], [[], *whole[4], []]]


def test_each_sentence_from_the_chain_where_it_scores_best(newstest_model: Model, documents: Documents) -> None:
    """Never worse than the best chain: the sum of the best scores of all sentences, whatever their chains."""
    result = search(newstest_model, documents, chains=5)
    for document, found in zip(documents, result.documents, strict=True):
        scores = np.array(
            [
                [sentence.score for sentence in score_segmented(newstest_model, SearchConfig(), [document], given)[0]]
                for given in (Given([[chain]]) for chain in found.chains)
            ]
        )
        assert scores.sum(axis=1) == pytest.approx(found.chain_scores, abs=1e-3)
        assert found.best.score == pytest.approx(scores.max(axis=0).sum(), abs=1e-3)
        assert found.best.score >= found.chain_scores.max() - 1e-3
    assert result.documents[0].best.score > result.documents[0].chain_scores.max() + 0.01


def test_the_best_chain_of_each_document(newstest_model: Model, documents: Documents) -> None:
    result = search(newstest_model, documents, chains=5, recombine="best-chain")
    for found in result.documents:
        best = int(np.argmax(found.chain_scores))
        phrases = [[(p.start, p.stop, list(p.words)) for p in sentence.phrases] for sentence in found.best.sentences]
        assert phrases == found.chains[best]


def test_the_n_best_are_the_best_chains_in_order(newstest_model: Model, documents: Documents) -> None:
    """At most as many as there are chains; the choice of sentences is no chain, and not among them."""
    for count in (3, 9):
        result = search(newstest_model, documents, chains=5, more={"n_best_size": count})
        for found in result.documents:
            expected = np.sort(found.chain_scores)[::-1][:count]
            assert [one.score for one in found.n_best] == pytest.approx(expected, abs=1e-3)


@pytest.mark.complaint(13)
def test_distinct_n_best_repeat_no_text() -> None:
    """Chains that say the same count once, with the best of their scores; without `distinct` each of them counts."""
    decoder = gpusearch.load(TINY)
    documents = [["le petit chien ne dort pas .", "une maison bleue"], ["", "une petit maison bleue dans la maison"]]
    plain = decoder.decode(documents, chains=24, steps=4, n_best=24)
    distinct = decoder.decode(documents, chains=24, steps=4, n_best=24, distinct=True)
    for every, few in zip(plain.result.documents, distinct.result.documents, strict=True):
        best: dict[tuple[str, ...], float] = {}
        for one in every.n_best:
            best.setdefault(tuple(" ".join(sentence.words) for sentence in one.sentences), one.score)
        assert len(every.n_best) == 24 > len(best) > 1
        texts = [tuple(" ".join(sentence.words) for sentence in one.sentences) for one in few.n_best]
        assert dict(zip(texts, (one.score for one in few.n_best), strict=True)) == best
        assert texts == list(best)


@pytest.mark.parametrize("units", ["sentence", "document"])
def test_lists_have_what_the_chains_end_with_each_once_best_first(units: str) -> None:
    """Also where there are fewer places than derivations; of those that say the same the best, where asked for."""
    decoder = gpusearch.load(TINY)
    config = with_search(decoder.config, {"chains": 40, "steps": 6})
    documents = [[sentence.split() for sentence in ("le petit chien ne dort pas .", "", "une maison bleue")], [[]]]

    def lists(count: int, *, distinct: bool = False) -> list[DocumentResult]:
        more = {"list_size": count, "distinct": distinct, "keep_chains": True, "units": units}
        return search_documents(decoder.model, config, documents, **more).documents

    for every, few, distinct in zip(lists(999), lists(3), lists(3, distinct=True), strict=True):
        for place, listed in enumerate(every.lists):
            derivations = [[(p.start, p.stop, list(p.words)) for p in one.phrases] for one in listed]
            ended = {repr(chain[place]) for chain in every.chains}
            assert sorted(map(repr, derivations)) == sorted(ended)
            scores = [one.score for one in listed]
            assert scores == sorted(scores, reverse=True)
            assert [one.score for one in few.lists[place]] == pytest.approx(scores[:3], abs=1e-5)
            best: dict[str, float] = {}
            for one in listed:
                best.setdefault(" ".join(one.words), one.score)
            found = [one.score for one in distinct.lists[place]]
            assert found == pytest.approx(list(best.values())[:3], abs=1e-5)
            assert len({" ".join(one.words) for one in distinct.lists[place]}) == len(found)
    assert len(every.lists) == 1 and len(lists(999)[0].lists[0]) > 3
