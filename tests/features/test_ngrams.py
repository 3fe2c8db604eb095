"""Features of n-grams: integers that change with the search against values of whole translations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpusearch.features.automata import _automaton, _edges
from gpusearch.kernels import ngrams, reference
from gpusearch.kernels.commit import commit
from gpusearch.kernels.document import bound_of_document
from gpusearch.kernels.ngrams import NGrams, follow
from gpusearch.kernels.records import OPTION_WORDS
from gpusearch.kernels.target import exact
from tests.feature_forms import NGRAMS
from tests.features.translated import translations
from tests.kernels.test_step import steps_of
from tests.paths import Case
from tests.random_features import feature, of_few_words, random_material

UNIT = 1 << 20


@pytest.mark.parametrize("features", NGRAMS)
@pytest.mark.parametrize("units", ["document", "sentence"])
def test_values_in_the_search_are_those_of_the_translation(features: Sequence[str], units: str) -> None:
    """After each of many changes; rounded once (BLEU), once an n-gram (consensus), never (glossary)."""
    written = {name: feature(name) for name in features}
    met: dict[str, set[float]] = {name: set() for name in features}
    for seed in range(6):
        case = Case(50 + seed, sentences=(6, 0, 9, 1), units=units, features=tuple(features))
        material = of_few_words(random_material(replace(case, features=()).problem()[0]))
        most = {name: written[name].largest(material)[0] for name in features}
        for document, values in translations(case, 40):
            for name, value in zip(features, values, strict=True):
                (expected,) = written[name].values(document)
                assert abs(expected) <= most[name]
                rounded = sum(5 * len(sentence.words) for sentence in document) if name == "consensus" else 1
                assert abs(value / UNIT - expected) <= (rounded + 0.01) / UNIT / 2, (seed, name)
                met[name].add(value)
    assert all(len(values) > 2 for values in met.values()), met


@pytest.mark.parametrize("name", ["consensus", "bleu-oracle", "glossary"])
def test_a_proposal_costs_its_own_words_and_a_pattern_more(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """States looked up, in sentences of 60 words: behind the words that change no more than a pattern has."""
    followed = [0]

    def counted(*arguments: Any) -> Any:
        followed[0] += 1
        return follow(*arguments)

    monkeypatch.setattr(ngrams, "follow", counted)
    longest, most = {"glossary": 3}.get(name, 4), 0
    for step in steps_of(Case(61, sentences=(60, 60), features=(name,)), 150):
        problem, search, state, scratch = step.arguments
        if not reference.is_allowed(problem, search, step.phrases, step.proposal):
            continue
        where = step.sentence, step.proposal.first, step.proposal.replaced, len(step.proposal.options)
        new = sum(int(problem.option_place[option, OPTION_WORDS]) for option in step.proposal.options)
        followed[0] = 0
        bound_of_document(problem.document, problem, search, state, scratch, 0, *where)
        assert followed[0] <= new + longest
        most = max(most, followed[0] - new)
        commit(*step.arguments, 0, step.local, *where)
    assert most > 0


def test_automata_find_what_is_there() -> None:
    """Every pattern at every word of random texts, words that are in none among them."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        kinds = {f"w{k}": k for k in range(int(rng.integers(1, 5)))}
        words = [*kinds, "absent"]
        drawn = {tuple(rng.choice(words, int(rng.integers(1, 6))).tolist()) for _ in range(int(rng.integers(0, 12)))}
        patterns = sorted(drawn)
        edges, suffix, ends = _automaton(patterns, kinds)
        keys = [state * len(kinds) + code for state, following in enumerate(edges) for code in following]
        nexts = [reached for following in edges for reached in following.values()]
        automaton = exact(
            NGrams(
                np.array([0, 0, 0, len(kinds)], np.int64), np.zeros(0, np.int32), np.zeros(1, np.int32),
                np.array(suffix, np.int32), _edges(np.array(keys, np.int64), np.array(nexts, np.int64)),
            )
        )  # fmt: skip
        text, state = tuple(rng.choice(words, 80).tolist()), 0
        for place, word in enumerate(text):
            state = follow(automaton, 0, state, kinds.get(word, -1))
            found = [patterns[number] for number in ends[state]]
            here = [text[place + 1 - n : place + 1] for n in range(5, 0, -1) if n <= place + 1]
            assert found == [one for one in here if one in drawn and "absent" not in one]


def test_edges_of_many_states_are_all_found() -> None:
    keys = np.unique(np.random.default_rng(4).integers(0, 1 << 50, 5000))
    table = _edges(keys, np.arange(len(keys)))
    assert math.log2(len(table)).is_integer() and len(table) >= 2 * len(keys)
    automaton = NGrams(np.array([0, 0, 0, 1], np.int64), np.zeros(0), np.zeros(1), np.zeros(1), table)
    for number, key in enumerate(keys.tolist()):
        assert follow(exact(automaton), -1, key, 0) == number
