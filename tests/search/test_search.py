"""A whole search: what must not change its result, what its limits are, and that its figures are right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusearch.config import SearchConfig
from gpusearch.kernels.records import GIVEN_UP
from gpusearch.model.model import Model
from gpusearch.model.problem import build_problem
from gpusearch.search import device, run
from gpusearch.search.chains import run_chains
from gpusearch.search.initial import RandomStart
from gpusearch.search.limits import make_limits
from tests.parity_model import newstest_documents
from tests.search.runs import Documents, chains_of, outcome, search

MIX = dict.fromkeys(("change", "swap", "resegment", "permute", "linearise", "move", "insertion", "split_and_swap"), 1.0)


@pytest.fixture(scope="module")
def documents(parity: Path) -> Documents:
    """Four small documents: 175 to 277 words, and one of which every second sentence is empty."""
    whole = newstest_documents(parity)
    broken: list[list[str]] = [sentence if n % 2 else [] for n, sentence in enumerate(whole[8])]
    return [whole[0], whole[3], whole[4], broken]


@pytest.fixture(scope="module")
def usual(newstest_model: Model, documents: Documents) -> list[Any]:
    return outcome(search(newstest_model, documents))


@pytest.mark.parametrize("settings", [{"threads": 2}, {"threads": 4}, {"max_lanes": 1}, {"max_lanes": 7}])
def test_threads_and_lanes_do_not_change_the_result(
    newstest_model: Model, documents: Documents, usual: list[Any], settings: dict[str, int]
) -> None:
    """Neither more threads nor fewer lanes than there are chains on units."""
    assert outcome(search(newstest_model, documents, **settings)) == usual


@pytest.mark.parametrize("words", [1, 400])
def test_batches_of_documents_do_not_change_the_result(
    newstest_model: Model, documents: Documents, usual: list[Any], words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each document by itself, and two at a time."""
    monkeypatch.setattr(run, "BATCH_WORDS", words)
    assert outcome(search(newstest_model, documents)) == usual


def test_the_number_of_chains_does_not_change_a_chain(
    newstest_model: Model, documents: Documents, usual: list[Any]
) -> None:
    more = search(newstest_model, documents, chains=5)
    for document, (chains, *_) in zip(more.documents, usual, strict=True):
        assert chains_of(document)[:3] == chains
        assert chains_of(document)[3] not in chains


def test_documents_with_ids_are_known_by_them_alone(newstest_model: Model, documents: Documents) -> None:
    """In any order and company; another id is other randomness, and so is no id."""
    named = search(newstest_model, documents[:3], ["a", "b", "c"]).documents
    turned = search(newstest_model, [documents[2], documents[0]], ["c", "a"]).documents
    assert chains_of(turned[0]) == chains_of(named[2])
    assert chains_of(turned[1]) == chains_of(named[0])
    renamed = search(newstest_model, documents[:1], ["z"]).documents
    assert chains_of(renamed[0]) != chains_of(named[0])


def test_documents_without_ids_are_known_by_their_words(
    newstest_model: Model, documents: Documents, usual: list[Any]
) -> None:
    """And by the count of equal ones before them: the same text twice is searched in two ways."""
    alone = search(newstest_model, documents[1:2]).documents
    assert chains_of(alone[0]) == usual[1][0]
    twice = search(newstest_model, [documents[1], documents[0], documents[1]]).documents
    assert chains_of(twice[0]) == usual[1][0]
    assert chains_of(twice[2]) != usual[1][0]


def test_another_seed_is_another_search(newstest_model: Model, documents: Documents, usual: list[Any]) -> None:
    assert outcome(search(newstest_model, documents, seed=2)) != usual


@pytest.mark.parametrize("units", ["sentence", "document"])
def test_steps_are_shared_out(newstest_model: Model, documents: Documents, units: str) -> None:
    """A document's steps go to its sentences in proportion to their words, rounded up; or all to the document."""
    result = search(newstest_model, documents, steps=1000, more={"units": units})
    for document, found in zip(documents, result.documents, strict=True):
        sizes = [len(sentence) for sentence in document if sentence]
        shares = [math.ceil(1000 * size / sum(sizes)) for size in sizes] if units == "sentence" else [1000]
        assert found.steps.tolist() == [shares] * 3


def test_steps_a_word(newstest_model: Model, documents: Documents) -> None:
    """Where no number of steps is set, each source word brings so many, rounded up for each unit."""
    result = search(newstest_model, documents, steps_per_word=2.3)
    for document, found in zip(documents, result.documents, strict=True):
        assert found.steps.tolist() == [[math.ceil(2.3 * len(s)) for s in document if s]] * 3


@pytest.mark.parametrize("units", ["sentence", "document"])
def test_rejections_are_shared_out(newstest_model: Model, documents: Documents, units: str) -> None:
    """A chain stops on a unit as soon as its share of the rejection limit is full, and not before."""
    result = search(newstest_model, documents, steps=1 << 40, max_rejected=600, more={"units": units})
    for document, found in zip(documents, result.documents, strict=True):
        sizes = [len(sentence) for sentence in document if sentence]
        shares = [math.ceil(600 * size / sum(sizes)) for size in sizes] if units == "sentence" else [600]
        assert found.rejected.tolist() == [shares] * 3
        assert (found.steps >= found.rejected).all()


def test_a_score_that_is_enough(newstest_model: Model, documents: Documents) -> None:
    """A chain stops at the first step that reaches it; it is one of the document, which is then searched whole."""
    whole = search(newstest_model, documents[:1], more={"units": "document", "trace": True})
    goal = float(np.median(whole.documents[0].chain_scores))
    found = search(newstest_model, documents[:1], target_score=goal, more={"trace": True}).documents[0]
    assert found.steps.shape == (3, 1)
    for chain, steps in enumerate(found.steps[:, 0].tolist()):
        if found.chain_scores[chain] >= goal:
            before = search(newstest_model, documents[:1], steps=steps - 1, more={"units": "document"}).documents[0]
            assert before.chain_scores[chain] < goal
        else:
            assert steps == whole.documents[0].steps[chain, 0]
    assert (found.chain_scores >= goal).sum() >= 2


def test_no_steps_are_the_first_translations(newstest_model: Model, documents: Documents) -> None:
    """Monotone, and of no steps; they differ between chains."""
    found = search(newstest_model, documents, steps=0).documents
    for document in found:
        assert not document.steps.any()
        for chain in document.chains:
            for phrases in chain:
                stops = [0, *(stop for _, stop, _ in phrases)]
                assert [start for start, _, _ in phrases] == stops[:-1]
    assert found[0].chains[0] != found[0].chains[1]


def test_a_time_limit_leaves_a_complete_translation(newstest_model: Model, documents: Documents) -> None:
    """Of every document, those included that no chain has come to."""
    for limit in (1e-9, 0.3):
        result = search(newstest_model, documents, steps=1 << 40, time_limit=limit, max_lanes=2)
        assert not result.complete
        for document, found in zip(documents, result.documents, strict=True):
            for source, sentence in zip(document, found.best.sentences, strict=True):
                covered = sorted(word for p in sentence.phrases for word in range(p.start, p.stop))
                assert covered == list(range(len(source)))


def test_a_time_limit_that_is_not_met_changes_nothing(
    newstest_model: Model, documents: Documents, usual: list[Any]
) -> None:
    result = search(newstest_model, documents, time_limit=3600)
    assert result.complete
    assert outcome(result) == usual


@pytest.mark.parametrize("units", ["sentence", "document"])
@pytest.mark.parametrize("compat", ["none", "docent"])
def test_after_a_run_all_sums_equal_a_recomputation(
    newstest_model: Model, documents: Documents, units: str, compat: str
) -> None:
    """Scores, features and LM states of every lane, computed from nothing, are those that the steps have left."""
    shares = MIX if compat == "none" else MIX | {"insertion": 0.0, "split_and_swap": 0.0}
    config = SearchConfig(chains=2, steps_per_word=30, threads=1, device="cpu", compat=compat, operations=shares)  # type: ignore[arg-type]  # pydantic makes the group of it
    batch = build_problem(newstest_model, documents, search=config, units=units)
    lanes = device.batch_lanes(batch, config, len(newstest_model.features.names))
    settings = run.search_settings(run.Config.model_construct(search=config), newstest_model, batch)
    driver = device.make_driver(batch.problem, settings, lanes, len(newstest_model.features.names), config)
    finals = run_chains(batch.problem, driver, make_limits(batch, config), RandomStart(), lambda *_: None, 2)
    assert finals.complete and (finals.rejected < GIVEN_UP).all()
    before = [np.array(field) for field in driver.state]
    driver.refresh(np.arange(lanes))
    for name, old, new in zip(driver.state._fields, before, driver.state, strict=True):
        assert np.array_equal(old, new), name
    driver.close()


def test_reported_scores_are_features_times_weights_and_the_integers(
    newstest_model: Model, documents: Documents
) -> None:
    """In float64 from the models' own numbers; the integer score lies within the bound that rounding allows.

    Each of a value's terms is off by 2^-21 at most, and each weight, too.
    """
    features = newstest_model.features
    result = search(newstest_model, documents, operations=MIX, recombine="best-chain")
    for found in result.documents:
        total = sum(sentence.score for sentence in found.best.sentences)
        assert found.best.score == pytest.approx(total, abs=1e-9)
        values = np.sum([sentence.features for sentence in found.best.sentences], axis=0)
        assert found.best.score == pytest.approx(float(values @ features.weights), abs=1e-9)
        terms = _terms(found.best.sentences)
        bound = 2.0**-21 * (np.abs(values).sum() + np.abs(features.weights).sum() * terms)
        assert abs(found.best.score - found.chain_scores.max()) <= bound
        assert bound < 0.05


def _terms(sentences: Sequence[Any]) -> int:
    """Most numbers that a feature's value is a sum of: words and sentence ends for the LM."""
    return sum(len(sentence.words) + 1 for sentence in sentences)


def test_scores_are_written_down_at_powers_of_two(newstest_model: Model, documents: Documents) -> None:
    """What a trace shows at a step is what a search of so many steps ends with; hill climbing never falls."""
    found = search(newstest_model, documents[:1], steps=1000, more={"trace": True}).documents[0]
    assert list(found.trace) == [0, *(1 << n for n in range(10)), 1000]
    for step in (0, 1, 64, 512, 1000):
        shorter = search(newstest_model, documents[:1], steps=step).documents[0]
        assert np.array_equal(found.trace[step], shorter.chain_scores)
    curve = np.array(list(found.trace.values()))
    assert (np.diff(curve, axis=0) >= 0).all()
    assert np.array_equal(curve[-1], found.chain_scores)
