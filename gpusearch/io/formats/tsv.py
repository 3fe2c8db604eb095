"""TSV: ``doc_id seg_id text [ref]`` a line, under a header line or without one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpusearch.errors import InputError
from gpusearch.io.corpus import (
    Corpus,
    Origin,
    Segment,
    check_characters,
    check_unique,
    group,
    ids_of,
    lines_of,
)
from gpusearch.io.formats import plain

FORBIDDEN = re.compile("[\t\n\ud800-\udfff]")
_HEADER = re.compile(r"doc(?:ument)?[_-]?(?:id)?\tseg(?:ment)?[_-]?(?:id)?", re.IGNORECASE)


def is_header(names: Sequence[str]) -> bool:
    """Whether a row names the first two columns, such as ``doc_id seg_id`` or ``docid segid``."""
    return _HEADER.fullmatch("\t".join(names[:2])) is not None


def read(data: bytes, path: str) -> Corpus:
    """Read three or four columns, equally many in every line. The template is the header's names, or None."""
    rows = [line.split("\t") for line in lines_of(data, path)]
    columns = len(rows[0]) if rows else 3
    for number, row in enumerate(rows, start=1):
        if len(row) != columns or columns not in (3, 4):
            raise InputError(
                "wrong number of columns",
                path=path,
                line=number,
                found=f"{len(row)}" if any(row) else "an empty line",
                expected=f"{columns} as in line 1" if columns in (3, 4) else "3 or 4 (doc_id, seg_id, text, ref)",
            )
    header = rows.pop(0) if rows and is_header(rows[0]) else None
    first_line = 1 if header is None else 2
    segments = [Segment(row[2], row[3] if columns == 4 else None, row[1] or None) for row in rows]
    documents = group([row[0] for row in rows], segments, path, first_line)
    line = first_line
    for document in documents:
        lines = range(line, line + len(document.segments))
        check_unique("segment", [segment.id for segment in document.segments], lines.__getitem__, path)
        line = lines.stop
    return Corpus(documents, "tsv", path, header)


def write(corpus: Corpus, translations: Sequence[Sequence[str]], origin: Origin) -> bytes:
    """Write ``doc_id seg_id translation``, under the header where there was one."""
    rows = [] if corpus.template is None else [corpus.template[:3]]
    for name, document, texts in zip(ids_of(corpus.documents), corpus.documents, translations, strict=True):
        ids = ids_of(document.segments)
        for item in (name, *ids):
            check_characters(item, FORBIDDEN, "tsv", f"the id {item!r}")
        rows += [[name, *pair] for pair in zip(ids, texts, strict=True)]
    return plain.join(["\t".join(row) for row in rows])
