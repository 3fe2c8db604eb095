"""Extraction and orientations against naive readings of their definitions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.train.corpus import Side, number_words
from gpusearch.train.extract import extract
from gpusearch.train.phrases import PhraseIndex, index_phrases, key_place
from tests.train.aligned_text import AlignedText, aligned_texts, random_text
from tests.train.definitions import NAMES, R, Row, S, phrase_pairs


def words(side: Side, index: PhraseIndex, key: int) -> tuple[str, ...]:
    place, length = key_place(index, np.array([key]))
    return tuple(side.vocabulary[word - 1] for word in side.words[place[0] : place[0] + length[0]])


def extracted(text: AlignedText, longest: int, chunk: int = 1) -> list[Row]:
    corpus = text.corpus()
    source, target = index_phrases(corpus.source, longest), index_phrases(corpus.target, longest)
    rows: list[Row] = []
    for _, found in extract(corpus, text.links(), source, target, longest=longest, chunk=chunk):
        for s, t, alignment, orientation in zip(*(column.tolist() for column in found), strict=True):
            points = frozenset(divmod(bit, 8) for bit in range(64) if alignment >> bit & 1)
            steps = NAMES[orientation % 4], NAMES[orientation // 4]
            rows.append((words(corpus.source, source, s), words(corpus.target, target, t), points, *steps))
    return rows


@given(aligned_texts(), st.integers(1, 8))
def test_extraction_equals_the_definition(text: AlignedText, longest: int) -> None:
    """Same phrase pairs with the same alignments and orientations, and in the order of the text."""
    assert extracted(text, longest) == phrase_pairs(text, longest)


@pytest.mark.parametrize("longest", [3, 7])
def test_extraction_of_longer_sentences_equals_the_definition(longest: int, repetitions: Callable[[int], int]) -> None:
    text = random_text(np.random.default_rng(longest), repetitions(60))
    assert extracted(text, longest) == phrase_pairs(text, longest)


def test_unaligned_edge_words_may_belong_to_a_pair_or_not() -> None:
    text = AlignedText([["a", "b"]], [["x", "y"]], [[(0, 1)]])
    pairs = {(row[0], row[1]) for row in extracted(text, 7)}
    assert pairs == set(product([("a",), ("a", "b")], [("y",), ("x", "y")]))


def test_orientations_of_a_swap() -> None:
    """a b -> y x: each phrase swaps with the other; at the borders of the sentence it jumps."""
    text = AlignedText([["a", "b"]], [["y", "x"]], [[(0, 1), (1, 0)]])
    steps = {row[0]: row[3:] for row in extracted(text, 1)}
    assert steps == {("a",): (S, R), ("b",): (R, S)}


@given(st.lists(st.lists(st.sampled_from(["é", "a", "z", "|", "10"]), max_size=9), min_size=1, max_size=5))
def test_keys_sort_as_the_words_of_the_phrases_do(sentences: list[list[str]]) -> None:
    side = number_words(sentences)
    index = index_phrases(side, 4)
    phrases: dict[int, tuple[bytes, ...]] = {}
    for begin, end in pairwise(side.offsets.tolist()):
        for place, length in product(range(begin, end), range(1, 5)):
            if place + length <= end:
                key = int(index.first[place, length - 1]) * 8 + length - 1
                phrase = tuple(side.vocabulary[w - 1].encode() for w in side.words[place : place + length])
                assert phrases.setdefault(key, phrase) == phrase
    ordered = [phrases[key] for key in sorted(phrases)]
    assert ordered == sorted(set(phrases.values()))
