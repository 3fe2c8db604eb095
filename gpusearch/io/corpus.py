"""What every reader of documents returns and every writer takes, and the checks that all of them share."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from gpusearch.errors import InputError
from gpusearch.io.files import decode_lines


@dataclass
class Segment:
    """One piece of text that is translated as a whole: a line, a ``seg``, a sentence; it may be empty.

    ``attributes`` is what else the file says of it: text from XML and CoNLL-U, any JSON value from JSONL.
    """

    source: str
    reference: str | None = None
    id: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Document:
    """Segments in order. The id is None where the file has none; unique in its corpus, never a path."""

    id: str | None
    segments: list[Segment]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Corpus:
    """The documents of one file.

    ``template`` is what the writer of ``format`` needs to write the same form again; set it to None after
    documents were added or taken away. ``path`` is for messages.
    """

    documents: list[Document]
    format: str
    path: str = "-"
    template: Any = None


@dataclass(frozen=True)
class Origin:
    """Who made a translation, and its language: XML forms say so."""

    system: str
    language: str | None = None


def lines_of(data: bytes, path: str) -> list[str]:
    """The lines of a text file that is in memory."""
    return list(decode_lines(io.BytesIO(data), path))


def describe(document: Document, position: int) -> str:
    """A document's name for a message: its id, else its place in the corpus (``position`` counts from 0)."""
    return f"document {position + 1}" if document.id is None else f"document {document.id!r}"


def describe_segment(document: Document, position: int, segment: int) -> str:
    """A segment's name for a message; both positions count from 0."""
    name = document.segments[segment].id
    return f"{describe(document, position)}, segment {segment + 1 if name is None else repr(name)}"


def id_or_place(item: Document | Segment, place: int) -> str | int:
    """What names a document or segment in rows of JSON: its id, else its place, which counts from 1."""
    return place if item.id is None else item.id


def ids_of(items: Sequence[Document] | Sequence[Segment]) -> list[str]:
    """Their ids; those that have none get their place, counted from 1, with marks that tell it from the others' ids.

    An empty id is none: most forms cannot hold it.
    """
    given = [item.id or None for item in items]
    taken = set(given)
    ids = []
    for place, name in enumerate(given, start=1):
        made = str(place)
        while made in taken:
            made += "'"
        ids.append(made if name is None else name)
    return ids


def check_unique(kind: str, ids: Iterable[str | None], line: Callable[[int], int], path: str) -> None:
    """Refuse an id that was there before, and name both lines.

    Args:
        kind: "document" or "segment".
        line: the line of the item at a place, from 0; asked for only where an id repeats.
    """
    scope = "file" if kind == "document" else "document"
    first: dict[str, int] = {}
    for place, name in enumerate(ids):
        if name is None:
            continue
        if name in first:
            raise InputError(
                f"{kind} id {name!r} repeats",
                path=path,
                line=line(place),
                found=f"its first use in line {line(first[name])}",
                expected=f"every {kind} id once in a {scope}",
            )
        first[name] = place


def group(ids: Sequence[str], segments: Sequence[Segment], path: str, first_line: int = 1) -> list[Document]:
    """Documents from one document id a line, where the lines of a document stand together."""
    documents: list[Document] = []
    starts: dict[str, int] = {}
    place = 0
    for name, run in groupby(ids):
        length = len(list(run))
        line = place + first_line
        if not name:
            raise InputError("no document id", path=path, line=line, expected="an id for every line")
        if name in starts:
            raise InputError(
                f"the lines of document {name!r} do not stand together",
                path=path,
                line=line,
                found=f"other documents between this line and its first, line {starts[name]}",
                hint="sort the lines by document",
            )
        starts[name] = line
        documents.append(Document(name, list(segments[place : place + length])))
        place += length
    return documents


def check_counts(corpus: Corpus, texts: Sequence[Sequence[str]]) -> None:
    """Refuse translations that are not one a segment, and name the first document and segment that differ."""
    for position, (document, have) in enumerate(zip(corpus.documents, texts, strict=False)):
        want = len(document.segments)
        if len(have) < want:
            raise InputError(
                f"{describe_segment(document, position, len(have))} has no translation",
                found=f"{len(have)} translations of the document",
                expected=f"{want}",
            )
        if len(have) > want:
            raise InputError(
                f"{describe(document, position)} has translations after its last segment, number {want}",
                found=f"{len(have)} translations of the document",
                expected=f"{want}",
            )
    if len(texts) != len(corpus.documents):
        what = "translations of documents that the corpus lacks"
        if len(texts) < len(corpus.documents):
            what = f"{describe(corpus.documents[len(texts)], len(texts))} has no translation"
        raise InputError(what, found=f"{len(texts)} documents", expected=f"{len(corpus.documents)}")


def check_characters(
    text: str,
    forbidden: re.Pattern[str],
    format: str,
    place: str,
    *,
    path: str | None = None,
    line: int | None = None,
) -> None:
    """Refuse a text with a character that the form cannot hold; `path` and `line` say where it comes from."""
    match = forbidden.search(text)
    if match is not None:
        raise InputError(
            f"{place} has a character that the format {format} cannot hold",
            path=path,
            line=line,
            found=f"U+{ord(match[0]):04X} as character {match.start() + 1}",
            hint='write the format "jsonl", which holds any text' if format != "jsonl" else None,
        )


def check_template(corpus: Corpus, fits: bool) -> None:
    """Refuse a corpus whose documents are no longer those of its file."""
    if not fits:
        raise InputError(
            "documents or segments were added or taken away after reading",
            path=corpus.path,
            hint="set the corpus's template to None to write it from new",
        )


def line_numbers(corpus: Corpus) -> tuple[list[list[int]], int]:
    """The line of each segment, from 0, and the number of lines, in a file that goes line by line with the input.

    In plain text the border lines count; in other forms a line is a segment.
    """
    borders = corpus.template if corpus.format == "text" and corpus.template is not None else None
    line, numbers = borders[0] if borders else 0, []
    for place, document in enumerate(corpus.documents):
        numbers.append(list(range(line, line + len(document.segments))))
        line += len(document.segments) + (borders[place + 1] if borders else 0)
    return numbers, line
