"""Scores of the semantic language model: by hand, and in integers beside float64."""

from __future__ import annotations

import logging
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpusearch
from gpusearch.errors import InputError
from gpusearch.features.semantic import SemanticSpace, load_space, save_space
from gpusearch.features.semantic_lift import CHANGES, lifts
from gpusearch.features.semantic_lm import SemanticLanguageModel
from gpusearch.kernels.semantic import BINS, bin_of, cell_of, square_root
from gpusearch.kernels.target import exact
from tests.tiny import TINY

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
    assert math.floor(max(place - error, 0)) <= bin_of(dot, math.isqrt(square)) <= math.floor(place + error)


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


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(0, CHANGES + 1), st.integers(0, CHANGES + 1))
def test_no_word_gains_more_than_its_lift(seed: int, history: int, going: int, coming: int) -> None:
    """Words of a history come and go at any place of it; what comes turns the sum as far as it can. Values rise with
    the bin, so that no bin that can be reached may be left out."""
    rng = np.random.default_rng(seed)
    angles = np.append(rng.normal(0, rng.uniform(0, 1), 40), rng.uniform(0, 2 * np.pi, 40))
    space = made_space(np.stack((np.cos(angles), np.sin(angles)), axis=1), history)
    behind = int(rng.integers(0, history))
    before = rng.integers(0, 40, history + going + behind + 5).tolist()
    start = len(before) - behind - going
    for sign in (1, -1):
        lift = lifts(space.kernel, sign)[min(max(going, coming, 1), CHANGES + 1) - 1]
        for word in range(40, 80):
            farthest = int(np.argmax(sign * np.cos(angles - angles[word])))
            after = before[:start] + coming * [farthest] + before[start + going :]
            old, new = (cell_behind(space, word, words) for words in (before, after))
            gain = sign * (int(space.kernel.value[new]) - int(space.kernel.value[old]))
            assert gain <= sign * lift[old]


def cell_behind(space: SemanticSpace, word: int, before: list[int]) -> int:
    """Cell of a word behind words of the space."""
    held = before[-space.history :]
    total = space.kernel.vector[held].sum(axis=0, dtype=np.int64)
    return int(cell_of(exact(space.kernel), word, exact(total), len(held)))


def test_lifts_are_less_than_everything_behind_long_histories() -> None:
    """Words that are alike add up: one word of thirty turns their sum by less than four degrees."""
    space = replace(made_space(np.array([[1.0, 0.0], [0.8, 0.6]])), histogram=np.linspace(-9, -3, BINS))
    cell = cell_behind(space, 1, [0] * 30)
    lift = lifts(space.kernel, 1)
    assert lift[CHANGES, cell] > 0.5 * 2**20 > lift[0, cell] > 0
    assert (np.diff(lift[:, cell]) >= 0).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"history": 0}, "history, words); found 0; expected 1 to 65536"),
        ({"history": 1 << 17}, "history, words); found 131072"),
        ({"vector": np.full((2, 2), 1 << 14, np.int16)}, "length of a vector); found 1.41"),
        ({"first": -math.inf}, "logarithm, nats); found inf; expected 0 to 2047"),
        ({"stop_value": np.array([-1.0, math.nan])}, "logarithm, nats); found nan"),
    ],
)
def test_what_kernels_cannot_hold_is_refused(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    """Sums over a history and values have 32 bits."""
    space = made_space(np.array([[1.0, 0.0], [0.0, 1.0]]), history=1 << 16)
    save_space(space, tmp_path / "space.npz")
    assert load_space(tmp_path / "space.npz").history == 1 << 16
    save_space(replace(space, **wrong), tmp_path / "space.npz")
    with pytest.raises(InputError, match=f"space.npz: a space that does not fit .{re.escape(message)}"):
        load_space(tmp_path / "space.npz")


def test_models_are_told_apart() -> None:
    """By all that a score depends on."""
    space = made_space(np.array([[1.0, 0.0], [0.0, 1.0]]))
    others: list[dict[str, Any]] = [
        {"lowercase": True}, {"history": 29}, {"first": -3.5}, {"unknown": -9.0}, {"stop": (",", "the")},
        {"content": ("w1", "w0")}, {"histogram": space.histogram - 1}, {"stop_value": space.stop_value - 1},
        {"vector": -space.vector}, {"content": ("w0", "w1", "the"), "stop": (",",)},
    ]  # fmt: skip
    made = [SemanticLanguageModel(one).fingerprint() for one in (space, *(replace(space, **other) for other in others))]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize(
    ("content", "lowercase", "told"),
    [
        ("house home blue little small dog puppy sleep", False, None),
        ("House Home", False, "knows none .*found 0%, in lower case 23%; not house"),
        ("maison bleue", False, "knows none .*found 0%, in lower case 0%; not house"),
        ("sleep", False, "knows few .*found 5%, in lower case 5%; not house"),
        ("house blue Dog Home In", False, "knows in another case only some .*found 27%, in lower case 45%; not"),
        ("house blue dog home in", True, None),
    ],
)
def test_a_space_of_other_words_than_the_model_s(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str, lowercase: bool, told: str | None
) -> None:
    """Of another language, or cased in another way: refused where nothing fits, else the log says so."""
    words = tuple(content.split())
    space = replace(made_space(np.tile([1.0, 0.0], (len(words), 1))), content=words, lowercase=lowercase)
    save_space(space, tmp_path / "space.npz")
    settings = ["features.topic.use=semantic-lm", f"features.topic.path={tmp_path / 'space.npz'}"]
    with caplog.at_level(logging.WARNING):
        if told and "none" in told:
            with pytest.raises(InputError, match=f"space.npz: the space of topic {told}"):
                gpusearch.load(TINY, settings)
        else:
            gpusearch.load(TINY, settings)
            assert bool(told) == bool(re.search(f"space.npz: the space of topic {told}", caplog.text))
