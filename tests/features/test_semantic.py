"""Scores of the semantic language model: by hand, and in integers beside float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.features.semantic import SemanticSpace
from gpusearch.kernels.semantic import BINS, bin_of, square_root

UNIT = 1 << 14


def made_space(vectors: np.ndarray, history: int = 30) -> SemanticSpace:
    """Words w0, w1, ...; the value of a bin is its number over 8, below 0."""
    return SemanticSpace(
        content=tuple(f"w{number}" for number in range(len(vectors))),
        stop=("the", ","),
        vector=np.rint(vectors * UNIT).astype(np.int16),
        stop_value=np.log([0.3, 0.1]),
        histogram=-np.arange(BINS)[::-1] / 8,
        first=-3.0,
        unknown=math.log(1e-6),
        history=history,
        lowercase=False,
    )


def test_equation_15_by_hand() -> None:
    """Cosines of the plane: the first word has no history, then 0, then that of 45 degrees; borders do not count."""
    space = made_space(np.array([[1.0, 0.0], [0.0, 1.0]]))
    codes = space.codes(["w0", "the", "w1", "new", "w0"])
    assert codes.tolist() == [0, -2, 1, -1, 0]
    value = {cosine: -(BINS - 1 - math.floor((cosine + 1) * 32)) / 8 for cosine in (0.0, math.sqrt(0.5))}
    expected = [-3.0, math.log(0.3), value[0.0], math.log(1e-6), value[math.sqrt(0.5)]]
    assert space.word_scores(codes) == pytest.approx(expected)
    document = [["w0", "the"], [], ["w1", "new", "w0"]]
    assert space.document_score(document) == pytest.approx(sum(expected))
    assert space.document_value(document) == sum(round(value * 2**20) for value in expected)


def test_a_history_is_the_last_words_of_the_space_only() -> None:
    space = made_space(np.array([[1.0, 0.0], [0.0, 1.0]]), history=2)
    codes = space.codes(["w0", "w0", "w1", "the", "new", "w1", "w0"])
    assert space.cosines(codes)[-1] == pytest.approx(0.0), "both w0 are three words of the space back"


def test_words_that_cancel_say_nothing() -> None:
    space = made_space(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    document = [["w0", "w1", "w0"]]
    assert space.cosines(space.codes(document[0]))[2] == 0.0
    assert space.document_value(document) == round(space.document_score(document) * 2**20)


@given(st.integers(0, 2**62 - 1))
def test_square_roots(number: int) -> None:
    assert square_root(number) == math.isqrt(number)


@given(st.integers(-(2**35), 2**35), st.integers(1, 2**41))
def test_bins_are_those_of_the_cosine(dot: int, square: int) -> None:
    """But for cosines within the error of the root of a border, and beyond -1 and 1."""
    cosine = dot / UNIT / math.sqrt(square)
    place = min(max((cosine + 1) * BINS / 2, 0), BINS - 0.5)
    error = BINS * (1 / math.isqrt(square) + 2**-18)
    assert math.floor(max(place - error, 0)) <= bin_of(dot, square) <= math.floor(place + error)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_integers_stand_for_what_float64_computes(seed: int, history: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(12, 30))
    space = made_space(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), history)
    words = [*space.content, *space.stop, "new"]
    document = [[words[number] for number in generator.integers(0, len(words), 15)] for _ in range(4)]
    codes = space.codes(word for sentence in document for word in sentence)
    cosines = space.cosines(codes)
    borders = np.abs((cosines + 1) * BINS / 2 - np.rint((cosines + 1) * BINS / 2))
    close = np.count_nonzero(borders < 0.02)  # these may fall into the bin beside it, an eighth of a nat away
    difference = space.document_value(document) / 2**20 - space.document_score(document)
    assert abs(difference) <= close / 8 + len(codes) * 2**-21 + 1e-9
