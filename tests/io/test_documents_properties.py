"""Whatever the texts and ids are, each form gives back what was written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from gpusearch.io.documents import (
    Corpus,
    Document,
    Segment,
    read_documents,
    write_document_ids,
    write_documents,
)
from gpusearch.io.files import read_lines

NASTY = [
    "|||",
    "[X]",
    "<a>",
    "</seg>",
    "&amp;",
    "&#65;",
    "&",
    "]]>",
    "<!--",
    "\u00a0",
    "\u2028",
    "\u0085",
    "\r",
]
NASTY += [
    "",
    " ",
    "  ",
    "é",
    '"',
    "'",
    "\\n",
    "{",
    "#",
    "-",
    "../..",
    "\ud7ff",
    "\ufffd",
    "\U0001f600",
    "a",
    "B",
]
TEXT = st.lists(st.sampled_from(NASTY), max_size=6).map("".join)
ID = TEXT.filter(bool)


def _documents(rows: list[tuple[str, list[str]]]) -> list[Document]:
    return [
        Document(name, [Segment(text, id=f"{place}.{name}") for place, text in enumerate(texts)])
        for name, texts in rows
    ]


CORPORA = st.lists(st.tuples(ID, st.lists(TEXT, min_size=1, max_size=4)), max_size=4, unique_by=lambda row: row[0]).map(
    _documents
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


def hypotheses(corpus: Corpus, path: Path) -> list[list[str]]:
    """The translations in a file, found without the reader where it reads them as something else."""
    if corpus.format == "jsonl":
        lines = path.read_bytes().decode().split("\n")[:-1]
        return [[segment["hyp"] for segment in json.loads(line)["segments"]] for line in lines]
    if corpus.format == "wmt-xml":
        found = etree.parse(path).findall(".//hyp")
        return [[segment.text or "" for segment in item.iter("seg")] for item in found]
    return [[segment.source for segment in document.segments] for document in corpus.documents]


@pytest.mark.parametrize("format", ["text", "tsv", "jsonl", "wmt-xml", "mteval"])
@given(documents=CORPORA, data=st.data())
def test_round_trip(folder: Path, format: str, documents: list[Document], data: st.DataObject) -> None:
    """New documents are written and read, then what was read is written with other translations and read."""
    corpus, path, docids = Corpus(documents, ""), folder / "file", None
    if format == "text":
        docids = folder / "ids"
        write_document_ids(corpus, docids)
    for _ in range(2):
        texts = [[data.draw(TEXT) for _ in document.segments] for document in documents]
        write_documents(corpus, texts, path, format)
        again = read_documents(path, format, docids)
        assert hypotheses(again, path) == texts
        assert [document.id for document in again.documents] == [document.id for document in documents]
        for document, other in zip(again.documents, documents, strict=True):
            if format != "text":
                assert [segment.id for segment in document.segments] == [item.id for item in other.segments]
            if format in ("jsonl", "wmt-xml"):
                assert [item.source for item in document.segments] == [item.source for item in other.segments]
        corpus = again


@pytest.mark.complaint(7)
@given(lines=st.lists(TEXT, max_size=12))
def test_plain_text_keeps_every_line_in_its_place(folder: Path, lines: list[str]) -> None:
    """Complaint 7: for any text, written back unchanged it is the text, but for the blanks in blank lines."""
    path = folder / "text"
    path.write_bytes("".join(line + "\r\n" for line in lines).encode())
    corpus = read_documents(path, "text")
    write_documents(corpus, [[item.source for item in document.segments] for document in corpus.documents], path)
    assert list(read_lines(path)) == [line if line.strip(" \t\r\0") else "" for line in lines]
