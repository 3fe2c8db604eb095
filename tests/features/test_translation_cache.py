"""The cache of earlier translations: by hand, by brute force on documents, and its faults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpusearch
from gpusearch.errors import InputError
from gpusearch.features.load import with_document
from gpusearch.features.material import material_of
from gpusearch.features.record import make_document
from gpusearch.features.text import Document, Sentence
from gpusearch.features.translation_cache import ITEMS, TranslationCache
from gpusearch.kernels.records import SENTENCE_WORDS, Problem
from gpusearch.kernels.reference import document_features
from gpusearch.kernels.reference_neighbours import options_of
from gpusearch.model.problem import build_problem
from gpusearch.model.weights import VALUE_UNITS
from tests.features.documents import document
from tests.features.walks import walk
from tests.paths import Case
from tests.random_features import random_material
from tests.tiny import TINY

# house stands in sentences 0, 0, 2, 3; the empty sentence counts as one.
HOUSES = document("la maison = the house | foyer = house", "", "la maison = the house", "maison = house | la = the")


def test_phrase_pairs_of_sentences_before() -> None:
    """la maison/the house in 0 and 2, one sentence between them."""
    assert TranslationCache(decay=0.5).value(HOUSES) == 0.5
    assert TranslationCache(window=1).value(HOUSES) == 0
    assert TranslationCache(decay=0.5, letters=6).value(HOUSES) == 0


def test_words_of_sentences_before() -> None:
    """house: 2 in 0, 1 in 2, 1 in 3: 2 d + 2 d^2 + 1; the, of three letters, 1 in each: d + d^2 + 1."""
    assert TranslationCache(items="words", decay=0.5).value(HOUSES) == 2 * 0.5 + 2 * 0.25 + 1
    assert TranslationCache(items="words", decay=0.5, letters=3).value(HOUSES) == 2.5 + 0.5 + 0.25 + 1
    assert TranslationCache(items="words", decay=1, window=2).value(HOUSES) == 2 + 1
    assert TranslationCache(items="words", decay=1, letters=0).value(HOUSES) == 2 + 2 + 1 + 3


def test_word_pairs_of_sentences_before() -> None:
    """maison/house in 0, 2 and 3, foyer/house in 0 alone."""
    for items in ("source-word-pairs", "target-word-pairs"):
        assert TranslationCache(items=items, decay=0.5).value(HOUSES) == 0.5 + 0.25 + 1
    assert TranslationCache(items="words").value(document("ne =", "ne =")) == 0


def occurrences(text: Document, items: str) -> Iterator[tuple[int, object, int]]:
    """(sentence, item, letters of its longest target word), read off the alignment anew."""
    for number, sentence in enumerate(text):
        for phrase in sentence.phrases:
            source = sentence.source[phrase.start : phrase.stop]
            if items == "phrase-pairs":
                yield number, (tuple(source), phrase.words), max(map(len, phrase.words), default=0)
            side = ("source-word-pairs", "target-word-pairs").index(items) if items.endswith("word-pairs") else None
            for place, word in enumerate(phrase.words if items == "words" else ()):
                yield number, word, len(phrase.words[place])
            here, there = (source, phrase.words) if side == 0 else (phrase.words, source)
            for place, word in enumerate(here if side is not None else ()):
                partners = sorted({point[1 - side] for point in phrase.alignment if point[side] == place})
                if partners:
                    others = [there[k] for k in partners]
                    targets = others if side == 0 else [word]
                    yield number, (word, tuple(others)), max(map(len, targets))


def brute_force(text: Document, feature: TranslationCache) -> float:
    """Every occurrence with every other one."""
    every = [(k, item) for k, item, letters in occurrences(text, feature.items) if letters >= feature.letters]
    total = 0.0
    for later, item in every:
        for earlier, other in every:
            if item == other and 0 < later - earlier <= feature.window:
                total += feature.decay ** (later - earlier - 1)
    return total


PAIRS = st.tuples(
    st.lists(st.sampled_from("xy"), min_size=1, max_size=2), st.lists(st.sampled_from(["a", "bcd", "ef"]), max_size=2)
)


@given(
    st.lists(st.lists(PAIRS, max_size=3), max_size=7),
    st.sampled_from(sorted(ITEMS)),
    st.integers(1, 4),
    st.sampled_from([0.3, 0.8, 1]),
    st.integers(0, 3),
)
def test_values_are_those_of_every_pair_of_occurrences(
    sentences: list[list[tuple[list[str], list[str]]]], items: str, window: int, decay: float, letters: int
) -> None:
    text: list[Sentence] = document(
        *(" | ".join(f"{' '.join(left)} = {' '.join(right)}" for left, right in pairs) for pairs in sentences)
    )
    feature = TranslationCache(items, window, decay, letters)
    assert feature.value(text) == pytest.approx(brute_force(text, feature))


@pytest.mark.parametrize("options", ["letters=0", "letters=5, window=2, decay=0.5", "letters=4, window=3, decay=1"])
def test_kernels_keep_the_values_of_texts(options: str) -> None:
    """At any step of a walk, but for the rounding of each power of the decay."""
    settings = [
        f"features.of_{number}={{use='cache', weights={weight}, options={{items='{items}', {options}}}}}"
        for number, (items, weight) in enumerate(zip(ITEMS, (0.5, -0.3, 0.2, -0.1), strict=True))
    ]
    seen = []
    for kept, of_text in walk(settings):
        np.testing.assert_allclose(kept, of_text, rtol=0, atol=1e-4)
        seen.append(tuple(kept.tolist()))
    assert len(set(seen)) > len(seen) // 3
    assert np.array(seen).max(axis=0).min() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "items='phrases'",
            "unusable items of cache; found 'phrases'; expected phrase-pairs | words | source-word-pairs | "
            "target-word-pairs",
        ),
        ("window=0", "unusable window of cache; found 0; expected a number of sentences, 1 or more"),
        ("decay=1.5", "unusable decay of cache; found 1.5; expected above 0, at most 1"),
        ("decay='slow'", "unusable decay of cache; found 'slow'; expected above 0, at most 1"),
        ("letters=-1", "unusable letters of cache; found -1; expected a number of letters, 0 or more"),
        ("size=3", "unknown option of feature x; found size; expected one of items, window, decay, letters"),
    ],
)
def test_faults_of_the_configuration(options: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message) + "$"):
        gpusearch.load(TINY, [f"features.x={{use='cache', options={{{options}}}}}"])


def test_no_document_exceeds_its_bound() -> None:
    """Of equal words the value is the bound itself: every occurrence with every earlier one."""

    def largest(sentences: Sequence[int]) -> float:
        texts = [["maison"] * words for words in sentences]
        decoder = gpusearch.load(TINY, ["features.x={use='cache', options={decay=0.5, window=2}}"])
        batch = build_problem(decoder.model, [texts], units="document")
        return float(TranslationCache(decay=0.5, window=2).largest(material_of(batch.problem, batch.options))[0])

    same = document(*("maison = house | " * words for words in (3, 1, 2)))
    assert TranslationCache(decay=0.5, window=2).value(same) == 3 * 1 + 1 * 2 + 0.5 * 3 * 2 == largest([3, 1, 2])


def coverings(problem: Problem, sentence: int, start: int = 0) -> Iterator[list[int]]:
    """The derivations of a sentence from a source word on, all in the order of the source."""
    words = int(problem.sentence[sentence, SENTENCE_WORDS])
    if start == words:
        yield []
    for stop in range(start + 1, words + 1):
        for option in options_of(problem, sentence, start, stop):
            for rest in coverings(problem, sentence, stop):
                yield [option, *rest]


@given(
    st.integers(0, 10**6),
    st.lists(st.integers(0, 2), min_size=2, max_size=3).filter(lambda words: 0 < sum(words) <= 4),
    st.sampled_from(sorted(ITEMS)),
    st.integers(1, 2),
)
def test_no_derivations_of_a_document_exceed_its_bound(
    seed: int, sentences: list[int], items: str, window: int
) -> None:
    """All of them, by the readable twin."""
    case = Case(seed, sentences=tuple(sentences), lengths=(0, 1, 2), words=(1, 2))
    problem, search, _ = case.problem()
    material = random_material(problem)
    feature = TranslationCache(items, window, 0.7, 0)
    record = make_document(material, [(feature, [1])])
    assert record
    problem = problem._replace(document=record)
    every = product(*(list(coverings(problem, sentence)) for sentence in range(len(sentences))))
    greatest = max(value for made in every for value, _ in document_features(problem, search, made))
    assert greatest <= feature.largest(material)[0] * VALUE_UNITS


@pytest.mark.parametrize("letters", [0, 5])
def test_long_documents_are_accepted(letters: int) -> None:
    """300 sentences of 63 words; all pairs of words of sentences nearby would be too many for exact scores."""
    options = f"items='words', letters={letters}"
    decoder = gpusearch.load(TINY, [f"features.x={{use='cache', options={{{options}}}}}"])
    document = [["le", "petit", "chien", "ne", "dort", "pas", "."] * 9] * 300
    batch = build_problem(decoder.model, [document], units="document")
    assert with_document(batch).problem.document
