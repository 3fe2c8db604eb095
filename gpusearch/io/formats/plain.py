"""Plain text: a segment a line, blank lines as borders of documents; every input line has its output line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from gpusearch.io.corpus import Corpus, Document, Origin, Segment, check_template, lines_of
from gpusearch.io.files import split_blank

FORBIDDEN = re.compile("[\n\ud800-\udfff]")


def read(data: bytes, path: str) -> Corpus:
    """Read documents without ids, separated by lines that hold nothing but blanks.

    The template has the number of border lines before the first document and after each.
    """
    documents: list[Document] = []
    borders = [0]
    for border, run in groupby(lines_of(data, path), key=lambda line: not split_blank(line)):
        lines = list(run)
        if border:
            borders[-1] = len(lines)
        else:
            documents.append(Document(None, [Segment(line) for line in lines]))
            borders.append(0)
    return Corpus(documents, "text", path, borders)


def write(corpus: Corpus, translations: Sequence[Sequence[str]], origin: Origin) -> bytes:
    """Write a line a segment, and the border lines where they were.

    Without a template, documents that have ids follow each other without a border (their ids go into a file
    of their own), others are separated by one blank line.
    """
    borders = corpus.template
    if borders is None:
        borders = [0] + [int(document.id is None) for document in corpus.documents]
        borders[-1] = 0
    check_template(corpus, len(borders) == len(corpus.documents) + 1)
    lines = [""] * borders[0]
    for texts, border in zip(translations, borders[1:], strict=True):
        lines += texts
        lines += [""] * border
    return join(lines)


def join(lines: Sequence[str]) -> bytes:
    """Lines as bytes. A carriage return that ends a text is kept by a CRLF, of which readers drop one."""
    return "".join(line + ("\r\n" if line.endswith("\r") else "\n") for line in lines).encode()
