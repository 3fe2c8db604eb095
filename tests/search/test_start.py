"""First translations: given ones, those of a saved state, the best by themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusearch.config import load_config
from gpusearch.errors import InputError
from gpusearch.kernels.records import SENTENCE_WORDS
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import build_problem
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.initial import best_derivations
from gpusearch.search.saved import given_from_trace, load, save
from gpusearch.search.translation import describe
from tests.parity_model import NEWSTEST, newstest_documents, read_trace
from tests.search.runs import Documents, outcome, search
from tests.tiny import copy_tiny

Line = dict[str, Any]


@pytest.fixture(scope="module")
def documents(parity: Path) -> Documents:
    """Two small documents, one of them with empty segments."""
    whole = newstest_documents(parity)
    return [whole[0], [[], *whole[4], []]]


@pytest.fixture(scope="module")
def first_document(parity: Path) -> Documents:
    return newstest_documents(parity)[:1]


@pytest.fixture
def moses_trace(parity: Path, tmp_path: Path) -> Path:
    """Moses' best translations of the first document."""
    lines = (parity / NEWSTEST / "moses.nolr.trace.txt").read_text(encoding="utf-8").split("\n")
    path = tmp_path / "moses.trace"
    path.write_text("\n".join(lines[:8]) + "\n", encoding="utf-8")
    return path


def test_a_translation_of_moses(newstest_model: Model, first_document: Documents, moses_trace: Path) -> None:
    """Every chain starts from it; what is better than it is found, and nothing worse is kept."""
    given = given_from_trace(moses_trace, first_document)
    settings = {"initial": "file", "initial_file": moses_trace}
    begun = search(newstest_model, first_document, steps=0, more={"given": given}, **settings).documents[0]
    assert begun.best.score == pytest.approx(-118.957, abs=2e-3)
    assert len(set(begun.chain_scores)) == 1
    trace = read_trace(moses_trace)
    assert all(chain == trace for chain in begun.chains)
    ended = search(newstest_model, first_document, chains=8, more={"given": given}, **settings).documents[0]
    assert (ended.chain_scores >= begun.chain_scores[0]).all()


def test_phrases_beyond_the_table_limit_may_be_given(
    newstest_model: Model, first_document: Documents, moses_trace: Path
) -> None:
    """A given phrase pair is an option, whatever the limit; one that no table has is an error with its place."""
    tables = tuple(replace(table, limit=1) for table in newstest_model.tables)
    narrow = replace(newstest_model, tables=tables)
    given = given_from_trace(moses_trace, first_document)
    settings = {"initial": "file", "initial_file": moses_trace, "steps": 0}
    found = search(narrow, first_document, more={"given": given}, **settings).documents[0]
    assert found.best.score == pytest.approx(-118.957, abs=2e-3)
    lines = moses_trace.read_text(encoding="utf-8").replace("tymosenko", "timochenko", 1)
    moses_trace.write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match="timochenko"):
        search(narrow, first_document, more={"given": given_from_trace(moses_trace, first_document)}, **settings)


def test_a_translation_with_another_number_of_sentences(
    first_document: Documents, documents: Documents, moses_trace: Path
) -> None:
    """Empty segments have no line."""
    assert len(given_from_trace(moses_trace, [[[], *first_document[0], []]]).chains[0][0]) == 10
    with pytest.raises(InputError, match=r"moses.trace: .* found 8 lines; expected 19, one for each sentence"):
        given_from_trace(moses_trace, documents)


@pytest.mark.parametrize(
    ("shared_out", "compat", "rejected"), [(True, "none", 900), (False, "none", 500), (False, "docent", 100)]
)
def test_a_saved_state_goes_on_as_the_unbroken_run(
    newstest_model: Model, documents: Documents, tmp_path: Path, shared_out: bool, compat: str, rejected: int
) -> None:
    """Stopped after a third of its steps and again after two thirds: every chain as if nothing had happened."""
    more = {"units": None if shared_out else "document"}
    settings = {"compat": compat, "max_rejected": rejected}
    unbroken = search(newstest_model, documents, ["a", "b"], steps=3000, more=more, **settings)
    result = search(newstest_model, documents, ["a", "b"], steps=1000, more=more, **settings)
    for steps in (2000, 3000):
        path = tmp_path / f"{steps}.jsonl.gz"
        save(path, ["a", "b"], result.documents)
        given = load(path, documents, chains=3)
        again = {"initial": "saved", "initial_file": path}
        result = search(
            newstest_model, documents, ["a", "b"], steps=steps, more=more | {"given": given}, **again, **settings
        )
    assert outcome(result) == outcome(unbroken)
    spent = np.concatenate([found.steps.sum(axis=1) for found in unbroken.documents])
    assert len(set(spent.tolist())) > 1, "the rejection limit must have stopped some chains"


def test_a_saved_state_tells_options_of_the_same_words_apart(tmp_path: Path) -> None:
    """Two tables, one of which repeats a pair: what a chain has is an option, not its words."""
    copy_tiny(tmp_path)
    table = (tmp_path / "phrase-table").read_text(encoding="utf-8")
    repeated = "".join(f"maison ||| house ||| 0.{n} 0.6 0.6 0.6 ||| 0-0\n" for n in range(1, 7))
    (tmp_path / "other").write_text(table + repeated, encoding="utf-8")
    text = (tmp_path / "model.toml").read_text(encoding="utf-8")
    second = '[[phrase_table]]\npath = "other"\nweights = [0.1, 0.1, 0.2, 0.1]\ncache = false\n'
    (tmp_path / "model.toml").write_text(f"{second}\n{text}", encoding="utf-8")
    model = load_model(load_config(tmp_path / "model.toml"))
    documents = [[["la", "maison", "dans", "la", "maison", "bleue", "."]]]
    unbroken = search(model, documents, chains=8, steps=40)
    begun = search(model, documents, chains=8, steps=4)
    save(tmp_path / "state", [None], begun.documents)
    assert max(place for chain in begun.documents[0].places for places in chain for place in places) > 0
    given = load(tmp_path / "state", documents, chains=8)
    again = {"initial": "saved", "initial_file": tmp_path / "state"}
    assert outcome(search(model, documents, chains=8, steps=4, more={"given": given}, **again)) == outcome(begun)
    assert outcome(search(model, documents, chains=8, steps=40, more={"given": given}, **again)) == outcome(unbroken)


@pytest.fixture
def saved(newstest_model: Model, documents: Documents, tmp_path: Path) -> tuple[Path, list[Line]]:
    path = tmp_path / "state.jsonl"
    save(path, ["a", None], search(newstest_model, documents, ["a", None], steps=50).documents)
    return path, [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.pop(), r"state.jsonl: a saved state of other documents; found 1 documents; expected 2"),
        (lambda rows: rows.append(rows[1]), r"state.jsonl: a saved state of other documents; found 3 documents; expec"),
        (lambda rows: rows.reverse(), r"state.jsonl:1: a saved state of another document; found 13.*expected 8"),
        (
            lambda rows: [rows[1][key].pop() for key in ("chains", "steps", "rejected")],
            r"state.jsonl:2: .*another number of chains; found 2; .*--chains 2",
        ),
        (lambda rows: rows[0].update(version=9), r"state.jsonl:1: a saved state of another version; found 9; expec"),
        (lambda rows: rows[0].pop("steps"), r"state.jsonl:1: no saved state"),
        (lambda rows: rows[0].update(chains=7), r"state.jsonl:1: no saved state"),
        (lambda rows: rows[0].update(steps="many"), r"state.jsonl:1: no saved state"),
        (lambda rows: rows[1]["steps"].pop(), r"state.jsonl:2: no saved state"),
    ],
)
def test_saved_states_that_do_not_fit(
    saved: tuple[Path, list[Line]], documents: Documents, change: Any, message: str
) -> None:
    path, rows = saved
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load(path, documents, chains=3)


def test_a_state_saved_of_other_units_is_an_error(
    newstest_model: Model, saved: tuple[Path, list[Line]], documents: Documents
) -> None:
    """Saved by sentences, gone on with by documents: the counters have no meaning then."""
    path, _ = saved
    more = {"given": load(path, documents, chains=3), "units": "document"}
    with pytest.raises(InputError, match=r"made with other units; .* initial = "):
        search(newstest_model, documents, ["a", None], more=more, initial="saved", initial_file=path)


def test_best_options_in_the_order_of_the_source(newstest_model: Model, documents: Documents) -> None:
    """No monotone derivation has a higher sum of isolated scores; checked on all of short sentences."""
    found = search(newstest_model, documents, steps=0, initial="best").documents
    for document in found:
        for chain in document.chains:
            assert chain == document.chains[0]
            for phrases in chain:
                assert [start for start, *_ in phrases] == [0, *(stop for _, stop, _ in phrases)][: len(phrases)]
    short = [sentence[:5] for document in documents for sentence in document]
    batch = build_problem(newstest_model, [short])
    isolated = batch.options.entries.score[batch.options.entry]
    for sentence, derivation in enumerate(best_derivations(batch)):

        @cache
        def best(start: int, sentence: int = sentence) -> int:
            words = len(short[sentence])
            if start == words:
                return 0
            return max(
                int(isolated[option]) + best(stop)
                for stop in range(start + 1, min(words, start + batch.options.longest) + 1)
                for option in batch.options.in_span(sentence, start, stop)
            )

        assert sum(int(isolated[option]) for option in derivation) == best(0)
    assert describe(batch, [np.array(best_derivations(batch)[1], np.int32)], True)[0].score < 0


def test_best_options_with_a_reordering_model(tmp_path: Path) -> None:
    """The scores of monotone steps count, as the features of the whole have them; all derivations are looked at."""
    rows = ["maison ||| house ||| .1 .5 .4 .1 .5 .4", "maison bleue ||| blue house ||| .5 .2 .3 .01 .3 .6",
            "la ||| the ||| .05 .05 .9 .01 .4 .4", "la ||| her ||| .9 .05 .05 .9 .05 .05"]  # fmt: skip
    (tmp_path / "orders").write_text("\n".join(rows) + "\n")
    path = copy_tiny(tmp_path)
    group = '[[reordering_model]]\npath = "orders"\nweights = [1.0, 0.3, 0.3, 1.0, 0.3, 0.3]\ncache = false\n'
    path.write_text(path.read_text().replace("[weights]", f"{group}\n[weights]"))
    model = load_model(load_config(path))
    sentences = ["la maison bleue", "maison bleue", "la maison bleue .", "la maison"]
    batch = build_problem(model, [[sentence.split() for sentence in sentences]])
    isolated = batch.options.entries.score[batch.options.entry]
    place = slice(*model.features.groups["LexicalReordering0"])

    def worth(options: list[int]) -> float:
        features = describe(batch, [np.array(options, np.int32)], True)[0].features
        orders = float(features[place] @ model.features.weights[place])
        return float(isolated[options].sum()) / SCORE_UNITS + orders

    said = []
    for sentence, derivation in enumerate(best_derivations(batch)):
        words = int(batch.problem.sentence[sentence, SENTENCE_WORDS])
        every = [
            [*options]
            for cuts in range(words)
            for borders in combinations(range(1, words), cuts)
            for options in product(*(batch.options.in_span(sentence, *s) for s in pairwise((0, *borders, words))))
        ]
        assert worth(derivation) == pytest.approx(max(map(worth, every)), abs=1e-5)
        said.append(" ".join(word for option in derivation for word in batch.options.target(option)))
    # A monotone step to "the" and one behind it are worth ln .05 and ln .01, with "her" ln .9 each.
    assert all(text.startswith("her ") == (text[0] != "b") for text in said)


def test_a_better_start_is_a_better_end_of_no_steps(newstest_model: Model, documents: Documents) -> None:
    """Best options score far higher than random ones."""
    by_best = search(newstest_model, documents, steps=0, initial="best").documents
    by_chance = search(newstest_model, documents, steps=0, chains=8).documents
    for best, chance in zip(by_best, by_chance, strict=True):
        assert best.chain_scores[0] > chance.chain_scores.max()
