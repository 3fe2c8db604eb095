"""Ids of documents and segments: those that are there stay, and what has none gets one where its form needs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree

from gpusearch.io.documents import Corpus, Document, Segment, read_documents
from tests.io.corpora import put, texts, written
from tests.io.test_documents import WMT


def test_segments_without_an_id_among_others(tmp_path: Path) -> None:
    """Ids stay; what has none gets its place, told from an id that is the same."""
    segments = ['{"src": "a"}', '{"src": "b", "seg_id": "x"}', '{"src": "c"}', '{"src": "d", "seg_id": "3"}']
    corpus = read_documents(put(tmp_path, "a.jsonl", f'{{"doc_id": "d", "segments": [{", ".join(segments)}]}}\n'))
    assert written(corpus, [[*"ABCD"]], "tsv") == "d\t1\tA\nd\tx\tB\nd\t3'\tC\nd\t3\tD\n"
    for form in ("wmt-xml", "mteval"):
        ids = etree.fromstring(written(corpus, [[*"ABCD"]], form).encode()).xpath("//seg/@id")
        assert ids[:4] == ["1", "x", "3'", "3"]
    again = json.loads(written(corpus, [[*"ABCD"]]))["segments"]
    assert [segment.get("seg_id") for segment in again] == [None, "x", None, "3"]


WORD = "1" + 9 * "\t_" + "\n"
EMPTY_IDS = {
    "tsv": "d\t\ta\nd\tx\tb\nd\t\tc\n",
    "jsonl": '{"doc_id": "d", "segments": [{"seg_id": "", "src": "a"}, {"seg_id": "x", "src": "b"}, {"src": "c"}]}',
    "wmt-xml": '<dataset><doc id="d"><src><seg id="">a</seg><seg id="x">b</seg><seg>c</seg></src></doc></dataset>',
    "mteval": '<srcset><doc docid="d"><seg id="">a</seg><seg id="x">b</seg><seg id="">c</seg></doc></srcset>',
    "conllu": f"# newdoc id =\n# sent_id =\n# text = a\n{WORD}\n# sent_id = x\n# text = b\n{WORD}\n# text = c\n{WORD}",
}


@pytest.mark.parametrize("form", EMPTY_IDS)
def test_an_empty_id_is_none(tmp_path: Path, form: str) -> None:
    """Segments that have none get one where the form of the output needs it, and all that is written can be read."""
    corpus = read_documents(put(tmp_path, f"a.{form}", EMPTY_IDS[form]))
    assert corpus.format == form
    assert [segment.id for segment in corpus.documents[0].segments] == [None, "x", None]
    assert [document.id for document in corpus.documents] == [None if form == "conllu" else "d"]
    for output in ("tsv", "jsonl", "wmt-xml", "mteval"):
        again = read_documents(put(tmp_path, "b", written(corpus, [[*"ABC"]], output)), output)
        assert again.documents[0].id == ("1" if form == "conllu" else "d")
        as_they_were = output == "jsonl" or (output == form and output != "tsv")
        numbered = [None, "x", None] if as_they_were else ["1", "x", "3"]
        assert [segment.id for segment in again.documents[0].segments] == numbered


def test_documents_made_with_empty_ids_are_numbered(tmp_path: Path) -> None:
    corpus = Corpus([Document("", [Segment("a", id="")]), Document("", [Segment("b", id="")])], "")
    for form in ("tsv", "jsonl", "wmt-xml", "mteval"):
        again = read_documents(put(tmp_path, "a", written(corpus, [["A"], ["B"]], form)), form)
        assert [document.id for document in again.documents] == ["1", "2"]


def test_ids_and_attributes_survive_a_change_of_format(tmp_path: Path) -> None:
    corpus = read_documents(put(tmp_path, "a", WMT))
    again = read_documents(put(tmp_path, "b", written(corpus, [["x", "y", "z"], ["w"]], "jsonl")))
    assert texts(again) == texts(corpus)
    assert again.documents[0].attributes == corpus.documents[0].attributes
    assert again.documents[0].segments[0] == Segment("a & b", "A", "1", {"key": "v", "hyp": "x"})
    third = read_documents(put(tmp_path, "c", written(again, [["x", "y", "z"], ["w"]], "wmt-xml")))
    assert texts(third) == texts(corpus)
    assert [segment.reference for segment in third.documents[0].segments] == ["A", "B", "C"]


def test_documents_and_segments_without_ids_are_numbered_where_the_form_needs_ids(tmp_path: Path) -> None:
    corpus = read_documents(put(tmp_path, "a", "a\nb\n\nc\n"))
    assert written(corpus, [["A", "B"], ["C"]], "tsv") == "1\t1\tA\n1\t2\tB\n2\t1\tC\n"
    assert written(Corpus(corpus.documents, ""), [["A", "B"], ["C"]], "text") == "A\nB\n\nC\n"
