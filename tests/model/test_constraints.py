"""Translations that the input gives or forbids, and what becomes of unknown words: the options of a problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpusearch
from gpusearch.config import SearchConfig
from gpusearch.errors import InputError
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.model.tableless import GIVEN, Constraint, UnknownWords
from gpusearch.model.weights import UNKNOWN_WORD
from gpusearch.search.initial import best_derivations
from tests.tiny import TINY

SOURCE = ["la", "maison", "bleue", "dort", "xyz"]


@pytest.fixture(scope="module")
def model() -> Model:
    return gpusearch.load(TINY).model


def options(batch: Batch, start: int, stop: int, sentence: int = 0) -> list[str]:
    return sorted(" ".join(batch.options.target(option)) for option in batch.options.in_span(sentence, start, stop))


def built(model: Model, *constraints: Constraint, source: Sequence[str] = SOURCE) -> Batch:
    return build_problem(model, [[source, source]], constraints={(0, 0): constraints})


def test_inclusive_translations_compete_with_those_of_the_table(model: Model) -> None:
    """In their place only: the same words elsewhere keep their options."""
    batch = built(model, Constraint(1, 2, ((("castle",), math.log(0.5)), (("big", "house"), 0.0))))
    assert options(batch, 1, 2) == ["big house", "castle", "home", "house"]
    assert options(batch, 1, 2, sentence=1) == ["home", "house"]
    assert options(batch, 1, 3) == ["blue house"]
    castle = next(o for o in batch.options.in_span(0, 1, 2) if batch.options.target(o) == ["castle"])
    assert batch.options.table_name(castle) is None and batch.options.origin(castle)[0] == GIVEN
    # ln p spread over the four columns of the first table, a word, a phrase, no unknown word.
    expected = [math.log(0.5) / 4] * 4 + [-1, 1, 0]
    np.testing.assert_allclose(batch.options.values([castle])[0], expected, atol=1e-6)
    np.testing.assert_allclose(batch.problem.option_value[castle] / 2**20, expected, atol=1e-6)


def test_exclusive_translations_are_the_only_ones_of_their_words(model: Model) -> None:
    """No phrase that overlaps them is left, unknown words inside them are not copied."""
    batch = built(model, Constraint(1, 3, ((("castle",), 0.0),), exclusive=True))
    spans = {(a, b): options(batch, a, b) for a in range(5) for b in range(a + 1, 6) if options(batch, a, b)}
    assert spans == {(0, 1): ["her", "the"], (1, 3): ["castle"], (3, 4): ["sleeps"], (4, 5): ["xyz"]}
    batch = built(model, Constraint(3, 5, ((("a", "b", "c", "d"), 0.0),), exclusive=True))
    assert options(batch, 4, 5) == [] and options(batch, 3, 5) == ["a b c d"]
    derivation = best_derivations(batch)[0]
    assert [batch.options.span_of(option) for option in derivation][-1] == (3, 5)


def test_given_translations_of_an_unknown_word_take_the_place_of_its_copy(model: Model) -> None:
    batch = built(model, Constraint(4, 5, ((("name",), 0.0),)))
    assert options(batch, 4, 5) == ["name"]
    assert options(batch, 4, 5, sentence=1) == ["xyz"]


def test_forbidden_translations_are_no_options(model: Model) -> None:
    """Others within the table limit take their place; a word that is left without any is copied."""
    batch = built(model, Constraint(1, 2, forbidden=(("house",),)), Constraint(1, 3, forbidden=(("blue", "house"),)))
    assert options(batch, 1, 2) == ["home"] and options(batch, 1, 3) == []
    assert options(batch, 1, 2, sentence=1) == ["home", "house"]
    everything = Constraint(1, 2, forbidden=(("house",), ("home",)))
    batch = built(model, everything)
    assert options(batch, 1, 2) == ["maison"]
    copied = batch.options.in_span(0, 1, 2)[0]
    assert batch.options.values([copied])[0, batch.options.model.features.index(UNKNOWN_WORD)] == -1
    narrow = replace(model, tables=tuple(replace(table, limit=1) for table in model.tables))
    assert options(built(narrow), 1, 2) == ["house"]
    assert options(built(narrow, Constraint(1, 2, forbidden=(("house",),))), 1, 2) == ["home"]


def test_a_given_translation_may_be_longer_than_any_phrase_of_the_tables(model: Model) -> None:
    batch = built(model, Constraint(0, 5, ((("all",), 0.0),)))
    assert batch.options.longest == 5 and options(batch, 0, 5) == ["all"]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([Constraint(3, 6)], r"words that document 1, sentence 1 does not have; found 3-5; expected within 0-4"),
        ([Constraint(2, 2)], "does not have"),
        ([Constraint(0, 2, ((("a",), 0.0),), True), Constraint(1, 3)], r"that overlap; found 0-1 and 1-2"),
    ],
)
def test_constraints_that_mean_nothing(model: Model, constraints: list[Constraint], message: str) -> None:
    with pytest.raises(InputError, match=message):
        built(model, *constraints)


@pytest.mark.complaint(23)
def test_unknown_words_are_copied_marked_or_dropped(model: Model) -> None:
    """A word with a digit is never dropped; a dropped word has no words and no alignment, and still counts."""
    source = ["xyz", "x1", "dort"]

    def copies(unknown: UnknownWords) -> tuple[list[str], Batch]:
        batch = build_problem(replace(model, unknown=unknown), [[source]])
        return [" ".join(batch.options.target(batch.options.in_span(0, k, k + 1)[0])) for k in range(3)], batch

    assert copies(UnknownWords())[0] == ["xyz", "x1", "sleeps"]
    assert copies(UnknownWords(mark=True))[0] == ["UNKxyz", "UNKx1", "sleeps"]
    assert copies(UnknownWords(mark=True, prefix="<", suffix=">"))[0] == ["<xyz>", "<x1>", "sleeps"]
    texts, batch = copies(UnknownWords(drop=True))
    assert texts == ["", "x1", "sleeps"]
    assert batch.options.alignment(0) == []
    assert batch.options.values([0])[0, 4:].tolist() == [0, 1, -1]
    assert copies(UnknownWords(drop=True, mark=True))[0] == ["", "UNKx1", "sleeps"]


phrases = st.lists(st.sampled_from(["house", "q", "blue"]), max_size=2).map(tuple)


@st.composite
def constraint_lists(draw: st.DrawFn) -> list[Constraint]:
    borders = sorted(draw(st.sets(st.integers(0, 5), min_size=2, max_size=6)))
    found = []
    for start, stop in zip(borders[::2], borders[1::2], strict=False):
        given = tuple((words, -draw(st.integers(0, 100)) / 1) for words in draw(st.lists(phrases, max_size=2)))
        exclusive = bool(given) and draw(st.booleans())
        found.append(Constraint(start, stop, given, exclusive, tuple(draw(st.lists(phrases, max_size=2)))))
    return found


@given(constraints=constraint_lists(), seed=st.integers(0, 100))
def test_searches_keep_to_any_constraints(model: Model, constraints: list[Constraint], seed: int) -> None:
    """Chains from random and best starts, and the beam, say nothing forbidden, and all that is exclusive."""
    from gpusearch.config import load_config, with_search
    from gpusearch.search.run import search_documents

    batch = built(model, *constraints)
    assert len(best_derivations(batch)) == 2
    for settings in ({"initial": "random"}, {"initial": "best"}, {"method": "beam"}):
        settings |= {"chains": 2, "steps": 200, "seed": seed, "device": "cpu", "threads": 1}
        config = with_search(load_config(TINY), settings)
        result = search_documents(model, config, [[SOURCE]], constraints={(0, 0): constraints})
        found = {(phrase.start, phrase.stop): phrase.words for phrase in result.documents[0].best.sentences[0].phrases}
        assert sorted(k for a, b in found for k in range(a, b)) == list(range(5))
        for one in constraints:
            given_words = [words for words, _ in one.translations]
            words = found.get((one.start, one.stop))
            if one.exclusive:
                assert words in given_words
            elif words is not None and words in one.forbidden:
                assert words in given_words  # what is given is allowed


def test_no_constraints_change_nothing(model: Model) -> None:
    """An empty constraint leaves the options of its place as they are."""
    plain = build_problem(model, [[SOURCE]], search=SearchConfig())
    same = build_problem(model, [[SOURCE]], search=SearchConfig(), constraints={(0, 0): [Constraint(1, 3)]})
    for name in ("span", "option_place", "option_score", "option_draw", "option_value"):
        np.testing.assert_array_equal(getattr(plain.problem, name), getattr(same.problem, name), err_msg=name)
