"""A search that is broken off: what it leaves is complete, and goes on as if nothing had happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusearch.config import Config, SearchConfig
from gpusearch.model.model import Model
from gpusearch.search import run
from gpusearch.search.driver import CpuDriver
from gpusearch.search.saved import load, save
from tests.parity_model import newstest_documents
from tests.search.runs import Documents, outcome, search


@pytest.fixture(scope="module")
def documents(parity: Path) -> Documents:
    """Three documents, one of them without words."""
    whole = newstest_documents(parity)
    return [whole[0], [[]], [[], *whole[4], []]]


class Interrupt:
    """A `status` that is a Ctrl-C when it is called for the n-th time; ticks come without delay."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
        self.left = calls
        monkeypatch.setattr("gpusearch.search.driver.TICK", 0.0)

    def __call__(self, done: int, text: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def check_complete(documents: Documents, result: run.SearchResult) -> None:
    for document, found in zip(documents, result.documents, strict=True):
        for words, sentence in zip(document, found.best.sentences, strict=True):
            covered = sorted(word for phrase in sentence.phrases for word in range(phrase.start, phrase.stop))
            assert covered == list(range(len(words)))
        assert found.best.score >= found.chain_scores.max() - 0.01


@pytest.mark.parametrize("calls", [0, 3, 11])
@pytest.mark.parametrize("batch_words", [1, 40_000])
def test_what_is_left_goes_on_as_the_unbroken_search(
    newstest_model: Model,
    documents: Documents,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    calls: int,
    batch_words: int,
) -> None:
    """Chains that had begun go on from their step, the others, of later documents too, begin as they would have."""
    monkeypatch.setattr(run, "BATCH_WORDS", batch_words)
    settings: dict[str, Any] = {"steps": 3000, "max_lanes": 4}
    unbroken = search(newstest_model, documents, **settings)
    with monkeypatch.context() as patches:
        status = Interrupt(patches, calls)
        broken = search(newstest_model, documents, more={"status": status}, **settings)
    assert broken.interrupted and not broken.complete
    check_complete(documents, broken)
    spent = [found.steps.sum() for found in broken.documents]
    assert sum(spent) < sum(found.steps.sum() for found in unbroken.documents)
    save(tmp_path / "state", [None] * 3, broken.documents)
    again = {"initial": "saved", "initial_file": tmp_path / "state"}
    given = load(tmp_path / "state", documents, chains=3)
    rest = search(newstest_model, documents, more={"given": given}, **again, **settings)
    assert rest.complete and not rest.interrupted
    assert outcome(rest) == outcome(unbroken)


def test_nothing_of_a_saved_state_is_lost(
    newstest_model: Model, documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted at once when it goes on, it is what it was: no chain takes the place of another."""
    begun = search(newstest_model, documents, steps=500)
    save(tmp_path / "state", [None] * 3, begun.documents)
    again: dict[str, Any] = {"initial": "saved", "initial_file": tmp_path / "state", "steps": 9999, "max_lanes": 1}
    monkeypatch.setattr(CpuDriver, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    given = load(tmp_path / "state", documents, chains=3)
    found = search(newstest_model, documents, more={"given": given}, **again)
    assert found.interrupted
    assert outcome(found) == outcome(begun)


def test_without_saving_one_first_translation_stands_for_all(
    newstest_model: Model, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is quick where there are many chains; the translation is complete all the same."""
    monkeypatch.setattr(CpuDriver, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    config = Config.model_construct(search=SearchConfig(chains=5, threads=1, device="cpu", max_lanes=2))
    found = run.search_documents(newstest_model, config, documents)
    assert found.interrupted
    check_complete(documents, found)
    assert not any(document.steps.any() for document in found.documents)
    different = [len(set(document.chain_scores)) for document in found.documents]
    assert different == [1, 1, 2], "of the longest sentence two chains had begun"


def test_a_trace_has_the_steps_that_all_chains_have_come_to(
    newstest_model: Model, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no score of a step that none has made."""
    whole = search(newstest_model, documents, steps=4000, more={"trace": True})
    status = Interrupt(monkeypatch, 6)
    broken = search(newstest_model, documents, steps=4000, more={"trace": True, "status": status})
    for part, full in zip(broken.documents, whole.documents, strict=True):
        assert list(part.trace) == list(full.trace)[: len(part.trace)]
        for step, scores in part.trace.items():
            assert np.array_equal(scores, full.trace[step])
    assert 0 < len(broken.documents[0].trace) < len(whole.documents[0].trace)
