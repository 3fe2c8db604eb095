"""The form of a file of documents is recognised by its name, or by what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusearch.io.documents import read_documents
from tests.io.corpora import put
from tests.io.test_documents import CONLLU


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("a", "one line\nanother", "text"),
        ("a", "", "text"),
        ("a", "<a> is a word\n", "text"),
        ("a", "< dataset >\n", "text"),
        ("a", '{ "curly\n', "text"),
        ("a", "a\tb\nc\n", "text"),
        ("a", "the first\tis\ta sentence\n", "text"),
        ("a.txt", "x\t1\ttabs\n", "text"),
        ("a.tsv.gz", "x y\t1\tabc\n", "tsv"),
        ("a", "x\t1\tabc\nx\t2\t\n", "tsv"),
        ("a", "docid segid text and more\n", "text"),
        ("a", "document segment text\n", "text"),
        ("a.txt", "docid segid text\n", "text"),
        ("a", "\n\n", "text"),
        ("a", '{"doc_id": "x", "segments": []}\n', "jsonl"),
        ("a.jsonl.xz", '{"segments": [], "doc_id": "x"}\n', "jsonl"),
        ("a", CONLLU, "conllu"),
        ("a.conllu.fr", CONLLU.removeprefix("# newdoc id = d1\n"), "conllu"),
        ("a.xml", '\ufeff<!-- c -->\n<!DOCTYPE tstset [\n]>\n<tstset setid="a"/>\n', "mteval"),
        ("a", "<RefSet/>", "mteval"),
        ("a.xml", "<dataset/>", "wmt-xml"),
    ],
)
def test_format_is_recognised(tmp_path: Path, name: str, text: str, format: str) -> None:
    assert read_documents(put(tmp_path, name, text)).format == format
