"""Significance pruning against exact arithmetic and a naive count of sentences."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.train.counting import Pairs
from gpusearch.train.phrases import index_phrases
from gpusearch.train.significance import Containment, negative_log_p, threshold
from tests.train.aligned_text import AlignedText, aligned_texts


def fisher(total: int, f: int, e: int, both: int) -> float:
    """-ln of the probability that `f` of `total` sentences hold at least `both` of `e` marked ones, exactly."""
    ways = sum(math.comb(e, k) * math.comb(total - e, f - k) for k in range(both, min(f, e) + 1))
    p = Fraction(ways, math.comb(total, f))
    return math.log(p.denominator) - math.log(p.numerator)


@given(st.data())
def test_equals_fishers_exact_test(data: st.DataObject) -> None:
    total = data.draw(st.integers(1, 200))
    f, e = data.draw(st.integers(1, total)), data.draw(st.integers(1, total))
    both = data.draw(st.integers(max(0, f + e - total), min(f, e)))
    found = negative_log_p(np.array([[f, e, both]]), total)[0]
    assert found == pytest.approx(fisher(total, f, e, both), abs=1e-9)


@pytest.mark.parametrize(("wanted", "kept"), [("alpha", True), ("alpha+epsilon", False), ("alpha-epsilon", True)])
@pytest.mark.parametrize("pairs", [2, 1000, 529_779])
def test_alpha_is_the_value_of_a_pair_seen_once(wanted: str, kept: bool, pairs: int) -> None:
    value = negative_log_p(np.array([[1, 1, 1]]), pairs)[0]
    assert bool(value >= threshold(wanted, pairs)) is kept


def test_thresholds_may_be_numbers_and_nothing_else() -> None:
    assert threshold("12.5", 10) == 12.5
    with pytest.raises(InputError, match=r"found 'beta'; expected alpha, alpha\+epsilon"):
        threshold("beta", 10)


def occurs(phrase: list[str], sentence: list[str]) -> bool:
    return any(sentence[i : i + len(phrase)] == phrase for i in range(len(sentence)))


@given(aligned_texts(max_pairs=8, max_words=5))
def test_counts_sentences_that_contain_phrases_whether_extracted_or_not(text: AlignedText) -> None:
    corpus = text.corpus()
    indexes = [index_phrases(side, 3) for side in (corpus.source, corpus.target)]
    phrases: list[dict[int, list[str]]] = [{}, {}]
    for found, index, sentences, side in zip(
        phrases, indexes, (text.source, text.target), (corpus.source, corpus.target), strict=True
    ):
        for n, sentence in enumerate(sentences):
            for begin in range(len(sentence)):
                for length in range(1, min(3, len(sentence) - begin) + 1):
                    key = int(index.first[side.offsets[n] + begin, length - 1]) * 8 + length - 1
                    found[key] = sentence[begin : begin + length]
    keys = np.array([(s, t) for s in sorted(phrases[0]) for t in sorted(phrases[1])], np.uint32)
    empty = np.empty(len(keys))
    counts = Containment(corpus, *indexes).counts(Pairs(keys[:, 0], keys[:, 1], empty, empty, empty))
    for (s, t), row in zip(keys.tolist(), counts.tolist(), strict=True):
        in_source = [occurs(phrases[0][s], sentence) for sentence in text.source]
        in_target = [occurs(phrases[1][t], sentence) for sentence in text.target]
        both = sum(a and b for a, b in zip(in_source, in_target, strict=True))
        assert row == [sum(in_source), sum(in_target), both]
