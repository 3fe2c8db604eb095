"""Phrase tables: equal to a plain reading of the definition, whatever their form and wherever they come from."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import logging
import lzma
import os
import random
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.io import rows as rows_module
from gpusearch.io.columns import Layout
from gpusearch.io.files import read_blocks
from gpusearch.io.phrase_table import STANDARD_COLUMNS, PhraseTable, read_phrase_table
from gpusearch.io.rows import Scores, explain_row
from tests.io.tables import log32, read_naively, table_texts, tokens

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    "": bytes,
}
Rows = list[tuple[tuple[str, ...], list[float], list[tuple[int, int]]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def read(path: Path, text: str | bytes, **options: Any) -> PhraseTable:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_phrase_table(path, cache=False, **options)


def rows_of(table: PhraseTable, source: Sequence[str]) -> Rows:
    first, stop = table.lookup(source)
    return [(tuple(table.target(r)), table.log_scores[r].tolist(), table.points(r)) for r in range(first, stop)]


def assert_equal_to_naive(table: PhraseTable, text: str) -> None:
    naive = read_naively(text)
    assert len(table) == sum(map(len, naive.rows.values()))
    assert len(table.sources) == len(naive.rows)
    assert table.max_source_length == max(map(len, naive.rows))
    for source, rows in naive.rows.items():
        assert rows_of(table, source) == rows
        assert tuple(table.source(table.lookup(source)[0])) == source


@given(text=table_texts())
def test_equals_a_plain_reading(folder: Path, text: str) -> None:
    assert_equal_to_naive(read(folder / "random", text), text)


@pytest.mark.parametrize("suffix", PACKERS)
def test_parity_table_equals_a_plain_reading(folder: Path, parity: Path, suffix: str) -> None:
    packed = parity / "newstest2012.en-fr" / "phrase-table.gz"
    text = gzip.decompress(packed.read_bytes())
    size = 3000 if suffix else 30000
    text = b"\n".join(text.split(b"\n", size)[:size])
    table = read(folder / f"parity{suffix}", PACKERS[suffix](text))
    assert_equal_to_naive(table, text.decode())
    assert table.columns == STANDARD_COLUMNS
    assert {a.dtype.name for a in (table.target_offsets, table.row_offsets, table.alignment_offsets)} == {"int64"}
    assert [a.dtype.name for a in (table.target_words, table.log_scores, table.alignment)] == [
        "int32",
        "float32",
        "uint8",
    ]


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_blocks_and_growth_do_not_show(folder: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Thousands of distinct words and phrases, rows in any order, in blocks that end anywhere."""
    draw = random.Random(size)
    letters = [chr(0x61 + i) for i in range(26)] + ["é", "ж", "語", "𝄞"]
    words = ["".join(draw.choices(letters, k=draw.randint(1, 30))) for _ in range(4000)]
    lines = []
    for _ in range(2000 if size == 1 else 6000):
        source, target = (draw.choices(words, k=draw.randint(1, 7)) for _ in range(2))
        if lines and draw.random() < 0.3:
            source = list(tokens(draw.choice(lines).split("|||")[0]))
        lines.append(f"{' '.join(source)} ||| {' '.join(target)} ||| {draw.random()} {draw.random():.5g} ||| 0-0 ||| x")
    text = "\n".join(lines)
    monkeypatch.setattr(rows_module, "read_blocks", partial(read_blocks, size=size))
    assert_equal_to_naive(read(folder / "grown", text), text)


def test_rows_of_equal_sources_are_gathered_in_their_order(tmp_path: Path) -> None:
    text = "b ||| 1 ||| 1\na ||| 2 ||| 1\nb ||| 3 ||| 1\na b ||| 4 ||| 1\na ||| 2 ||| 0.5\nb ||| 5 ||| 1\n"
    table = read(tmp_path / "t", text)
    assert [table.target(row) for row in range(6)] == [["1"], ["3"], ["5"], ["2"], ["2"], ["4"]]
    assert [table.lookup(words) for words in (["b"], ["a"], ["a", "b"])] == [(0, 3), (3, 5), (5, 6)]


@given(text=table_texts(), data=st.data())
def test_spans_and_batches_agree_with_single_lookups(folder: Path, text: str, data: st.DataObject) -> None:
    table = read(folder / "spans", text)
    known = sorted({word for source in read_naively(text).rows for word in source} | {"not there"})
    words = data.draw(st.lists(st.sampled_from(known), max_size=12))
    longest = data.draw(st.one_of(st.none(), st.integers(1, 9)))
    spans = table.spans(words, longest)
    longest = table.max_source_length if longest is None else longest
    assert spans.shape == (len(words), longest, 2)
    assert spans.dtype == np.int64
    phrases = [words[start : start + length] for start in range(len(words)) for length in range(1, longest + 1)]
    cut = [start + length > len(words) for start in range(len(words)) for length in range(1, longest + 1)]
    batch = table.lookup_batch(phrases)
    for phrase, beyond, by_span, by_batch in zip(phrases, cut, spans.reshape(-1, 2).tolist(), batch, strict=True):
        assert by_batch.tolist() == list(table.lookup(phrase))
        assert by_span == ([0, 0] if beyond else by_batch.tolist())


def test_lookup_of_what_is_not_there(tmp_path: Path) -> None:
    table = read(tmp_path / "t", "a b ||| x ||| 1\n")
    assert [table.lookup(w) for w in ([], ["a"], ["b", "a"], ["c"], ["a", "c"], ["a b"], ["a", "b", "a"])] == [
        (0, 0)
    ] * 7
    assert table.lookup(["a", "b"]) == (0, 1)
    assert table.spans([]).shape == (0, 2, 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", -100.0),
        ("-0.0", -100.0),
        ("0e999", -100.0),
        ("1e-44", -100.0),
        ("1e-999", -100.0),
        ("1e-300", -100.0),
        ("4e-44", log32("4e-44")),
        ("1", 0.0),
        ("+1.000", 0.0),
        (".5", log32("0.5")),
        ("5.", log32("5")),
        ("2.718", log32("2.718")),
        ("1e300", log32("1e300")),
        ("0.99999999999999999999999", 0.0),  # the estimate does not decide: 1 - 1e-23 is nearest to 1
        ("1.0000000000000002220446049250313", 0.0),  # 1 + 2^-52, of which the logarithm is 2^-52
        ("0.000000000000000000000000000000001234567890123456789012345", log32("1.2345678901234568e-33")),
        ("123456789012345678901234567890e-30", log32("0.12345678901234568")),
    ],
)
def test_logarithms(tmp_path: Path, text: str, value: float) -> None:
    table = read(tmp_path / "t", f"a ||| b ||| {text} 0.1\n")
    assert table.log_scores.tolist() == [[log32(text), log32("0.1")]]
    assert value == pytest.approx(log32(text), abs=3e-16)


def test_many_ways_to_write_a_number(tmp_path: Path, repetitions: Callable[[int], int]) -> None:
    """Decimals of any length round as float() has them, then to the nearest float32."""
    draw = random.Random(7)
    written = []
    for _ in range(repetitions(20000)):
        digits = "".join(draw.choices("0123456789", k=draw.randint(1, 25)))
        point = draw.randint(0, len(digits))
        number = digits[:point] + draw.choice([".", ""] if point == len(digits) else ["."]) + digits[point:]
        written.append(number + draw.choice(["", "", f"e{draw.randint(-60, 40)}", f"E+{draw.randint(0, 9)}"]))
    table = read(tmp_path / "t", "".join(f"a ||| b ||| {number}\n" for number in written))
    assert table.log_scores[:, 0].tolist() == [log32(number) for number in written]


@given(
    line=st.one_of(
        st.lists(st.sampled_from([*"ab|-01.e+ \t\r\0&", "|||", " ||| ", "0-0", "nan", "é"]), max_size=30).map("".join),
        table_texts().map(lambda text: text.split("\n")[0]),
    ).map(str.encode),
    change=st.tuples(st.integers(0, 200), st.sampled_from([b"", b"|", b"\xff", b"\xed\xa0\x80", b"-1", b" ", b"x"])),
    lenient=st.booleans(),
)
@settings(max_examples=10 * settings.default.max_examples)
def test_both_judges_of_a_row_agree(folder: Path, line: bytes, change: tuple[int, bytes], lenient: bool) -> None:
    """The compiled parser calls a row bad just where `explain_row` finds a fault, and the error tells it."""
    line = (line[: change[0]] + change[1] + line[change[0] :]).replace(b"\n", b"")
    layout = Layout(2, pair=False, alignment=True, lenient=lenient, unescape=False)
    fault = explain_row(line.removesuffix(b"\r"), layout, Scores(2, "as asked for"))
    path = folder / "judged"
    path.write_bytes(b"good ||| row ||| 1 1\n" + line + b"\n")
    try:
        table = read_phrase_table(path, scores=2, lenient=lenient, cache=False)
    except InputError as error:
        assert fault is not None
        assert str(error) == str(fault.error(path, 2))
        assert fault.what != "row cannot be read"
    else:
        assert len(table) == (1 if fault else 2)
        assert lenient or not fault


def test_lenient_reading_counts_what_it_leaves_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "t"
    path.write_text(
        "bad\na ||| x ||| 0.5 1 ||| 0-0\na ||| y ||| 0.5\nb ||| y z ||| 0.5 0.25 ||| 0-1 7-0 0-2\n\nc ||| y ||| 1 nan\n"
    )
    for _ in range(2):  # afresh, and from the compiled form
        caplog.clear()
        table = read_phrase_table(path, lenient=True)
        assert [(table.source(r), table.target(r), table.points(r)) for r in range(len(table))] == [
            (["a"], ["x"], [(0, 0)]),
            (["b"], ["y", "z"], [(0, 1)]),
        ]
        assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
            (
                logging.WARNING,
                f"{path}: 4 bad rows of 6 skipped; the first: line 1: too few fields; found 1 in 'bad'; "
                "expected source ||| target ||| scores",
            ),
            (logging.WARNING, f"{path}: 2 alignment points outside their phrase pair dropped"),
        ]


@pytest.mark.complaint(2)
def test_columns_that_differ_from_what_is_asked_for(tmp_path: Path) -> None:
    """Complaint 2: tables of any width are read; a width that the caller does not expect is an error at once."""
    text = "a ||| b ||| 0.5 0.25\n"
    assert read(tmp_path / "t", text).log_scores.shape == (1, 2)
    with pytest.raises(InputError, match=r"t:1: wrong number of scores; found 2 \(0.5 0.25\); expected 4 as asked for"):
        read(tmp_path / "t", text, scores=4)


@pytest.mark.complaint(2)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 14, 300])
def test_any_number_of_columns(tmp_path: Path, width: int) -> None:
    """Complaint 2: the number of scores is not built in."""
    scores = " ".join(str(1 / (column + 1)) for column in range(width))
    table = read(tmp_path / "t", f"a ||| b ||| {scores}\n", scores=width)
    assert table.log_scores.tolist() == [[log32(score) for score in scores.split(" ")]]
    assert len(table.columns) == width


@pytest.mark.complaint(3)
def test_columns_have_names_in_any_order(tmp_path: Path) -> None:
    """Complaint 3: the order of columns is the file's; their names are the standard ones, or the caller's."""
    text = "a ||| b ||| 0.1 0.2 0.3 0.4\n"
    assert read(tmp_path / "t", text).columns == ("p(f|e)", "lex(f|e)", "p(e|f)", "lex(e|f)")
    names = ["p(e|f)", "p(f|e)", "lex(e|f)", "lex(f|e)"]
    table = read(tmp_path / "t", text, columns=names)
    assert table.columns == tuple(names)
    assert table.log_scores[0, table.columns.index("p(f|e)")] == np.float32(np.log(0.2))
    with pytest.raises(InputError, match=r"found 4 \(0.1 0.2 0.3 0.4\); expected 2 \(p\(e\|f\), p\(f\|e\)\)"):
        read(tmp_path / "t", text, columns=names[:2])


@pytest.mark.complaint(4)
def test_the_number_of_columns_is_taken_from_the_table(tmp_path: Path) -> None:
    """Complaint 4: nobody has to count columns; rows that differ from the first are named with both numbers."""
    assert read(tmp_path / "t", "a ||| b ||| 1 1 1\n").log_scores.shape == (1, 3)
    with pytest.raises(InputError, match=r"t:2: wrong number of scores; found 1 \(1\); expected 3 as in line 1"):
        read(tmp_path / "t", "a ||| b ||| 1 1 1\na ||| c ||| 1\n")


@pytest.mark.complaint(6)
def test_any_token_is_a_word(tmp_path: Path) -> None:
    """Complaint 6: non-terminals, bars and mark-up of other decoders are words."""
    table = read(
        tmp_path / "t",
        "[X] | a|b ||| <a> [] ((( ||| 1\n[X][X] ||| [b] ||| 1\na|||b||||||0-0\nc||||||1\n",
        scores=1,
        lenient=True,
    )
    assert [(table.source(r), table.target(r)) for r in range(len(table))] == [
        (["[X]", "|", "a|b"], ["<a>", "[]", "((("]),
        (["[X][X]"], ["[b]"]),
        (["c"], []),
    ]


@pytest.mark.complaint(24)
def test_escapes_are_words_unless_the_reader_is_told(tmp_path: Path) -> None:
    """Complaint 24: tables with Moses' escapes give the characters that they stand for, once."""
    text = "l&apos; &#124; &#91;X&#93; ||| &quot;&lt;&gt;&quot; &amp;lt; &amp; &ampx &#124 &amp;&#124; ||| 1\n"
    raw = read(tmp_path / "t", text)
    assert raw.lookup(["l&apos;", "&#124;", "&#91;X&#93;"]) == (0, 1)
    plain = read(tmp_path / "t", text, unescape=True)
    assert plain.lookup(["l'", "|", "[X]"]) == (0, 1)
    assert plain.target(0) == ['"<>"', "&lt;", "&", "&ampx", "&#124", "&|"]


@given(text=table_texts())
def test_unescaping_equals_replacement_with_the_ampersand_last(folder: Path, text: str) -> None:
    table = read(folder / "escaped", text, unescape=True)
    entities = {"&#124;": "|", "&lt;": "<", "&gt;": ">", "&apos;": "'", "&quot;": '"', "&#91;": "[", "&#93;": "]"}

    def plain(words: tuple[str, ...]) -> tuple[str, ...]:
        for entity, character in (*entities.items(), ("&amp;", "&")):
            words = tuple(word.replace(entity, character) for word in words)
        return words

    by_source: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for line in text.removesuffix("\n").split("\n"):
        source, target = line.split("|||")[:2]
        by_source.setdefault(plain(tokens(source)), []).append(plain(tokens(target)))
    for source, targets in by_source.items():
        assert [row[0] for row in rows_of(table, source)] == targets


@pytest.mark.complaint(25)
def test_unicode_spaces_do_not_split_words(tmp_path: Path) -> None:
    """Complaint 25: a no-break space is part of a word, as it is for Moses and KenLM."""
    table = read(tmp_path / "t", "a\u00a0b\tc ||| d\u3000e \u2009 ||| 1\n")
    assert table.lookup(["a\u00a0b", "c"]) == (0, 1)
    assert table.target(0) == ["d\u3000e", "\u2009"]


@pytest.mark.complaint(26)
def test_line_separators_do_not_end_rows(tmp_path: Path) -> None:
    """Complaint 26: a row ends at a newline only; a carriage return is a blank."""
    table = read(tmp_path / "t", "a\u2028b\x0bc\x85 ||| d\rr ||| 1\r\nb ||| \r ||| 1\r\n".encode())
    assert [(table.source(r), table.target(r)) for r in range(2)] == [
        (["a\u2028b\x0bc\x85"], ["d", "r"]),
        (["b"], []),
    ]


@pytest.mark.complaint(33)
@pytest.mark.parametrize("suffix", PACKERS)
def test_tables_come_from_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suffix: str) -> None:
    """Complaint 33: `-` is standard input, compressed or not; nothing is left on disk."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKERS[suffix](b"a ||| b ||| 0.5\n"))))
    table = read_phrase_table("-")
    assert rows_of(table, ["a"]) == [(("b",), [log32("0.5")], [])]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a ||| b ||| x\n")))
    with pytest.raises(InputError, match=r"^standard input:1: score 1 is not a probability; found x"):
        read_phrase_table("-")
    assert not os.listdir(tmp_path)


@pytest.mark.complaint(33)
def test_tables_come_from_pipes(tmp_path: Path) -> None:
    """Complaint 33: a named pipe, as `<(zcat table.gz)` makes it, is read once and to its end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = gzip.compress(b"".join(b"w%d ||| v ||| 0.5 ||| 0-0\n" % i for i in range(20000)))
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    table = read_phrase_table(pipe)
    writer.join()
    assert len(table) == 20000
    assert os.listdir(tmp_path) == ["pipe"]


def test_deletions_blank_lines_at_the_end_and_empty_tables(tmp_path: Path) -> None:
    table = read(tmp_path / "t", "a ||| ||| 1 ||| \n")
    assert (table.target(0), table.points(0)) == ([], [])
    assert len(read(tmp_path / "t", "", scores=3)) == 0
    assert read(tmp_path / "t", "", scores=3).spans(["a"]).shape == (1, 0, 2)
    with pytest.raises(InputError, match="t:2: too few fields; found an empty line"):
        read(tmp_path / "t", "a ||| b ||| 1\n\n")


def test_arrays_cannot_be_written_to(tmp_path: Path) -> None:
    """So that nobody writes into a mapped file, nor finds out only when the compiled form is used."""
    path = tmp_path / "t"
    path.write_text("a ||| b ||| 1\n")
    for table in (read_phrase_table(path), read_phrase_table(path), read_phrase_table(path, cache=False)):
        for array in (table.log_scores, table.target_words, table.sources.data):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0


def test_longest_phrases(tmp_path: Path) -> None:
    long = " ".join(f"w{i}" for i in range(255))
    table = read(tmp_path / "t", f"{long} ||| {long} ||| 1 ||| 254-254 0-0\n")
    assert table.points(0) == [(254, 254), (0, 0)]
    assert table.max_source_length == 255
    assert table.spans(long.split(" "))[0, 254].tolist() == [0, 1]
    text = f"{long} ||| {long} x ||| 1\n"
    with pytest.raises(InputError, match="t:1: phrase too long; found 256 words; expected at most 255"):
        read(tmp_path / "t", text)


def test_equal_hashes_do_no_harm(tmp_path: Path) -> None:
    """100,000 phrases in a table that is at most half full: every one is found, and none that is not there."""
    pairs = list(itertools.product(range(400), range(250)))
    text = "".join(f"w{a} v{b} ||| {a} ||| 1\n" for a, b in pairs)
    table = read(tmp_path / "t", text)
    found = table.lookup_batch([[f"w{a}", f"v{b}"] for a, b in pairs])
    assert found[:, 0].tolist() == list(range(100_000))
    assert not table.lookup_batch([[f"v{b}", f"w{a}"] for a, b in pairs]).any()
