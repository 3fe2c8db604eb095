"""Counts, scores and orientations of whole tables against naive readings of the definitions."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusearch.train.counting import (
    Pairs,
    counts_of_counts,
    engine,
    marginals,
    read_pairs,
    sort_occurrences,
    store_occurrences,
)
from gpusearch.train.extract import extract
from gpusearch.train.lexical import count_words
from gpusearch.train.phrases import index_phrases
from gpusearch.train.score import estimate_discounts
from gpusearch.train.tables import Scorer, write_tables
from tests.train.aligned_text import AlignedText, aligned_texts, random_text
from tests.train.definitions import NAMES, most_frequent_alignment, phrase_pairs, scores

Key = tuple[tuple[str, ...], tuple[str, ...]]


def make_tables(
    text: AlignedText,
    folder: Path,
    *,
    longest: int = 7,
    reordering: str = "msd",
    smoothed: bool = False,
    rows: int = 1 << 20,
    **options: int,
) -> tuple[Scorer, list[Pairs]]:
    """Everything between the aligned text and the two files in the folder."""
    corpus, links = text.corpus(), text.links()
    source, target = index_phrases(corpus.source, longest), index_phrases(corpus.target, longest)
    sorted_path = folder / "sorted.parquet"
    (folder / "occurrences.duckdb").unlink(missing_ok=True)
    with engine(folder, threads=1, memory="1GB") as connection:
        found = extract(corpus, links, source, target, longest=longest, chunk=1)
        assert list(store_occurrences(connection, found))[-1] == len(corpus)
        sort_occurrences(connection, sorted_path)
        totals = [marginals(connection, sorted_path, side, types=smoothed) for side in ("source", "target")]
        discounts = estimate_discounts(counts_of_counts(connection, sorted_path)) if smoothed else None
        scorer = Scorer(corpus, source, target, *totals, count_words(corpus, links), discounts, reordering)
        pairs = list(read_pairs(connection, sorted_path, rows))
    write_tables(scorer, pairs, folder, **options)
    return scorer, pairs


def read_table(path: Path) -> dict[Key, list[str]]:
    """Fields after the second, by source and target phrase; the rows must be in byte order and differ."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    rows = [line.split(" ||| ") for line in lines]
    keys = [(tuple(row[0].split(" ")), tuple(row[1].split(" "))) for row in rows]
    assert keys == sorted(set(keys))
    return dict(zip(keys, (row[2:] for row in rows), strict=True))


def check(text: AlignedText, folder: Path, longest: int, model: str) -> None:
    make_tables(text, folder, longest=longest, reordering=model, rows=3)
    rows = phrase_pairs(text, longest)
    expected = scores(text, longest)
    counts, sources, targets = (Counter(map(key, rows)) for key in (lambda r: r[:2], lambda r: r[0], lambda r: r[1]))
    table = read_table(folder / "phrase-table.gz")
    assert table.keys() == expected.keys()
    for (source, target), (values, alignment, count) in table.items():
        assert [float(value) for value in values.split(" ")] == pytest.approx(expected[source, target], rel=1e-5)
        points = sorted(most_frequent_alignment(rows, source, target))
        assert alignment == " ".join(f"{s}-{t}" for s, t in points)
        assert count == f"{targets[target]} {sources[source]} {counts[source, target]}"
    classes = [{name} for name in NAMES] if model == "mslr" else [{"M"}, {"S"}, {"DL", "DR"}]
    reordering = read_table(folder / "reordering-table.gz")
    assert list(reordering) == list(table)
    for key, (values,) in reordering.items():
        steps = [row[3:] for row in rows if row[:2] == key]
        smoothed = [
            (sum(step[direction] in members for step in steps) + 0.5) / (len(steps) + 0.5 * len(classes))
            for direction in (0, 1)
            for members in classes
        ]
        assert [float(value) for value in values.split(" ")] == pytest.approx(smoothed, rel=1e-5)


@given(text=aligned_texts(), longest=st.integers(1, 8), model=st.sampled_from(["msd", "mslr"]))
@settings(max_examples=settings.default.max_examples // 2)
def test_tables_equal_the_definitions(
    tmp_path_factory: pytest.TempPathFactory, text: AlignedText, longest: int, model: str
) -> None:
    """Scores, alignments, counts, orientations; texts without any phrase pair give empty tables."""
    check(text, tmp_path_factory.mktemp("tables"), longest, model)


@pytest.mark.parametrize("model", ["msd", "mslr"])
def test_tables_of_longer_sentences_equal_the_definitions(
    tmp_path: Path, model: str, repetitions: Callable[[int], int]
) -> None:
    check(random_text(np.random.default_rng(5), repetitions(150), words=25), tmp_path, 7, model)


@pytest.mark.parametrize("crossed_first", [False, True])
def test_of_alignments_that_are_equally_frequent_the_first_counts(tmp_path: Path, crossed_first: bool) -> None:
    """In the order of the text, whatever the order of their points is; random texts hardly ever tell the two apart."""
    alignments = [[(0, 1), (1, 0)], [(0, 0), (1, 1)]]
    alignments = alignments if crossed_first else alignments[::-1]
    text = AlignedText([["a", "b"]] * 2, [["x", "y"]] * 2, alignments)
    check(text, tmp_path, 7, "msd")
    expected = " ".join(f"{s}-{t}" for s, t in alignments[0])
    assert read_table(tmp_path / "phrase-table.gz")[("a", "b"), ("x", "y")][1] == expected


def test_kneser_ney_probabilities_sum_to_one(tmp_path: Path) -> None:
    """Over all target phrases, those that the source phrase was never seen with included (and the other way)."""
    text = random_text(np.random.default_rng(2), 60, words=15)
    scorer, chunks = make_tables(text, tmp_path, smoothed=True)
    assert scorer.discounts is not None
    n1, n2, n3 = scorer.discounts.values
    assert 0 < n1 < 1 and n1 < n2 < 2 and n2 < n3 < 3
    pairs = [(s, t, c) for chunk in chunks for s, t, c in zip(*(x.tolist() for x in chunk[:3]), strict=True)]
    values = np.concatenate([scorer.phrase_scores(chunk)[0] for chunk in chunks])
    for column, this, other in ((2, 0, 1), (0, 1, 0)):  # p(e|f), p(f|e)
        types = Counter(pair[other] for pair in pairs)
        sums: Counter[int] = Counter()
        seen: Counter[int] = Counter()
        mass: Counter[int] = Counter()
        total: Counter[int] = Counter()
        for pair, value in zip(pairs, values[:, column].tolist(), strict=True):
            sums[pair[this]] += value
            seen[pair[this]] += types[pair[other]] / len(pairs)
            mass[pair[this]] += scorer.discounts.values[min(pair[2], 3) - 1]
            total[pair[this]] += pair[2]
        for phrase, value in sums.items():
            assert value + mass[phrase] / total[phrase] * (1 - seen[phrase]) == pytest.approx(1.0, abs=1e-9)


def test_kneser_ney_lowers_rare_pairs_most(tmp_path: Path) -> None:
    text = random_text(np.random.default_rng(2), 60, words=15, vocabulary=5)
    plain, chunks = make_tables(text, tmp_path)
    smoothed, _ = make_tables(text, tmp_path, smoothed=True)
    count = np.concatenate([chunk.occurrences for chunk in chunks])
    ratio = np.concatenate([smoothed.phrase_scores(c)[0][:, 2] / plain.phrase_scores(c)[0][:, 2] for c in chunks])
    means = [ratio[group].mean() for group in (count == 1, count == 2, count > 5)]
    assert means == sorted(means) and means[0] < 0.8 < means[2]


def test_rare_pairs_fall_but_stay_in_the_totals(tmp_path: Path) -> None:
    text = random_text(np.random.default_rng(3), 40, words=15)
    (tmp_path / "all").mkdir()
    make_tables(text, tmp_path / "all")
    make_tables(text, tmp_path, min_count=2)
    every, kept = read_table(tmp_path / "all/phrase-table.gz"), read_table(tmp_path / "phrase-table.gz")
    assert kept == {key: row for key, row in every.items() if int(row[2].split(" ")[2]) >= 2}
    assert list(read_table(tmp_path / "reordering-table.gz")) == list(kept)


@pytest.mark.complaint(6)
def test_any_token_is_a_word_and_only_three_bars_cannot_be_written(tmp_path: Path) -> None:
    """complaints.md 6: `|`, `[X]`, `<a>` stand in tables as they are; a pair with `|||` in a word is left out."""
    source, target = ["|", "[X]", "a|||b", "<s>"], ["||", "[X][Y]", "c", "&amp;"]
    text = AlignedText([source], [target], [[(i, i) for i in range(4)]])
    make_tables(text, tmp_path, longest=1)
    kept = {(("|",), ("||",)), (("[X]",), ("[X][Y]",)), (("<s>",), ("&amp;",))}
    assert read_table(tmp_path / "phrase-table.gz").keys() == kept


def test_equal_bytes_for_any_number_of_threads(tmp_path: Path) -> None:
    text = random_text(np.random.default_rng(4), 50)
    folders = [tmp_path / name for name in ("first", "second")]
    for folder, rows in zip(folders, (7, 1 << 20), strict=True):
        folder.mkdir()
        make_tables(text, folder, rows=rows)
    for name in ("phrase-table.gz", "reordering-table.gz"):
        first, second = ((folder / name).read_bytes() for folder in folders)
        assert first == second
