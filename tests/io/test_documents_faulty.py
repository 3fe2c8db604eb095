"""Faulty files of documents, and translations that cannot be written: each with its exact message."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

import pytest

from gpusearch.errors import InputError
from gpusearch.io.documents import (
    Corpus,
    Document,
    Segment,
    read_documents,
    write_document_ids,
    write_documents,
)

FOLDER = Path(__file__).parent.parent / "data" / "faulty" / "documents"
TABLE = [line.split("\t") for line in (FOLDER / "messages.tsv").read_text().split("\n")[1:-1]]


@pytest.mark.parametrize(("file", "docids", "message"), TABLE, ids=[f"{row[0]}-{row[1]}" for row in TABLE])
def test_faulty_file(monkeypatch: pytest.MonkeyPatch, file: str, docids: str, message: str) -> None:
    monkeypatch.chdir(FOLDER)
    with pytest.raises(InputError) as error:
        read_documents(file, docids=docids or None)
    assert str(error.value) == message
    assert error.value.exit_code == 2


def test_every_faulty_file_has_its_message() -> None:
    assert set(os.listdir(FOLDER)) - {"messages.tsv"} == {
        name for row in TABLE for name in row[:2] if name and not name.startswith("absent")
    } | {"three.tsv"}


@pytest.mark.parametrize("attribute", ["", "&j;"])
def test_entities_that_multiply_are_refused_at_once(tmp_path: Path, attribute: str) -> None:
    """A billion laughs, in a text and in an attribute: neither memory nor time is spent on them."""
    names = "abcdefghij"
    lines = [f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in itertools.pairwise(names)]
    path = tmp_path / "laughs.xml"
    path.write_text(
        f'<?xml version="1.0"?><!DOCTYPE dataset [<!ENTITY a "aaaa">{"".join(lines)}]>'
        f'<dataset id="{attribute}"><doc id="d"><src><seg>&j;</seg></src></doc></dataset>'
    )
    with pytest.raises(InputError, match=r"laughs.xml:1: (an entity declaration|not well-formed XML; found Maximum)"):
        read_documents(path)


LONG = 70_000
"""Lines before the documents of a long file: libxml2 counts up to 65,535."""
TWICE = "{3}: document id 'a' repeats; found its first use in line {1};"


@pytest.mark.parametrize(
    ("root", "document", "message"),
    [
        ("<dataset>", '<doc id="a"><src><p><seg id="1"/></p></src></doc>', TWICE),
        ("<dataset>", '<doc\nid="a"><src><seg id="s"/>\n<seg id="s"/></src></doc>', "{3}: segment id 's' .* line {2};"),
        ("<dataset>", '<doc id="a"><ref/></doc>', "{1}: document 'a' needs one <src>"),
        ("<dataset>", '<doc id="a"><src/>\n<ref><seg/></ref></doc>', "{2}: the reference of document 'a' has"),
        ("<dataset>", '<doc id=""><src/></doc>', "{1}: a document without an id"),
        ("<dataset>", "<doc/>\n<!-- &a; --><doc>&b;</doc>", "{2}: an unknown entity; found &b;"),
        ("<dataset>", "\n<doc><b></doc>", "{2}: not well-formed XML; found Opening and ending tag mismatch"),
        ("<mteval><srcset>", '<doc docid="a"><seg id="1"/></doc>', TWICE),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
def test_lines_beyond_those_that_libxml2_counts(
    tmp_path: Path, root: str, document: str, message: str, encoding: str
) -> None:
    """The line of a fault is the right one in a long file, too, whatever its encoding."""
    head = f"<?xml version='1.0' encoding='{encoding}'?><!DOCTYPE dataset SYSTEM 'x.dtd'><!-- é -->"
    ends = "".join(f"</{name}>" for name in re.findall(r"\w+", root)[::-1])
    path = tmp_path / "long.xml"
    path.write_bytes((head + root + "\n" * LONG + document + "\n\n" + document + ends).encode(encoding))
    with pytest.raises(InputError, match="long.xml:" + message.format(*range(LONG, LONG + 5))):
        read_documents(path)


def test_lines_of_a_long_file_of_sgml(tmp_path: Path) -> None:
    document = "<DOC DOCID=a><SEG ID=1> & </SEG></DOC>"
    path = tmp_path / "long.sgm"
    path.write_text("<SRCSET>" + "\n" * LONG + document + "\n\n" + document + "</SRCSET>")
    with pytest.raises(InputError, match="long.sgm:" + TWICE.format(*range(LONG, LONG + 5))):
        read_documents(path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<seg>{}</seg>", "Resource limit exceeded: Text node too long"),
        ("<seg id='{}'/>", "Resource limit exceeded: Buffer size limit exceeded"),
    ],
)
def test_texts_that_are_too_long_for_xml(tmp_path: Path, text: str, found: str) -> None:
    """The limits are libxml2's own, which keep entities from multiplying; its advice is to programmers."""
    path = tmp_path / "large.xml"
    path.write_text(f"<?xml version='1.0'?>\n<dataset>{text.format('a' * 10_000_001)}</dataset>")
    with pytest.raises(InputError) as error:
        read_documents(path)
    assert str(error.value) == (
        f"{path}:2: too large for XML; found {found}; "
        "expected texts of at most 10 MB, elements at most 256 deep; write the documents as JSONL"
    )


CORPUS = Corpus([Document("a", [Segment("x", id="s1"), Segment("y", id="s2")]), Document(None, [Segment("z")])], "text")


@pytest.mark.parametrize(
    ("translations", "message"),
    [
        (
            [["X"], ["Z"]],
            "document 'a', segment 's2' has no translation; found 1 translations of the document; expected 2",
        ),
        (
            [["X", "Y"], ["Z", "Z"]],
            "document 2 has translations after its last segment, number 1; "
            "found 2 translations of the document; expected 1",
        ),
        ([["X", "Y"]], "document 2 has no translation; found 1 documents; expected 2"),
        (
            [["X", "Y"], ["Z"], []],
            "translations of documents that the corpus lacks; found 3 documents; expected 2",
        ),
        (
            [["X", "Y"], ["a\nb"]],
            "the translation of document 2, segment 1 has a character that the format text cannot hold; "
            'found U+000A as character 2; write the format "jsonl", which holds any text',
        ),
    ],
)
@pytest.mark.complaint(7)
def test_translations_that_do_not_fit(tmp_path: Path, translations: list[list[str]], message: str) -> None:
    """Complaint 7: what would shift the numbering of lines is an error, and the old file stays as it was."""
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        write_documents(CORPUS, translations, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("format", "text", "character"),
    [
        ("tsv", "a\tb", "U+0009"),
        ("tsv", "a\n", "U+000A"),
        ("jsonl", "\ud83d", "U+D83D"),
        ("wmt-xml", "a\x0b", "U+000B"),
        ("wmt-xml", "\x00", "U+0000"),
        ("mteval", "\ufffe", "U+FFFE"),
        ("mteval", "\udc00", "U+DC00"),
    ],
)
def test_characters_that_a_form_cannot_hold(tmp_path: Path, format: str, text: str, character: str) -> None:
    with pytest.raises(
        InputError, match=f"document 'a', segment 's2' .* {format} cannot .* found {re.escape(character)}"
    ):
        write_documents(CORPUS, [["X", text], ["Z"]], tmp_path / "out", format)
    odd = Corpus([Document(f"i{text}", [Segment("x")])], "")
    if format != "jsonl":
        with pytest.raises(InputError, match=f"id .* {format} cannot .* {re.escape(character)}"):
            write_documents(odd, [["X"]], tmp_path / "out", format)
    if "xml" in format:
        with pytest.raises(InputError, match=f"{re.escape(character)}"):
            write_documents(Corpus([Document("a", [Segment(text)])], ""), [["X"]], tmp_path / "out", format)
    assert not os.listdir(tmp_path)


def test_unknown_formats_are_named() -> None:
    with pytest.raises(InputError, match=r"unknown format of documents; found 'xml'; expected text \| tsv \| jsonl"):
        read_documents(os.devnull, "xml")
    with pytest.raises(InputError, match=r"no format to write documents in; found 'conllu'; expected text \| tsv"):
        write_documents(CORPUS, [["X", "Y"], ["Z"]], "-", "conllu")


def test_document_id_with_a_line_break_has_no_line_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the document id 'a\\nb' has a character .* U\+000A"):
        write_document_ids(Corpus([Document("a\nb", [Segment("x")])], ""), tmp_path / "ids")


@pytest.mark.parametrize(
    "text", ["a\n\nb\n", '<dataset><doc id="a"><src/></doc></dataset>', '<srcset><doc docid="a"/></srcset>']
)
def test_corpus_that_was_changed_is_not_written_in_the_form_of_its_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in"
    path.write_text(text)
    corpus = read_documents(path)
    corpus.documents.append(Document("new", [Segment("c")]))
    translations = [["x"] * len(document.segments) for document in corpus.documents]
    with pytest.raises(InputError, match="documents or segments were added or taken away after reading"):
        write_documents(corpus, translations, tmp_path / "out")
    corpus.template = None
    write_documents(corpus, translations, tmp_path / "out")
