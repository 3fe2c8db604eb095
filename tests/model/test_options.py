"""Translation options against a search through the tables in plain Python, on random small models."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.config import SearchConfig
from gpusearch.errors import InputError
from gpusearch.kernels.records import OPTION_WORDS
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch, build_problem
from tests.model.plain import SOURCE_WORDS, PlainModel, PlainTable, models, phrases

documents = st.lists(st.lists(phrases(SOURCE_WORDS, 0, 6), max_size=3), max_size=3)


def loaded(plain: PlainModel) -> Model:
    with TemporaryDirectory() as folder:
        return plain.load(Path(folder))


def check_options(plain: PlainModel, batch: Batch) -> None:
    """Every span of the batch has exactly the options of the oracle, in its order."""
    options, problem = batch.options, batch.problem
    features = options.model.features
    expected_count = 0
    for sentence, words in enumerate(options.sentences):
        for start in range(len(words)):
            for stop in range(start + 1, len(words) + 1):
                expected = plain.options(tuple(words[start:stop]))
                found = options.in_span(sentence, start, stop)
                assert [(options.origin(o)[0], tuple(options.target(o))) for o in found] == [
                    (table, target) for table, target, *_ in expected
                ]
                for option, (_, target, values, score, isolated) in zip(found, expected, strict=True):
                    assert problem.option_value[option].tolist() == values
                    assert problem.option_score[option, 0] == score
                    assert options.entries.score[options.entry[option]] == isolated
                    assert problem.option_place[option].tolist()[:2] == [start, stop - start]
                    assert problem.option_place[option, OPTION_WORDS] == len(target)
                    assert options.sentence(option) == sentence
                    assert options.span_of(option) == (start, stop)
                    assert options.source(option) == list(words[start:stop])
                    for number, lm in enumerate(options.model.language_models):
                        first = problem.option_place[option, 2]
                        stored = problem.target_word[number, first : first + len(target)]
                        assert stored.tolist() == lm.index(target).tolist()
                        bound = problem.word_bound[number, first : first + len(target)]
                        assert (lm.sign * bound >= lm.sign * np.array(_estimates(plain, number, target))).all()
                expected_count += len(found)
    assert len(options) == expected_count == len(problem.option_score)
    values = options.values(np.arange(len(options)))
    exact = values @ features.weights[: features.option_values]
    terms = np.abs(values).sum(axis=1) + np.abs(features.weights).sum() * len(features.names)
    assert (np.abs(exact - problem.option_score[:, 0] / 2**40) <= terms * 2.0**-21).all()


def _estimates(plain: PlainModel, number: int, target: tuple[str, ...]) -> list[int]:
    """Values of the words in one context that is possible: nothing before the phrase, none of it at all for <s>."""
    model = plain.language_models[number]
    return [model.value(target[:place], word) for place, word in enumerate(target)]


@given(models(), documents)
def test_options_are_those_of_a_search_through_the_tables(plain: PlainModel, texts: list) -> None:
    check_options(plain, build_problem(loaded(plain), texts))


@given(models(most_rows=5), documents)
def test_reported_bounds_sum_the_bounds_of_the_words(plain: PlainModel, texts: list) -> None:
    batch = build_problem(loaded(plain), texts)
    features = batch.options.model.features
    for option, (_, _, first, count) in enumerate(batch.problem.option_place.tolist()):
        total = 0
        for number, name in enumerate(features.language_models):
            words = batch.problem.word_bound[number, first : first + count].tolist()
            total += int(features.integer_weights[features.index(name)]) * sum(words)
        assert batch.problem.option_score[option, 1] == total


@given(models(), st.lists(phrases(SOURCE_WORDS, 1, 5), min_size=1, max_size=3), st.data())
def test_forced_phrases_are_options_beyond_the_limit(
    plain: PlainModel, sentences: list[tuple[str, ...]], data: st.DataObject
) -> None:
    """Any pair of the tables can be forced, is found with the best row of that pair, and changes no other span."""
    free = PlainModel([PlainTable(t.weights, 0, t.rows) for t in plain.tables], plain.language_models)
    derivations = {}
    for number, words in enumerate(sentences):
        start, phrases_of = 0, []
        while start < len(words):
            stop = data.draw(
                st.sampled_from([s for s in range(start + 1, len(words) + 1) if free.options(words[start:s])])
            )
            _, target, *_ = data.draw(st.sampled_from(free.options(words[start:stop])))
            phrases_of.append((start, stop, list(target)))
            start = stop
        derivations[0, number] = phrases_of
    batch = build_problem(loaded(plain), [sentences], forced=derivations)
    for number, words in enumerate(sentences):
        chosen = batch.options.find(number, derivations[0, number])
        for option, (start, stop, target) in zip(chosen, derivations[0, number], strict=True):
            best = next(o for o in free.options(words[start:stop]) if list(o[1]) == target)
            assert batch.problem.option_value[option].tolist() == best[2]
            assert batch.options.target(option) == target
        for start in range(len(words)):
            for stop in range(start + 1, len(words) + 1):
                wanted = [tuple(t) for a, b, t in derivations[0, number] if (a, b) == (start, stop)]
                usual = plain.options(words[start:stop])
                found = batch.options.in_span(number, start, stop)
                scores = batch.options.entries.score[batch.options.entry[found.start : found.stop]]
                assert (np.diff(scores) <= 0).all()
                # The usual options stay; what is added has the words that were asked for.
                rest = [(batch.options.origin(o)[0], tuple(batch.options.target(o))) for o in found]
                for table, target, *_ in usual:
                    rest.remove((table, target))
                assert all(target in wanted for _, target in rest)


SMALL = PlainModel(
    [
        PlainTable(
            [0.5],
            2,
            [
                (("a",), ("x",), [0.5]),
                (("a",), ("y",), [0.5]),
                (("a",), ("z",), [0.5]),
                (("a", "b"), (), [0.25]),
                (("a", "b"), ("x", "y"), [0.75]),
            ],
        )
    ],
    [],
)


def test_several_derivations_of_a_sentence_can_be_forced() -> None:
    rows = [(("a",), (target,), [0.5]) for target in ("x", "y", "z", "v", "w")]
    both = [PlainTable([0.5], 1, rows), PlainTable([0.5], 2, rows)]
    forced = [(0, 1, ["z"]), (0, 1, ["w"]), (0, 1, ["x"]), (0, 1, ["none of them"])]
    options = build_problem(loaded(PlainModel(both, [])), [[["a"]], [["a"]]], forced={(1, 0): forced}).options
    assert [options.target(o) for o in options.in_span(0, 0, 1)] == [["x"], ["x"], ["y"]]
    assert [(options.origin(o)[0], *options.target(o)) for o in options.in_span(1, 0, 1)] == [
        (0, "x"),
        (0, "z"),
        (0, "w"),
        (1, "x"),
        (1, "y"),
        (1, "z"),
        (1, "w"),
    ]


def test_equal_scores_stand_in_the_order_of_the_table() -> None:
    options = build_problem(loaded(SMALL), [[["a"]]]).options
    assert [options.target(o) for o in options.in_span(0, 0, 1)] == [["x"], ["y"]]


def test_a_word_is_copied_where_no_option_of_its_own_covers_it() -> None:
    batch = build_problem(loaded(SMALL), [[["a", "b"]]])
    options = batch.options
    (copied,) = options.in_span(0, 1, 2)
    assert options.target(copied) == ["b"]
    assert options.table_name(copied) is None
    assert options.alignment(copied) == [(0, 0)]
    assert options.values([copied]).tolist() == [[0.0, -1.0, 1.0, -1.0]]
    assert options.table_name(0) == "TranslationModel0"
    assert [options.target(o) for o in options.in_span(0, 0, 2)] == [["x", "y"], []]


@pytest.mark.complaint(6)
def test_any_token_is_a_word() -> None:
    """Tokens that ended other decoders, alone (all unknown) and amid known words, are copied through."""
    tokens = ["[X]", "a|b|c|d|e", "|||", "(((", "[]", "<a>", "\u00a0", "\u2028", "&#124;"]
    options = build_problem(loaded(SMALL), [[tokens, ["a", *tokens]]]).options
    assert [options.target(options.in_span(0, i, i + 1)[0]) for i in range(len(tokens))] == [[t] for t in tokens]


def test_a_derivation_that_is_none_names_its_sentence() -> None:
    options = build_problem(loaded(SMALL), [[["b"]], [[], ["a", "b"]]]).options
    assert options.find(2, [(0, 2, [])]) == [options.in_span(2, 0, 2)[1]]
    with pytest.raises(InputError, match=r"no translation option of document 2, sentence 2; found 'a' -> 'q'"):
        options.find(2, [(0, 1, ["q"]), (1, 2, ["b"])])
    with pytest.raises(InputError, match=r"document 2, sentence 2 do not cover each source word once"):
        options.find(2, [(0, 1, ["x"])])
    with pytest.raises(InputError, match=r"document 2, sentence 2 do not cover each source word once"):
        options.find(2, [(0, 2, []), (1, 2, ["b"])])
    assert options.find(1, []) == []


def test_the_content_hash_tells_options_apart_and_not_batches() -> None:
    wide = PlainModel([PlainTable([0.25], 0, SMALL.tables[0].rows)], [])
    first = build_problem(loaded(SMALL), [[["b", "a", "b"]]]).options
    second = build_problem(loaded(wide), [[["d"]], [["b", "a", "b"]]]).options
    hashes = {
        (second.span_of(o), tuple(second.target(o))): second.content_hash(o)
        for o in range(len(second))
        if second.sentence(o) == 1
    }
    assert len(set(hashes.values())) == len(hashes) == 7
    for option in range(len(first)):
        assert first.content_hash(option) == hashes[first.span_of(option), tuple(first.target(option))]


@given(models(most_rows=10), documents)
def test_a_document_has_the_same_options_alone_and_among_others(plain: PlainModel, texts: list) -> None:
    model = loaded(plain)
    together = build_problem(model, texts)
    for number, document in enumerate(texts):
        alone = build_problem(model, [document], search=SearchConfig())
        sentence = int(together.units.first_sentence[number])
        first = int(together.options.first_option[sentence])
        part = slice(first, first + len(alone.options))
        for name in ("option_score", "option_draw", "option_value"):
            here, there = getattr(alone.problem, name), getattr(together.problem, name)[part]
            np.testing.assert_array_equal(here, there)
        np.testing.assert_array_equal(alone.problem.option_open, together.problem.option_open[:, part])
        assert [alone.options.target(o) for o in range(len(alone.options))] == [
            together.options.target(first + o) for o in range(len(alone.options))
        ]
