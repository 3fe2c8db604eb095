"""Translations and references from files of any form, segment by segment."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from gpusearch.errors import InputError
from gpusearch.io.translations import AlignedTexts, align_translations, read_references, read_translations

WMT = """<?xml version="1.0" encoding="utf-8"?>
<dataset id="x"><doc id="d1"><src lang="fr"><p><seg id="1">un</seg></p><p><seg id="2">deux</seg></p></src>
<ref lang="en"><p><seg id="1">one</seg></p><p><seg id="2">two</seg></p></ref>
<hyp system="A" lang="en"><p><seg id="1">A one</seg></p><p><seg id="2">A two</seg></p></hyp>{more}</doc>
<doc id="d2"><src lang="fr"><p><seg id="1">trois</seg></p></src>
<ref lang="en"><p><seg id="1">three</seg></p></ref>
<hyp system="A" lang="en"><p><seg id="1">A three</seg></p></hyp></doc></dataset>"""

MTEVAL = """<tstset setid="x" srclang="fr" trglang="en" sysid="S">
<doc docid="d2"><seg id="1">C</seg></doc><doc docid="d1"><seg id="1">A</seg><seg id="2">B</seg></doc></tstset>"""


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def sources(path: Path, **options: str) -> list[list[str]]:
    return [[item.source for item in document.segments] for document in read_translations(path, **options).documents]


def test_plain_texts_line_by_line(tmp_path: Path) -> None:
    """Lines blank in all files are borders, lines blank in some are empty segments."""
    one = put(tmp_path, "one", "\na\n\n \nb\nc\n\n")
    two = put(tmp_path, "two", "\nA\nX\n\nB\n\n\n")
    assert align_translations([one], [two]) == AlignedTexts([["a", "", "b", "c"], ["A", "X", "B", ""]], [0, 2])
    packed = tmp_path / "two.gz"
    packed.write_bytes(gzip.compress(two.read_bytes()))
    assert align_translations([one, packed], [two]).texts[1] == ["A", "X", "B", ""]


@pytest.mark.complaint(7)
def test_with_document_ids_every_line_is_a_segment(tmp_path: Path) -> None:
    """Complaint 7: a blank line is an empty segment, and nothing shifts."""
    one, two = put(tmp_path, "one", "a\n\nb\n\n"), put(tmp_path, "two", "A\n\nB\nC\n")
    ids = put(tmp_path, "ids", "x\nx\ny\ny\n")
    assert align_translations([one], [two], ids) == AlignedTexts([["a", "", "b", ""], ["A", "", "B", "C"]], [0, 2])


def test_forms_are_joined_by_document_ids(tmp_path: Path) -> None:
    """The order is that of the first file; segments of plain text follow it line by line."""
    wmt, mteval = put(tmp_path, "w.xml", WMT.format(more="")), put(tmp_path, "m.xml", MTEVAL)
    jsonl = put(
        tmp_path,
        "j.jsonl",
        json.dumps({"doc_id": "d2", "segments": [{"src": "s", "ref": "r3", "hyp": "h3"}]})
        + "\n"
        + json.dumps(
            {"doc_id": "d1", "segments": [{"src": "s", "ref": "r1", "hyp": "h1"}, {"src": "s2", "ref": "r2"}]}
        ),
    )
    plain = put(tmp_path, "plain", "1\n\n3\n")
    tsv = put(tmp_path, "t.tsv", "d1\t1\tt1\nd1\t2\tt2\nd2\t1\tt3\n")
    assert align_translations([wmt, mteval, jsonl, plain], [wmt, jsonl, tsv]) == AlignedTexts(
        [
            ["A one", "A two", "A three"],
            ["A", "B", "C"],
            ["h1", "s2", "h3"],
            ["1", "", "3"],
            ["one", "two", "three"],
            ["r1", "r2", "r3"],
            ["t1", "t2", "t3"],
        ],
        [0, 2],
    )
    assert align_translations([mteval], [wmt]).texts == [["C", "A", "B"], ["three", "one", "two"]]
    assert align_translations([plain], [mteval], put(tmp_path, "ids", "d1\nd1\nd2\n")).texts[1] == ["A", "B", "C"]


def test_systems_of_a_wmt_file(tmp_path: Path) -> None:
    more = '<hyp system="B" lang="en"><p><seg id="1">B one</seg><seg id="2">B two</seg></p></hyp>'
    path = put(tmp_path, "w.xml", WMT.format(more=more))
    assert sources(path, system="A") == [["A one", "A two"], ["A three"]]
    with pytest.raises(InputError) as error:
        read_translations(path)
    assert str(error.value) == (
        f"{path}:2: document 'd1' needs one translation; found A, B; expected one <hyp>; name a system"
    )
    with pytest.raises(InputError) as error:
        read_translations(path, system="B")
    assert str(error.value) == f"{path}:5: document 'd2' has no translation by 'B'; found A"
    assert [item.source for item in read_references(path).documents[0].segments] == ["one", "two"]


def test_references_are_the_text_where_a_file_has_no_others(tmp_path: Path) -> None:
    path = put(tmp_path, "m.xml", MTEVAL)
    assert [item.source for document in read_references(path).documents for item in document.segments] == [
        "C",
        "A",
        "B",
    ]


JSON_LINES = (
    '{"doc_id": "d1", "segments": [{"src": "a"}, {"src": "b"}]}\n{"doc_id": "d2", "segments": [{"src": "c"}]}\n'
)
FAULTS = [
    ("a\nb\n", "a\n", "{two}: another number of lines; found 1; expected 2 as in {one}"),
    (JSON_LINES, "a\nb\n", "{two}: lacks document 'd2' of {one}"),
    (JSON_LINES, "a\n\nb\n\nc\n", "{two}: documents that {one} lacks"),
    (
        JSON_LINES,
        "a\n\nb\nc\n",
        "{two}: another number of segments in document 'd1'; found 1; expected 2 as in {one}",
    ),
    (
        JSON_LINES,
        JSON_LINES.split("\n")[0],
        "{two}: lacks document 'd2' of {one}",
    ),
    (
        JSON_LINES,
        JSON_LINES + '{"doc_id": "d3", "segments": []}\n',
        "{two}: document 'd3' that {one} lacks",
    ),
]


@pytest.mark.parametrize(("first", "second", "message"), FAULTS)
def test_faults(tmp_path: Path, first: str, second: str, message: str) -> None:
    """What does not correspond is an error that names file and document, never a shifted comparison."""
    one, two = put(tmp_path, "one", first), put(tmp_path, "two", second)
    with pytest.raises(InputError) as error:
        align_translations([one], [two])
    assert str(error.value) == message.format(one=one, two=two)


def test_wrong_number_of_document_ids(tmp_path: Path) -> None:
    one, ids = put(tmp_path, "one", "a\nb\n"), put(tmp_path, "ids", "x\n")
    with pytest.raises(InputError) as error:
        align_translations([one], [one], ids)
    assert str(error.value) == f"{ids}: not one document id for every line; found 1 lines; expected 2 as in {one}"
