"""N-best lists: Moses' own lines come back to the letter."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.io.nbest import NBestEntry, format_n_best, parse_n_best, read_n_best

LINE = "0 ||| le chat dort  ||| Distortion0= -2 LM0= -1.5 TM= -1e-05 -100 ||| -6.89748"


def test_fields_by_hand() -> None:
    entry = parse_n_best(LINE + " ||| 1-2=0-1 0=2 ||| 1-0 2-1 0-2 ")
    assert entry == NBestEntry(
        0,
        ("le", "chat", "dort"),
        (("Distortion0", (-2.0,)), ("LM0", (-1.5,)), ("TM", (-1e-5, -100.0))),
        -6.89748,
        ((1, 3, 0, 2), (0, 1, 2, 3)),
        ((1, 0), (2, 1), (0, 2)),
    )
    assert entry.phrases == [(1, 3, ["le", "chat"]), (0, 1, ["dort"])]
    assert format_n_best(entry) == LINE + " ||| 1-2=0-1 0=2 ||| 1-0 2-1 0-2 "
    assert format_n_best(entry, spans_in_text=True).split(" ||| ")[1] == "le chat |1-2| dort |0-0| "


@pytest.mark.parametrize("more", ["", " ||| 0=0 1=1 2=2", " ||| 0-0 1-1 ", " ||| 0=0 1-2=1-2 ||| "])
def test_fields_that_may_be_absent(more: str) -> None:
    assert format_n_best(parse_n_best(LINE + more)) == LINE + more


@pytest.mark.complaint(7)
@pytest.mark.parametrize("line", ["3 |||  ||| LM0= 0 ||| 0", "3 |||  ||| LM0= 0 ||| 0 |||  ||| "])
def test_an_empty_sentence(line: str) -> None:
    entry = parse_n_best(line)
    assert (entry.sentence, entry.words, entry.total) == (3, (), 0.0)
    assert format_n_best(entry) == line


def test_a_list_without_names_of_features() -> None:
    entry = parse_n_best("1 ||| a  ||| -1 -2 ||| -3")
    assert entry.features == (("", (-1.0, -2.0)),)
    assert format_n_best(entry) == "1 ||| a  ||| -1 -2 ||| -3"


@pytest.mark.complaint(15)
@pytest.mark.parametrize(
    "name",
    [
        "newstest2012.en-fr/moses.lr.nbest.gz",
        "newstest2012.en-fr/moses.nolr.nbest.gz",
        "laws100k.fr-en/moses.cube500.first300.nbest.gz",
    ],
)
def test_lines_of_moses_come_back_to_the_letter(parity: Path, name: str) -> None:
    """With spans in the text (`-t`), segmentation and alignment; and the spans of text and segmentation agree."""
    lines = gzip.decompress((parity / name).read_bytes()).decode("utf-8").split("\n")[:-1]
    entries = list(read_n_best(parity / name))
    assert len(lines) == len(entries) > 600
    for line, entry in zip(lines, entries, strict=True):
        assert format_n_best(entry, spans_in_text="newstest" in name) == line


words = st.lists(
    st.text("ab|é-= \u00a0".replace(" ", ""), min_size=1, max_size=4).filter(lambda w: w != "|||"), max_size=6
)
numbers = st.floats(-1e6, 1e6).map(lambda x: float(f"{x:g}") + 0.0)


@st.composite
def entries(draw: st.DrawFn) -> NBestEntry:
    said = tuple(draw(words))
    borders = sorted(draw(st.sets(st.integers(0, len(said)), max_size=3)) | {0, len(said)})
    segments = tuple((k, k + 1 + k % 2, a, b) for k, (a, b) in enumerate(pairwise(borders)))
    points = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=4)
    return NBestEntry(
        draw(st.integers(0, 99)),
        said,
        tuple(
            (f"F{k}", tuple(draw(st.lists(numbers, min_size=1, max_size=3)))) for k in range(draw(st.integers(1, 3)))
        ),
        draw(numbers),
        segments if draw(st.booleans()) else None,
        tuple(draw(points)) if draw(st.booleans()) else None,
    )


@given(entries())
def test_what_is_written_is_read_back(entry: NBestEntry) -> None:
    again = parse_n_best(format_n_best(entry))
    assert format_n_best(again) == format_n_best(entry)
    assert again.words == entry.words and again.features == entry.features and again.total == entry.total


@pytest.mark.parametrize(
    "line",
    [
        "",
        "0 ||| a",
        "x ||| a  ||| F= 1 ||| 2",
        "0 ||| a  ||| F= y ||| 2",
        "0 ||| a  ||| F= inf ||| 2",
        "0 ||| a  ||| nan ||| 2",
        "0 ||| a  ||| F= 1 ||| -inf",
        LINE + " ||| 0+0",
    ],
)
def test_faulty_lines_are_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text(f"{LINE}\n{line}\n")
    with pytest.raises(InputError, match=r"list:2: not a line of an n-best list"):
        list(read_n_best(path))


def test_a_word_that_looks_like_a_border_is_an_error() -> None:
    with pytest.raises(InputError, match=r"a word that an n-best list cannot hold; found \|\|\|"):
        format_n_best(NBestEntry(0, ("a", "|||"), (), 0.0))
    with pytest.raises(InputError, match=r"a word that an n-best list cannot hold; found 'a\\nb'"):
        format_n_best(NBestEntry(0, ("a\nb",), (), 0.0))
