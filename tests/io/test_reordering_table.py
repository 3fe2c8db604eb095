"""Reordering tables: equal to a plain reading, and matched to the rows of a phrase table by their words."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.io import reordering_table as module
from gpusearch.io.phrase_table import read_phrase_table
from gpusearch.io.reordering_table import ReorderingTable, read_reordering_table
from tests.io.tables import log32, table_texts, tokens


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def read(path: Path, text: str, **options: Any) -> ReorderingTable:
    path.write_bytes(text.encode())
    return read_reordering_table(path, cache=False, **options)


def naive(text: str, key_fields: int) -> dict[tuple[tuple[str, ...], ...], list[float]]:
    """Scores by key; the last row of a key counts."""
    scores = {}
    for line in text.removesuffix("\n").split("\n"):
        fields = line.removesuffix("\r").split("|||")
        key = tuple(tokens(field) for field in fields[:key_fields])
        scores[key] = [log32(score) for score in tokens(fields[key_fields])]
    return scores


@given(text=table_texts(), by_target=st.sampled_from([None, True]))
def test_pairs_equal_a_plain_reading(folder: Path, text: str, by_target: bool | None) -> None:
    table = read(folder / "pairs", text, by_target=by_target)
    expected = naive(text, 2)
    assert table.by_target
    assert len(table) == len(expected)
    for (source, target), scores in expected.items():
        assert table.log_scores[table.lookup(source, target)].tolist() == scores
        assert (table.lookup(source, (*target, "a")) >= 0) == ((source, (*target, "a")) in expected)


@given(text=table_texts(pairs=False), by_target=st.sampled_from([None, False]))
def test_sources_equal_a_plain_reading(folder: Path, text: str, by_target: bool | None) -> None:
    table = read(folder / "sources", text, by_target=by_target)
    expected = naive(text, 1)
    assert not table.by_target
    assert len(table) == len(expected)
    for (source,), scores in expected.items():
        assert table.log_scores[table.lookup(source, ("whatever",))].tolist() == scores


def scores_in(line: str) -> int:
    """Scores of a row; a carriage return at its end is none."""
    return len(tokens(line.removesuffix("\r").split("|||")[2]))


@given(phrases=table_texts(), reordering=table_texts(), data=st.data())
def test_alignment_equals_single_lookups(folder: Path, phrases: str, reordering: str, data: st.DataObject) -> None:
    """Row by row of the phrase table, for pairs and for sources, in parts of any size."""
    path = folder / "phrases"
    path.write_bytes(phrases.encode())
    phrase_table = read_phrase_table(path, cache=False)
    width = scores_in(phrases.split("\n")[0])
    # Some rows of the phrase table are in the reordering table, others are not.
    rows = data.draw(st.lists(st.sampled_from(phrases.removesuffix("\n").split("\n")), max_size=4))
    lines = ["|||".join(row.split("|||")[:2]) + "|||" + " 0.5" * width for row in rows]
    lines += [line for line in reordering.removesuffix("\n").split("\n") if scores_in(line) == width]
    text = "\n".join(lines or ["a ||| b ||| " + " 1" * width])
    for table in (
        read(folder / "pairs", text),
        read(folder / "sources", "\n".join("|||".join(line.split("|||")[0:3:2]) for line in text.split("\n"))),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_ROWS_AT_A_TIME", data.draw(st.integers(1, 9)))
            aligned = table.align_to(phrase_table)
        assert aligned.dtype == np.int64
        expected = [table.lookup(phrase_table.source(r), phrase_table.target(r)) for r in range(len(phrase_table))]
        assert aligned.tolist() == expected


def test_parity_tables_fit(parity: Path) -> None:
    """Each of 135,142 phrase pairs has its row, and its six probabilities."""
    directory = parity / "newstest2012.en-fr"
    phrases = read_phrase_table(directory / "phrase-table.gz", cache=False)
    table = read_reordering_table(directory / "reordering-table.gz", cache=False)
    aligned = table.align_to(phrases)
    assert aligned.tolist() == list(range(135142))
    text = gzip.decompress((directory / "reordering-table.gz").read_bytes()).decode()
    for number, line in list(enumerate(text.split("\n")[:-1]))[::97]:
        source, target, scores = (tokens(field) for field in line.split("|||"))
        assert (tuple(phrases.source(number)), tuple(phrases.target(number))) == (source, target)
        assert table.log_scores[number].tolist() == [log32(score) for score in scores]


@pytest.mark.complaint(1)
@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_bad_row_is_named(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Complaint 1: a row with too few scores in a compressed table ends in file, line, found and expected."""
    path = tmp_path / "reordering-table.gz"
    good = b"a ||| b ||| 0.6 0.2 0.2 0.6 0.2 0.2\n"
    path.write_bytes(pack(good * 70000 + b"c ||| d ||| 0.6 0.2 0.2\n" + good))
    with pytest.raises(InputError) as error:
        read_reordering_table(path)
    message = "wrong number of scores; found 3 (0.6 0.2 0.2); expected 6 as in line 1"
    assert str(error.value) == f"{path}:70001: {message}"


def test_pair_that_stands_there_twice(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The last row counts, and the log says so."""
    table = read(tmp_path / "t", "a ||| b ||| 0.1 1\nc ||| d ||| 1 1\na  |||\tb ||| 0.2 1\na ||| b ||| 0.3 1\n")
    assert table.log_scores[:, 0].tolist() == [log32("0.3"), 0.0]
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / 't'}: 2 rows repeat an earlier one; the last counts"
    ]
    assert caplog.records[0].levelno == logging.WARNING


def test_what_is_not_there(tmp_path: Path) -> None:
    """Borders between source and target count, and unknown words match nothing, not even each other."""
    table = read(tmp_path / "t", "a b ||| c ||| 1 1\nx ||| ||| 1 1\n")
    assert table.lookup(["a", "b"], ["c"]) == 0
    assert table.lookup(["x"], []) == 1
    for source, target in [(["a"], ["b", "c"]), (["a", "b", "c"], []), (["a", "?"], ["c"]), (["x"], ["?"]), ([], [])]:
        assert table.lookup(source, target) == -1
    path = tmp_path / "phrases"
    path.write_text("a ? ||| c ||| 1\nx ||| ||| 1\na b ||| c ||| 1\na ||| b c ||| 1\n? ||| ? ||| 1\n")
    assert table.align_to(read_phrase_table(path, cache=False)).tolist() == [-1, 1, 0, -1, -1]


def test_escapes_are_undone_on_both_sides(tmp_path: Path) -> None:
    table = read(tmp_path / "t", "l&apos; ||| &#91; ||| 0.5\n", unescape=True)
    assert table.lookup(["l'"], ["["]) == 0


def test_lenient_reading_takes_the_form_of_the_first_good_row(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "t"
    path.write_text("?\na ||| b ||| 0.5 0.5\nc ||| 0.5 0.5\nd ||| e ||| 0.5 0.5 0.5\nd ||| e ||| 0.5 -1\n")
    for _ in range(2):
        caplog.clear()
        table = read_reordering_table(path, lenient=True)
        assert len(table) == 1
        assert table.by_target
        assert [record.getMessage() for record in caplog.records] == [
            f"{path}: 4 bad rows of 5 skipped; the first: line 1: too few fields; found 1 in '?'; "
            "expected source ||| target ||| scores"
        ]
