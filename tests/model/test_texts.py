"""Documents as they come: empty ones, long ones, of unknown words, with words that have no translation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpusearch
from gpusearch.decoder import Decoder
from gpusearch.io.files import split_blank
from gpusearch.search.translation import SentenceTranslation
from tests.tiny import TINY

WORDS = ("la", "le", "une", "maison", "bleue", "chien", "petit", "dort", "ne", "pas", "dans", ".", "x", "<s>", "[X]")


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return gpusearch.load(TINY)


def check_sentence(source: str, text: str, sentence: SentenceTranslation) -> None:
    """Every source word is covered once; the words are those of the phrases; points of the alignment lie inside."""
    words = split_blank(source)
    assert sorted(n for phrase in sentence.phrases for n in range(phrase.start, phrase.stop)) == list(range(len(words)))
    assert split_blank(text) == sentence.words
    for place, target in sentence.alignment:
        assert 0 <= place < len(words)
        assert 0 <= target < len(sentence.words)


def check(decoder: Decoder, documents: list[list[str]], **settings: Any) -> list[list[str]]:
    """Decode and check all that comes out; returns the texts."""
    decoded = decoder.decode(documents, **({"chains": 4, "threads": 1, "recombine": "best-unit"} | settings))
    assert [len(texts) for texts in decoded.texts] == [len(document) for document in documents]
    for document, texts, found in zip(documents, decoded.texts, decoded.result.documents, strict=True):
        for source, text, sentence in zip(document, texts, found.best.sentences, strict=True):
            check_sentence(source, text, sentence)
        assert found.best.score == pytest.approx(sum(sentence.score for sentence in found.best.sentences))
        if "target_score" in settings and settings["target_score"] is not None:  # the document is searched whole
            assert found.best.score == pytest.approx(found.chain_scores.max(), abs=0.01)
        assert found.best.score >= found.chain_scores.max() - 0.01
    return decoded.texts


@pytest.mark.complaint(8)
@pytest.mark.parametrize(("method", "target_score"), [("search", None), ("search", 0.0), ("beam", None)])
def test_empty_documents_and_segments(decoder: Decoder, method: str, target_score: float | None) -> None:
    """Between others and alone, searched by sentences and by documents: nothing in, nothing out, nothing scored."""
    mixed = [["", "la maison", ""], [], [""], ["", " ", "\t"], ["le chien dort ."]]
    for documents in (mixed, [[]], [[""]], [["", ""], []], []):
        texts = check(decoder, documents, method=method, target_score=target_score)
        assert texts == [[{"la maison": "the house", "le chien dort .": "the dog sleeps ."}.get(s.strip(), "")
                          for s in document] for document in documents]  # fmt: skip
    empty = decoder.decode([[""]], chains=2, target_score=target_score).result.documents[0]
    assert empty.best.score == 0 and not empty.chain_scores.any()


@pytest.mark.parametrize("whole", [{"target_score": 0.0}, {"compat": "docent", "option_draw": "uniform"}])
def test_an_empty_segment_is_worth_nothing(decoder: Decoder, whole: dict[str, object]) -> None:
    """Whether sentences are searched or documents: in what chains and their traces say, in a score that is enough, and
    in what is reported."""
    document, filled = ["", "la maison bleue", "", "une maison", ""], ["la maison bleue", "une maison"]
    for settings in ({}, whole):
        found = decoder.decode([document, filled], chains=2, steps=2000, trace=True, **settings).result.documents
        empty = [sentence for sentence in found[0].best.sentences if not sentence.phrases]
        assert len(empty) == 3 and not any(sentence.features.any() for sentence in empty)
        expected = [found[1].best.score] * 2
        assert found[0].chain_scores == pytest.approx(expected, abs=1e-4)
        assert found[1].chain_scores == pytest.approx(expected, abs=1e-4)
        assert found[0].best.score == pytest.approx(expected[0], abs=1e-4)
        assert found[0].trace[2000] == pytest.approx(expected, abs=1e-4)
    enough = decoder.decode([document], chains=2, steps=2000, target_score=expected[0] - 0.001).result.documents[0]
    assert (enough.steps < 2000).all()


def test_one_word(decoder: Decoder) -> None:
    assert check(decoder, [["maison"], ["bleue", "."]]) == [["house"], ["blue", "."]]


@pytest.mark.complaint(5)
@pytest.mark.parametrize("method", ["search", "beam"])
def test_unknown_words_only(decoder: Decoder, method: str) -> None:
    """They are copied; each counts as -1 in its own feature, and as the <unk> of the language model."""
    documents = [["hi"], ["hi there", "你好 hi"]]
    assert check(decoder, documents, method=method) == documents
    found = decoder.decode(documents, chains=2, method=method).result.documents
    unknown = decoder.model.features.index("UnknownWord")
    assert [[s.features[unknown] for s in document.best.sentences] for document in found] == [[-1], [-2, -2]]


@pytest.mark.complaint(6)
@pytest.mark.parametrize("method", ["search", "beam"])
def test_any_token_is_a_word(decoder: Decoder, method: str) -> None:
    """Brackets, bars, entities and marks of other tools neither stop the decoder nor mean anything."""
    odd = "[] ((( [X] a|b|c|d|e ||| |0-1| <s> </s> <unk> &#124; <a b='c'> \u00a0 \u2028 \x01 {} _ \\"
    assert check(decoder, [[odd, "la maison"]], method=method) == [[odd, "the house"]]
    for token in odd.split(" "):
        assert check(decoder, [[f"{token} maison {token}"]], chains=1, method=method) == [[f"{token} house {token}"]]


def test_words_without_translation_of_their_own(decoder: Decoder) -> None:
    """`ne` is deleted; a sentence of nothing else has an empty translation, which is a translation."""
    assert check(decoder, [["ne", "ne ne", "le chien ne dort pas ."]]) == [["", "", "the dog does not sleep ."]]
    found = decoder.decode([["ne ne"]], chains=2).result.documents[0].best.sentences[0]
    assert found.words == [] and len(found.phrases) == 2
    features = decoder.model.features
    assert found.features[features.index("LM0")] == pytest.approx(-1.6 * np.log(10), abs=1e-5)  # </s> behind <s>
    assert found.features[features.index("WordPenalty")] == 0
    assert found.features[features.index("PhrasePenalty")] == 2


def drawn(seed: int, words: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, words).tolist())


def test_a_sentence_of_500_words(decoder: Decoder) -> None:
    """By itself, and inside of a document that is searched whole."""
    check(decoder, [[drawn(1, 500)]], steps=5000)
    check(decoder, [["la maison", drawn(2, 500), ""]], steps=5000, target_score=0.0)


def test_a_document_of_3000_sentences(decoder: Decoder, repetitions: Callable[[int], int]) -> None:
    """Of 0 to 12 words, searched by sentences and as a whole."""
    document = [drawn(n, n % 13) for n in range(3000)]
    settings = {"steps_per_word": repetitions(10), "chains": 2}
    by_sentence = check(decoder, [document], **settings)
    whole = check(decoder, [document], target_score=0.0, **settings)
    assert by_sentence != whole
