"""The arrays of a problem: sentences, spans, units, room for the longest derivation, bounds of sums."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.config import SearchConfig
from gpusearch.errors import InputError
from gpusearch.kernels.records import (
    SENTENCE_LONGEST,
    SENTENCE_OPTION,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    SENTENCE_SOURCE,
    SENTENCE_SPAN,
    SENTENCE_WORDS,
    UNIT_FIRST_WORD,
    UNIT_PLACES,
    UNIT_WORDS,
)
from gpusearch.model.extents import largest_sums
from gpusearch.model.option_draw import draw_weights
from gpusearch.model.problem import Batch, build_problem, problem_bytes
from gpusearch.model.spans import find_spans
from tests.model.plain import SOURCE_WORDS, PlainModel, PlainTable, models, phrases
from tests.model.test_options import SMALL, documents, loaded

UNITS = ("sentence", "document")


def longest_translation(plain: PlainModel, words: tuple[str, ...]) -> int:
    """Target words of the longest derivation; its order does not matter."""
    if not words:
        return 0
    return max(
        max(len(target) for _, target, *_ in options) + longest_translation(plain, words[stop:])
        for stop in range(1, len(words) + 1)
        if (options := plain.options(words[:stop]))
    )


def derivations(batch: Batch, sentence: int) -> list[list[int]]:
    """All monotone derivations of a sentence: any other one is a permutation of one of them."""
    words = len(batch.options.sentences[sentence])
    ending: list[list[list[int]]] = [[[]]]
    for stop in range(1, words + 1):
        ending.append(
            [
                [*before, option]
                for start in range(stop)
                for option in batch.options.in_span(sentence, start, stop)
                for before in ending[start]
            ]
        )
    return ending[words]


@pytest.mark.parametrize("units", UNITS)
@given(plain=models(most_rows=8), texts=documents)
def test_sentences_stand_one_after_the_other_in_their_unit(
    units: str, plain: PlainModel, texts: list[list[tuple[str, ...]]]
) -> None:
    batch = build_problem(loaded(plain), texts, units=units)
    problem, made = batch.problem, batch.units
    sentences = [sentence for document in texts for sentence in document]
    assert problem.sentence[:, SENTENCE_WORDS].tolist() == [len(sentence) for sentence in sentences]
    longest = problem.sentence[:, SENTENCE_LONGEST].tolist()
    has = batch.options.in_span
    for number, words in enumerate(map(len, sentences)):
        spans = [(start, stop) for start in range(words) for stop in range(start + 1, words + 1)]
        lengths = [stop - start for start, stop in spans if has(number, start, stop)]
        assert longest[number] == max(lengths, default=1)
    assert len(problem.span) == 1 + sum(len(words) * most for words, most in zip(sentences, longest, strict=True))
    assert problem.span[0] == 0
    assert problem.span[-1] == len(batch.options)
    covered = []
    largest = (0, 0)
    for unit, row in enumerate(problem.unit):
        slot = place = source = 0
        for local, sentence in enumerate(made.sentences(unit)):
            covered.append(sentence)
            here = problem.sentence[sentence]
            assert [here[SENTENCE_SLOT], here[SENTENCE_PLACE], here[SENTENCE_SOURCE]] == [slot, place, source]
            assert here[SENTENCE_OPTION] == problem.span[here[SENTENCE_SPAN]]
            first_word = row[UNIT_FIRST_WORD] + source
            assert set(problem.word[first_word : first_word + len(sentences[sentence])].tolist()) <= {local}
            slot += len(sentences[sentence]) + 1
            # Room for the words of the longest derivation, and for </s>.
            place += 1 + longest_translation(plain, sentences[sentence])
            source += len(sentences[sentence])
        assert row[UNIT_WORDS] == source > 0
        assert row[UNIT_PLACES] == place
        largest = max(largest[0], slot), max(largest[1], place)
    assert (batch.slots, batch.places) == largest
    assert len(problem.word) == sum(map(len, sentences))
    # A text without words is in no unit; every other sentence is in one.
    with_words = {s for s, words in enumerate(sentences) if words}
    assert with_words <= set(covered)
    assert len(covered) == len(set(covered))


@given(plain=models(most_rows=8), words=phrases(SOURCE_WORDS, 1, 4))
def test_no_derivation_has_larger_sums_than_the_bounds(plain: PlainModel, words: tuple[str, ...]) -> None:
    batch = build_problem(loaded(plain), [[words]])
    problem, options = batch.problem, batch.options
    bound = largest_sums(batch.units.words, options.first_option, problem.option_place, problem.option_value)[0]
    for derivation in derivations(batch, 0)[:2000]:
        values = problem.option_value[derivation].astype(np.int64)
        assert (np.abs(values).sum(axis=0) <= bound).all()
    # The bound is not idle: what one word costs at most is what its worst option costs.
    if len(words) == 1:
        assert bound.tolist() == np.abs(problem.option_value.astype(np.int64)).max(axis=0).tolist()


def test_a_value_that_its_words_cannot_share_evenly_is_rounded_up() -> None:
    place, value = np.array([[0, 3, 0, 1]], np.int32), np.array([[-10]], np.int32)
    assert largest_sums(np.array([3]), np.array([0, 1]), place, value).tolist() == [[12]]


@given(plain=models(), words=phrases(SOURCE_WORDS, 1, 5), draw=st.sampled_from(["score", "uniform"]))
def test_the_draw_table_of_a_span_is_that_of_its_isolated_scores(
    plain: PlainModel, words: tuple[str, ...], draw: str
) -> None:
    model = loaded(plain)
    search = SearchConfig(option_draw=draw, option_temperature=0.7, option_uniform=0.2)
    batch = build_problem(model, [[words]], search=search)
    scores = batch.options.entries.score[batch.options.entry]
    for start in range(len(words)):
        for stop in range(start + 1, len(words) + 1):
            span = batch.options.in_span(0, start, stop)
            part = slice(span.start, span.stop)
            expected = draw_weights(
                scores[part],
                np.array([0, len(span)]) if span else np.array([0]),
                draw=draw,
                temperature=0.7 * model.deviation,
                uniform=0.2,
            )
            assert batch.problem.option_draw[part].tolist() == expected.tolist()


@pytest.mark.complaint(7)
@pytest.mark.complaint(8)
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("texts", [[], [[]], [[[]]], [[[], []], [], [[]]]])
def test_documents_without_words_make_a_problem_without_units(texts: list, units: str) -> None:
    """Empty documents and blank lines are kept, and nothing is searched."""
    batch = build_problem(loaded(SMALL), texts, units=units)
    assert len(batch.problem.unit) == 0
    assert len(batch.options) == 0
    assert batch.problem.sentence[:, SENTENCE_WORDS].tolist() == [0] * sum(map(len, texts))
    assert batch.options.find(0, []) == [] if batch.options.sentences else True


def test_an_empty_sentence_owns_a_slot_and_a_place_in_its_document() -> None:
    batch = build_problem(loaded(SMALL), [[["a"], [], ["b"]]], units="document")
    assert batch.problem.sentence[:, SENTENCE_SLOT].tolist() == [0, 2, 3]
    assert batch.problem.sentence[:, SENTENCE_PLACE].tolist() == [0, 2, 3]
    assert batch.problem.word.tolist() == [0, 2]
    assert (batch.slots, batch.places) == (5, 5)


def test_long_texts_work() -> None:
    batch = build_problem(loaded(SMALL), [[["a"]] * 3000, [["a", "b"] * 250]], units="document")
    assert batch.problem.unit[:, UNIT_WORDS].tolist() == [3000, 500]
    assert batch.slots == 6000


def test_what_could_overflow_is_an_error_that_names_feature_and_text() -> None:
    weights = {"word_penalty": 0.0, "phrase_penalty": 0.0, "unknown_word": 2000.0, "distortion": 0.1}
    model = loaded(PlainModel(SMALL.tables, [], weights))
    text = [[["a"]], [["q"]] * 3000]
    build_problem(model, text, units="sentence")
    with pytest.raises(InputError, match=r"feature UnknownWord may exceed .* in document 2; .*weight 2000"):
        build_problem(model, text, units="document")
    with pytest.raises(InputError, match=r"feature UnknownWord .* in document 1, sentence 2;"):
        build_problem(model, [[["a"], ["q"] * 3000]], units="sentence")


def test_far_jumps_count_towards_the_range() -> None:
    weights = {"word_penalty": 0.0, "phrase_penalty": 0.0, "unknown_word": 1.0, "distortion": 2000.0}
    model = loaded(PlainModel(SMALL.tables, [], weights))
    text = [[["q"] * 100]]
    build_problem(model, text, search=SearchConfig(distortion_limit=6))
    with pytest.raises(InputError, match=r"feature Distortion may exceed"):
        build_problem(model, text, search=SearchConfig(distortion_limit=-1))


@given(plain=models(), texts=documents)
def test_the_memory_estimate_is_exact_and_its_limit_holds(plain: PlainModel, texts: list) -> None:
    model = loaded(plain)
    batch = build_problem(model, texts)
    need = sum(array.nbytes for array in batch.problem if isinstance(array, np.ndarray))
    assert problem_bytes(model, batch.units, find_spans(model, batch.options.sentences)) == need
    build_problem(model, texts, memory_limit=need)
    with pytest.raises(InputError, match="the documents do not fit the memory"):
        build_problem(model, texts, memory_limit=need - 1)


@given(plain=models(), texts=documents)
def test_every_model_has_arrays_of_the_same_types(plain: PlainModel, texts: list) -> None:
    """Kernels are compiled once, whatever the number of language models: half a minute each time."""
    problem = build_problem(loaded(plain), texts).problem
    arrays = [*problem.language, *(array for array in problem if isinstance(array, np.ndarray))]
    assert all(array.flags.c_contiguous for array in arrays)


def test_tables_of_one_model_keep_their_columns_apart() -> None:
    """Design §3: options of different tables stay distinct, the other tables' columns are 0."""
    second = PlainTable([0.125, 0.0625], 0, [(("a",), ("x",), [0.5, 0.25])])
    model = loaded(PlainModel([SMALL.tables[0], second], []))
    options = build_problem(model, [[["a"]]]).options
    values = options.values(range(len(options)))[:, :3].tolist()
    assert [options.table_name(o) for o in range(3)] == [
        "TranslationModel1",
        "TranslationModel0",
        "TranslationModel0",
    ]
    half, quarter = np.float32(np.log(0.5)), np.float32(np.log(0.25))
    assert values == [[0, half, quarter], [half, 0, 0], [half, 0, 0]]


def test_a_model_without_language_models_works() -> None:
    with TemporaryDirectory() as folder:
        batch = build_problem(SMALL.load(Path(folder)), [[["a", "b"]]])
    assert batch.problem.language.info.shape[0] == 0
    assert batch.problem.target_word.shape[0] == batch.problem.option_open.shape[0] == 0
    assert (batch.problem.option_score[:, 1] == 0).all()
