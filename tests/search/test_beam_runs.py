"""`method = "beam"` and `initial = "beam"` in a whole run: interrupts, memory, features that the beam cannot hold."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import numpy as np
import pytest

import gpusearch
from gpusearch.config import BeamConfig
from gpusearch.errors import InputError
from gpusearch.model.model import Model
from gpusearch.search.beam import BeamDecoder
from tests.parity_model import newstest_documents
from tests.random_language import random_language
from tests.random_problem import random_problem
from tests.search.runs import outcome, search
from tests.tiny import TINY

DOCUMENTS = [["la maison bleue .", "", "le petit chien ne dort pas dans la maison ."], ["xyz dort"], [""]]
TEXTS = [["the blue house .", "", "the little dog does not sleep in the house ."], ["xyz sleeps"], [""]]


def test_beam_by_itself() -> None:
    """It makes no step; its scores are those of all features; only what shapes the result is in the signature."""
    decoder = gpusearch.load(TINY)
    decoded = decoder.decode(DOCUMENTS, method="beam", threads=2, chains=64)
    assert decoded.texts == TEXTS
    assert all(document.steps.sum() == 0 for document in decoded.result.documents)
    assert [len(document.chain_scores) for document in decoded.result.documents] == [1, 1, 1]
    assert decoded.score == pytest.approx(sum(d.chain_scores[0] for d in decoded.result.documents), abs=1e-4)
    assert "|method:beam|distortion_limit:6|beam.stack_size:200|beam.beam_threshold:1e-05|beam.pop_limit:0|" in (
        decoded.signature
    )
    for word in ("chains", "seed", "steps", "option"):
        assert word not in decoded.signature


def test_settings_of_the_beam_are_those_of_the_call() -> None:
    decoder = gpusearch.load(TINY)
    decoded = decoder.decode(DOCUMENTS, method="beam", beam={"stack_size": 7, "pop_limit": 3})
    assert "beam.stack_size:7" in decoded.signature and "beam.pop_limit:3" in decoded.signature
    with pytest.raises(InputError, match="stack_sise"):
        decoder.decode(DOCUMENTS, method="beam", beam={"stack_sise": 7})


def test_whole_documents_as_units_start_from_the_same_beam(newstest_model: Model, parity: Path) -> None:
    """The beam is of sentences, whatever the search's unit is."""
    documents = newstest_documents(parity)[:2]
    as_sentences = search(newstest_model, documents, initial="beam", steps=0)
    as_documents = search(newstest_model, documents, initial="beam", steps=0, more={"units": "document"})
    for one, other in zip(as_sentences.documents, as_documents.documents, strict=True):
        assert one.chains == other.chains


def test_no_limit_and_no_first_jump(newstest_model: Model, parity: Path) -> None:
    """Without a distortion limit there is more to choose from; a first jump that is not counted is free."""
    documents = newstest_documents(parity)[:1]
    limited = search(newstest_model, documents, method="beam")
    free = search(newstest_model, documents, method="beam", distortion_limit=-1, beam={"stack_size": 1000})
    assert free.documents[0].best.score >= limited.documents[0].best.score
    monotone = search(newstest_model, documents, method="beam", distortion_limit=0)
    assert monotone.documents[0].best.score <= limited.documents[0].best.score
    for sentence in monotone.documents[0].best.sentences:
        starts = [phrase.start for phrase in sentence.phrases]
        assert starts == sorted(starts)


@pytest.mark.parametrize("calls", [0, 2])
def test_an_interrupt_leaves_a_complete_translation(
    newstest_model: Model, parity: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """What the beam has not come to is translated in source order."""
    monkeypatch.setattr("gpusearch.search.beam.TICK", 0.0)
    monkeypatch.setattr("gpusearch.search.beam.SHARE", 1)
    documents = newstest_documents(parity)[:2]
    left = calls

    def status(done: int, text: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt

    for settings in ({"method": "beam"}, {"initial": "beam"}):
        left = calls
        found = search(newstest_model, documents, more={"status": status}, **settings)
        assert found.interrupted and not found.complete
        for document, result in zip(documents, found.documents, strict=True):
            for words, sentence in zip(document, result.best.sentences, strict=True):
                covered = sorted(word for phrase in sentence.phrases for word in range(phrase.start, phrase.stop))
                assert covered == list(range(len(words)))


def test_a_time_limit_ends_the_beam(newstest_model: Model, parity: Path) -> None:
    before = time.monotonic()
    found = search(newstest_model, newstest_documents(parity), method="beam", time_limit=0.3, beam={"stack_size": 5000})
    assert not found.complete and not found.interrupted
    assert time.monotonic() - before < 60


def test_threads_change_nothing(newstest_model: Model, parity: Path) -> None:
    documents = newstest_documents(parity)[:3]
    one = search(newstest_model, documents, method="beam", threads=1)
    assert outcome(search(newstest_model, documents, method="beam", threads=3)) == outcome(one)


def test_stacks_too_large_for_the_memory() -> None:
    """An error that says what to change, before anything is allocated."""
    problem, search_numbers, _ = random_problem(1, random_language(1), sentences=(30,))
    with pytest.raises(InputError, match="the stacks of the beam do not fit the memory") as error:
        BeamDecoder(problem, search_numbers, BeamConfig(stack_size=1_000_000), threads=1, free=1 << 28)
    assert "beam.stack_size" in str(error.value)


def test_a_language_model_on_the_host_is_left_out_and_named(caplog: pytest.LogCaptureFixture) -> None:
    """The beam goes without it; its score is that of all features all the same."""
    pytest.importorskip("kenlm")
    decoder = gpusearch.load(TINY, ["language_model.LM0.backend=kenlm"])
    usual = gpusearch.load(TINY)
    with decoder.model:
        with caplog.at_level(logging.WARNING):
            decoded = decoder.decode(DOCUMENTS, method="beam", threads=1)
        assert "LM0 is left out of the beam" in caplog.text
        assert decoded.score == pytest.approx(sum(d.chain_scores[0] for d in decoded.result.documents), abs=1e-4)
        assert decoded.score <= usual.decode(DOCUMENTS, method="beam", threads=1).score + 1e-9
        searched = decoder.decode(DOCUMENTS, initial="beam", threads=1, chains=8)
    for refined, beam in zip(searched.result.documents, decoded.result.documents, strict=True):
        scores = [[s.score for s in found.best.sentences] for found in (refined, beam)]
        assert (np.array(scores[0]) >= np.array(scores[1]) - 1e-9).all()
