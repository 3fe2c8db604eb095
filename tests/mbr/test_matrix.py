"""All pairs at once are what sacreBLEU and plain counting say pair by pair."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.io.nbest import read_n_best
from gpusearch.mbr import matrix
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.counted import GramPairs
from gpusearch.mbr.grams import characters, count_grams, words
from gpusearch.mbr.matrix import utilities
from tests.mbr.oracles import UTILITIES, pair_by_pair

FEW = st.text(st.sampled_from("ab .A"), max_size=12)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TEXTS = st.lists(FEW | ANY, min_size=1, max_size=6)


@pytest.mark.parametrize("name", list(UTILITIES))
@given(hypotheses=TEXTS, references=TEXTS)
def test_equals_sacrebleu_on_any_text(name: str, hypotheses: list[str], references: list[str]) -> None:
    utility, metric, sign = UTILITIES[name]
    expected = pair_by_pair(metric, sign, hypotheses, references)
    np.testing.assert_allclose(utilities(utility, hypotheses, references), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in UTILITIES if name != "ter"])
def test_equals_sacrebleu_on_real_lists(name: str, parity: Path) -> None:
    """Moses' 5-best of forty sentences together, so that texts both resemble each other and do not."""
    entries = list(read_n_best(parity / "laws100k.fr-en" / "moses.cube500.first300.nbest.gz"))
    texts = [" ".join(entry.words) for entry in entries if entry.sentence < 8]
    utility, metric, sign = UTILITIES[name]
    expected = pair_by_pair(metric, sign, texts, texts)
    np.testing.assert_allclose(utilities(utility, texts, texts), expected, rtol=1e-9, atol=0)


@given(texts=TEXTS, columns=st.lists(st.integers(0, 5), max_size=8), rows=st.lists(st.integers(0, 5), max_size=8))
def test_matches_are_clipped_counts(texts: list[str], columns: list[int], rows: list[int]) -> None:
    """For any selection of rows and columns, repeated ones too; equality, since all are integers."""
    first, second = ([number for number in numbers if number < len(texts)] for numbers in (rows, columns))
    counts = [[Counter(text[i : i + n] for i in range(len(text) - n + 1)) for n in (1, 2, 3)] for text in texts]
    pairs = GramPairs([(characters(texts), 3)], "cpu")
    hypotheses, references, matches = pairs.statistics(np.array(first, np.int64), np.array(second, np.int64))
    for order in range(3):
        expected = [[(counts[i][order] & counts[j][order]).total() for j in second] for i in first]
        assert matches[order].tolist() == expected
        assert hypotheses[order].flatten().tolist() == [counts[i][order].total() for i in first]
        assert references[order].flatten().tolist() == [counts[j][order].total() for j in second]


@given(texts=st.lists(st.lists(st.sampled_from(["a", "b", "cc"]), max_size=9), max_size=5))
def test_numbers_of_grams_are_exact(texts: list[list[str]]) -> None:
    """Two n-grams have the same number where they are the same, and only there."""
    for order, counted in enumerate(count_grams(words(texts), 4), 1):
        plain = [Counter(tuple(text[i : i + order]) for i in range(len(text) - order + 1)) for text in texts]
        assert counted.totals.tolist() == [one.total() for one in plain]
        assert counted.grams == len(set().union(*plain))
        by_gram: dict[int, dict[int, int]] = {}
        for text, gram, count in zip(counted.text.tolist(), counted.gram.tolist(), counted.count.tolist(), strict=True):
            by_gram.setdefault(gram, {})[text] = count
        expected: dict[tuple[str, ...], dict[int, int]] = {}
        for text, grams in enumerate(plain):
            for key, count in grams.items():
                expected.setdefault(key, {})[text] = count
        assert sorted(map(sorted, (one.items() for one in by_gram.values()))) == sorted(
            map(sorted, (one.items() for one in expected.values()))
        )


def test_numbers_that_do_not_fit_into_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    sequences = [np.array(row, np.int64) for row in ([0, 1, 2, 0, 1], [1, 2, 3], [], [0, 1])]
    expected = count_grams(sequences, 3)
    monkeypatch.setattr("gpusearch.mbr.grams._LARGEST_KEY", 4)
    for one, other in zip(count_grams(sequences, 3), expected, strict=True):
        for field in ("text", "gram", "count", "totals"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@pytest.mark.parametrize("utility", [Bleu(), Chrf(word_order=2)])
def test_blocks_change_nothing(utility: Bleu | Chrf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither blocks of rows nor of columns; and a hypothesis may be none of the references."""
    texts = [f"the {a} cat {b} sat on {c} mat ." for a in "abc" for b in "abc" for c in "ab"]
    whole = utilities(utility, texts, texts[5:])
    monkeypatch.setattr("gpusearch.mbr.products._CELLS", 50)
    monkeypatch.setattr("gpusearch.mbr.products._FEWEST", 1)
    room = utility.prepare(texts, 0).room
    np.testing.assert_array_equal(utilities(utility, texts, texts[5:], memory=room.need(2, 13)), whole)
    assert room.need(18, 13) < matrix.MEMORY
