"""Word alignments from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpusearch.errors import InputError
from gpusearch.train.corpus import ParallelCorpus, read_corpus
from gpusearch.train.links import Links, make_links, read_links


@pytest.fixture
def corpus(tmp_path: Path) -> ParallelCorpus:
    """Lines 1, 3 and 4 are pairs; line 2 has an empty side, line 5 too many words."""
    (tmp_path / "s").write_text("a b\n\na\nb a\na a a a\n")
    (tmp_path / "t").write_text("x y z\nx\nx\ny x\nx\n")
    return read_corpus(tmp_path / "s", tmp_path / "t", 3)


def test_lines_that_make_no_pair_have_their_line_of_alignment_too(corpus: ParallelCorpus, tmp_path: Path) -> None:
    assert (corpus.empty, corpus.long, corpus.lines.tolist()) == (1, 1, [0, 2, 3])
    (tmp_path / "a").write_text("1-2 0-0\n7-7\n\n0-1\t1-0  0-1\n0-0\n")
    links = read_links(tmp_path / "a", corpus)
    assert [links.of(number) for number in range(3)] == [[(0, 0), (1, 2)], [], [(0, 1), (1, 0)]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "0-0\n\n0-0\n",
            "not one line of alignment for every sentence pair; found 3; expected 5, as many as lines of text",
        ),
        (
            "0000000000-0\n\n\n\n\n",
            "1: not an alignment point; found 0000000000-0; expected source-target, such as 0-0",
        ),
        ("0-0 1:1\n\n\n\n\n", "1: not an alignment point; found 1:1; expected source-target, such as 0-0"),
        (
            "\n\n0-1\n\n\n",
            "3: alignment point outside of the sentence pair; found 0-1; "
            "expected places from 0 within 1 source and 1 target words; "
            "the alignment must be of the tokens as training makes them",
        ),
    ],
)
def test_faults_name_the_line(corpus: ParallelCorpus, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_links(path, corpus)
    separator = ":" if message[0].isdigit() else ": "
    assert str(caught.value) == f"{path}{separator}{message}"


def test_links_and_corpus_are_read_back(corpus: ParallelCorpus, tmp_path: Path) -> None:
    links = make_links([[(0, 1)], [], [(1, 0), (0, 0)]])
    links.save(tmp_path / "links")
    corpus.save(tmp_path / "corpus")
    again, same = Links.load(tmp_path / "links"), ParallelCorpus.load(tmp_path / "corpus")
    assert [again.of(number) for number in range(3)] == [[(0, 1)], [], [(0, 0), (1, 0)]]
    assert (same.total, same.empty, same.long) == (5, 1, 1)
    for side, other in ((corpus.source, same.source), (corpus.target, same.target)):
        assert side.vocabulary == other.vocabulary
        assert np.array_equal(side.words, other.words) and np.array_equal(side.offsets, other.offsets)


def test_words_of_lines_that_are_left_out_are_in_no_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a\nonly\nb\n")
    (tmp_path / "t").write_text("x\n\ny\n")
    corpus = read_corpus(tmp_path / "s", tmp_path / "t", 9)
    assert corpus.source.vocabulary == ["a", "b"]
    assert corpus.source.words.tolist() == [1, 2]


def test_texts_that_do_not_match_are_an_error(tmp_path: Path) -> None:
    source, target = tmp_path / "s", tmp_path / "t"
    source.write_text("a\nb\n")
    target.write_text("x\n")
    with pytest.raises(InputError) as caught:
        read_corpus(source, target, 9)
    assert (
        str(caught.value) == f"{target}: not as many lines as the source text has; found 1; expected 2 as in {source}"
    )
    target.write_text("\n\n")
    with pytest.raises(
        InputError, match="no sentence pair can be used; found 2 lines, 2 with an empty side, 0 with more than 9"
    ):
        read_corpus(source, target, 9)
