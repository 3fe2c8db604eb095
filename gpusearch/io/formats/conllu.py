"""CoNLL-U, read only: a sentence is a segment; its text is ``# text``, else it is made from the word forms.

https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, Document, Segment, check_unique, lines_of

_COMMENT = re.compile("#[ \t]*([^=]*[^= \t])[ \t]*(?:= ?(.*))?", re.DOTALL)
_TOKEN_ID = re.compile(r"([0-9]+)(?:([-.])([0-9]+))?")
COLUMNS = 10


def read(data: bytes, path: str) -> Corpus:
    """Read documents from ``# newdoc`` to the next, segments with their ``# sent_id``.

    Other comments of the form ``# key = value`` become attributes of the segment. Without any ``# newdoc``
    there is one document without an id.
    """
    lines = lines_of(data, path)
    documents: list[Document] = []
    document_lines: list[int] = []
    segment_lines: list[list[int]] = []
    start = 0
    for end in range(len(lines) + 1):
        if end < len(lines) and lines[end]:
            continue
        if end > start:  # a sentence is lines[start:end]
            comments, first_token = _comments(lines, start, end, path)
            if "newdoc" in comments or "newdoc id" in comments or not documents:
                comments.pop("newdoc", None)
                documents.append(Document(comments.pop("newdoc id", None) or None, []))
                document_lines.append(start + 1)
                segment_lines.append([])
            source = comments.pop("text", None)
            from_forms = _check_tokens(lines[first_token:end], path, first_token + 1)
            name = comments.pop("sent_id", None) or None
            documents[-1].segments.append(
                Segment(from_forms if source is None else source, id=name, attributes=comments)
            )
            segment_lines[-1].append(start + 1)
        start = end + 1
    check_unique("document", [document.id for document in documents], document_lines.__getitem__, path)
    for document, numbers in zip(documents, segment_lines, strict=True):
        check_unique("segment", [segment.id for segment in document.segments], numbers.__getitem__, path)
    return Corpus(documents, "conllu", path)


def _comments(lines: Sequence[str], start: int, end: int, path: str) -> tuple[dict[str, str], int]:
    comments: dict[str, str] = {}
    for place in range(start, end):
        if not lines[place].startswith("#"):
            return comments, place
        match = _COMMENT.fullmatch(lines[place])
        if match is not None and (match[2] is not None or match[1] == "newdoc"):
            comments[match[1]] = match[2] or ""
    raise InputError("a sentence without words", path=path, line=end, expected="word lines after the comments")


def _check_tokens(rows: Sequence[str], path: str, first_line: int) -> str:
    """The text of a sentence from its word forms: a blank after each, unless it says ``SpaceAfter=No``."""
    pieces: list[str] = []
    covered = 0  # the last word of the multi-word token that we are in
    for _, columns, first, last in word_rows(rows, path, first_line):
        if last <= covered:
            continue  # a word inside a multi-word token
        covered = last if last > first else covered
        pieces.append(columns[1])
        if "SpaceAfter=No" not in columns[9].split("|"):
            pieces.append(" ")
    return "".join(pieces).removesuffix(" ")


def word_rows(rows: Sequence[str], path: str, first_line: int) -> Iterator[tuple[int, list[str], int, int]]:
    """Line number, columns, first and last word of each word and multi-word token; empty nodes are passed over.

    Raises:
        InputError: a line with another number of columns, or without an id; names file and line.
    """
    for number, row in enumerate(rows, start=first_line):
        columns = row.split("\t")
        match = _TOKEN_ID.fullmatch(columns[0])
        if len(columns) != COLUMNS or match is None:
            _refuse(row, path, number)
        if match[2] != ".":
            yield number, columns, int(match[1]), int(match[3] or match[1])


def _refuse(row: str, path: str, number: int) -> NoReturn:
    columns = row.split("\t")
    found = f"{len(columns)} columns" if len(columns) != COLUMNS else f"the id {columns[0]!r}"
    expected = f"{COLUMNS} columns between tabs, the first an id such as 7, 7-8 or 7.1"
    raise InputError("not a line of CoNLL-U", path=path, line=number, found=found, expected=expected)
