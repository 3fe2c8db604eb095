"""References from another file, and parallel text: joined by id and place, or refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpusearch.errors import InputError
from gpusearch.io.documents import Corpus, attach_references, read_documents, read_parallel

SOURCE = "a\t1\tone\na\t2\t\nb\t1\ttwo\n"


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def references(corpus: Corpus) -> list[list[str | None]]:
    return [[segment.reference for segment in document.segments] for document in corpus.documents]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("b\tx\tdeux\na\ty\tun\na\tz\t\n", None),  # other order, other segment ids
        ("c\t1\t?\na\t1\tun\na\t2\t\nb\t1\tdeux\n", None),  # a document more
        ("b\t1\t?\tdeux\na\t1\t?\tun\na\t2\t?\t\n", None),  # with references of its own
        (
            '{"doc_id": "b", "segments": [{"src": "deux"}]}\n{"doc_id": "a", "segments": [{"src": "un"}, {"src": ""}]}',
            None,
        ),
        ("deux\nun\n\n", "b\na\na\n"),
        ("un\n\ndeux\n", None),  # plain text, line by line
    ],
)
def test_references_are_joined_by_id_else_by_place(tmp_path: Path, text: str, ids: str | None) -> None:
    corpus = read_documents(put(tmp_path, "source", SOURCE))
    docids = put(tmp_path, "ids", ids) if ids else None
    attach_references(corpus, put(tmp_path, "references", text), docids=docids)
    assert references(corpus) == [["un", ""], ["deux"]]


@pytest.mark.complaint(7)
def test_references_of_plain_text_with_borders(tmp_path: Path) -> None:
    """Complaint 7: borders are no segments, also where the two files have not the same number of them."""
    corpus = read_documents(put(tmp_path, "source", "one\ntwo\n\nthree\n"))
    for text in ("un\ndeux\n\ntrois\n", "\nun\ndeux\n\n\n\ntrois", "un\ndeux\ntrois\n"):
        attach_references(corpus, put(tmp_path, "references", text))
        assert references(corpus) == [["un", "deux"], ["trois"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\t1\tun\na\t2\t\n", "no reference for document 'b'"),
        (
            "a\t1\tun\nb\t1\tdeux\n",
            "the reference of document 'a' has another number of segments; found 1; expected 2",
        ),
        ("un\ndeux\n", "no reference for document 'b'"),
        (
            "x\n\ny\n\nz\nw\n",
            "references of more documents than there are; found 3 documents without ids; expected 2",
        ),
        (
            '{"doc_id": "a", "segments": [{"src": "", "ref": "un"}, {"src": ""}]}\n'
            '{"doc_id": "b", "segments": [{"src": ""}]}\n',
            "no reference for document 'a', segment '2'",
        ),
    ],
)
def test_references_that_do_not_fit_name_the_document(tmp_path: Path, text: str, message: str) -> None:
    corpus = read_documents(put(tmp_path, "source", SOURCE))
    path = put(tmp_path, "references", text)
    with pytest.raises(InputError, match=f"^{re.escape(f'{path}: {message}')}$"):
        attach_references(corpus, path)
    assert references(corpus) == [[None, None], [None]]


def test_parallel_text(tmp_path: Path) -> None:
    source, target = put(tmp_path, "s", "a\u2028b\n\n c \r\n"), put(tmp_path, "t", "x\n\ny")
    assert read_parallel(source, target) == (["a\u2028b", "", " c "], ["x", "", "y"])
    short = put(tmp_path, "short", "x\ny\n")
    message = f"{short}: not as many lines as the source text has; found 2; expected 3 as in {source}"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        read_parallel(source, short)
