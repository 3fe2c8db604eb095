"""The Python interface: what its docstrings show, and what its arguments do."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import gpusearch
from gpusearch import decoder as module
from gpusearch.decoder import Decoder
from gpusearch.errors import InputError
from gpusearch.io.documents import Corpus, Document, Segment
from tests.tiny import TINY


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return gpusearch.load(TINY)


def test_the_example_of_the_docstring(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    result = doctest.testmod(module)
    assert result.attempted >= 4 and result.failed == 0


def test_lists_of_segments_and_a_corpus_are_translated_alike(decoder: Decoder) -> None:
    """A corpus whose documents have no ids is nothing else than lists."""
    texts = [["la maison bleue", ""], ["le chien dort ."]]
    corpus = Corpus([Document(None, [Segment(text) for text in document]) for document in texts], "text")
    by_list = decoder.decode(texts, chains=3, steps=20)
    by_corpus = decoder.decode(corpus, chains=3, steps=20)
    assert by_list.texts == by_corpus.texts == [["the blue house", ""], ["the dog sleeps ."]]
    assert by_list.signature == by_corpus.signature
    assert by_list.score == by_corpus.score == sum(found.best.score for found in by_list.result.documents)


def test_settings_hold_for_one_call(decoder: Decoder) -> None:
    """They are those of [search], checked as the file's; the next call has the file's own again."""
    before = decoder.config
    assert len(decoder.decode([["la"]], chains=2).result.documents[0].chain_scores) == 2
    assert decoder.config is before
    assert len(decoder.decode([["la"]], steps=1).result.documents[0].chain_scores) == 64
    for settings, message in (({"chain": 3}, "nearest known: chains"), ({"chains": "many"}, "valid integer")):
        with pytest.raises(InputError, match=message):
            decoder.decode([["la"]], **settings)


def test_overrides_of_the_configuration() -> None:
    decoder = gpusearch.load(TINY, ["search.chains=3", "phrase_table.0.table_limit=1"])
    decoded = decoder.decode([["la maison"]], keep_chains=True, trace=True, n_best=2, steps=4)
    found = decoded.result.documents[0]
    assert len(found.chains) == len(found.chain_scores) == 3
    assert list(found.trace) == [0, 1, 2, 4]
    assert len(found.n_best) == len(decoded.n_best_texts[0]) == 2
    with pytest.raises(InputError, match=r"none\.toml: cannot read"):
        gpusearch.load(TINY.with_name("none.toml"))


def test_status_is_told_of_documents_and_proposals(decoder: Decoder) -> None:
    calls: list[tuple[int, str]] = []
    decoder.decode([["la maison"], ["le chien"]], chains=2, status=lambda done, text: calls.append((done, text)))
    assert all(0 <= done <= 2 for done, _ in calls)
    of_chains = [text for _, text in calls if not text.startswith("recombination: ")]
    assert of_chains and len(of_chains) < len(calls)
    assert all("proposals/s" in text and "accepted" in text and "score" in text for text in of_chains)


@pytest.mark.parametrize("documents", ["une maison", ["une maison"], [[1]]])
def test_a_text_is_no_document(decoder: Decoder, documents: list[list[str]]) -> None:
    """Nor a list of texts a list of documents: each letter would be translated."""
    with pytest.raises(InputError, match=r"no document; found .*; expected documents as lists of raw segments"):
        decoder.decode(documents)


def test_a_file_that_would_not_be_used_is_an_error() -> None:
    decoder = gpusearch.load(TINY)
    with pytest.raises(InputError, match=r"initial_file would have no effect; found initial = best"):
        decoder.decode([["la maison"]], initial="best", initial_file="x")
