"""Documents to translate, and translations of documents, in all the forms that a user may have them in.

======== ===========================================================================================
text      a segment a line; blank lines as borders of documents, or a file with the document id of each
          line (a blank line is then an empty segment)
tsv       ``doc_id seg_id text [ref]``
jsonl     a document a line: ``{"doc_id": …, "segments": [{"src": …, "ref": …}, …]}``
wmt-xml   ``dataset > doc > src > p > seg``
mteval    ``srcset``, ``refset`` or ``tstset``; XML or SGML
conllu    ``# newdoc id``, ``# sent_id``, ``# text``; read only
======== ===========================================================================================

Texts are taken as they are: lines end at ``\\n`` (or CRLF) only, nothing is trimmed, unescaped or collapsed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO

from gpusearch.errors import InputError
from gpusearch.io import files
from gpusearch.io.candidates import Candidate
from gpusearch.io.corpus import (
    Corpus,
    Document,
    Origin,
    Segment,
    check_characters,
    check_counts,
    describe,
    describe_segment,
    group,
    ids_of,
    lines_of,
)
from gpusearch.io.formats import conllu, jsonl, mteval, plain, tsv, wmt_xml
from gpusearch.io.formats.recognise import recognise

__all__ = [
    "FORMATS",
    "Corpus",
    "Document",
    "Segment",
    "attach_references",
    "read_documents",
    "read_parallel",
    "write_document_ids",
    "write_documents",
]

_READERS: dict[str, Callable[[bytes, str], Corpus]] = {
    "text": plain.read,
    "tsv": tsv.read,
    "jsonl": jsonl.read,
    "wmt-xml": wmt_xml.read,
    "mteval": mteval.read,
    "conllu": conllu.read,
}
_WRITERS = {"text": plain, "tsv": tsv, "jsonl": jsonl, "wmt-xml": wmt_xml, "mteval": mteval}
FORMATS = tuple(_READERS)


def read_documents(path: str | Path, format: str | None = None, docids: str | Path | None = None) -> Corpus:
    """Read a file of documents.

    Args:
        path: the file, compressed or not; ``-`` is standard input.
        format: one of :data:`FORMATS`; recognised from the name and the content where it is None.
        docids: for text and CoNLL-U: a file with the document id of each segment, one a line.

    Raises:
        InputError: names file, line, what was found and what was expected.
    """
    return _read(files.read_bytes(path), str(path), format, docids)


def _read(data: bytes, path: str, format: str | None, docids: str | Path | None) -> Corpus:
    if format is None:
        format = recognise(data, path)
        if docids is not None and format == "tsv":  # lines with tabs in them
            format = "text"
    if format not in _READERS:
        raise InputError("unknown format of documents", found=repr(format), expected=" | ".join(FORMATS))
    if docids is None:
        return _READERS[format](data, path)
    if format not in ("text", "conllu"):
        raise InputError(f"a file of document ids for the format {format}, which has its own", path=docids)
    if format == "text":
        segments = [Segment(line) for line in lines_of(data, path)]
    else:
        segments = [item for document in conllu.read(data, path).documents for item in document.segments]
    ids = list(files.read_lines(docids))
    if len(ids) != len(segments):
        raise InputError(
            "not one document id for every segment",
            path=docids,
            found=f"{len(ids)} lines",
            expected=f"{len(segments)}, as many as segments in {path}",
        )
    return Corpus(group(ids, segments, str(docids)), format, path)


def check_candidates(candidates: Iterable[Candidate], format: str) -> None:
    """Refuse candidates whose texts the output cannot hold, before the work begins.

    Raises:
        InputError: a character that has no place there; names file and line.
    """
    for one in candidates:
        place = f"a candidate of segment {one.segment}"
        check_characters(one.text, _WRITERS[format].FORBIDDEN, format, place, path=one.path, line=one.line)


def check_frozen(corpus: Corpus, texts: Mapping[tuple[int, int], str], format: str) -> None:
    """`check_candidates` for the translations of frozen segments, by document and segment."""
    for (position, place), text in texts.items():
        name = f"the frozen translation of {describe_segment(corpus.documents[position], position, place)}"
        check_characters(text, _WRITERS[format].FORBIDDEN, format, name, path=corpus.path)


def write_documents(
    corpus: Corpus,
    translations: Sequence[Sequence[str]],
    destination: str | Path | IO[bytes],
    format: str | None = None,
    *,
    system: str = "gpusearch",
    target_language: str | None = None,
) -> None:
    """Write translations in the form of the documents, or in another one.

    Args:
        corpus: as it was read.
        translations: ``translations[d][s]`` is the text for segment s of document d.
        destination: a file, which is replaced when all is written; ``-`` for standard output; or an open
            binary file.
        format: the corpus's own where it is None; JSONL for CoNLL-U, which is read only.
        system, target_language: what XML forms say of the translation.

    Raises:
        InputError: a count that differs (names document and segment), a character that the form cannot hold.
    """
    if format is None:
        format = corpus.format if corpus.format in _WRITERS else "jsonl"
    if format not in _WRITERS:
        raise InputError("no format to write documents in", found=repr(format), expected=" | ".join(_WRITERS))
    check_counts(corpus, translations)
    writer = _WRITERS[format]
    for position, (document, texts) in enumerate(zip(corpus.documents, translations, strict=True)):
        for place, text in enumerate(texts):
            name = f"the translation of {describe_segment(document, position, place)}"
            check_characters(text, writer.FORBIDDEN, format, name)
    if format != corpus.format:
        corpus = replace(corpus, template=None)
    _put(writer.write(corpus, translations, Origin(system, target_language)), destination)


def _put(data: bytes, destination: str | Path | IO[bytes]) -> None:
    if not isinstance(destination, str | Path):
        destination.write(data)
    elif str(destination) == "-":
        sys.stdout.buffer.write(data)
    else:
        with files.replaced(destination) as stream:
            stream.write(data)


def write_document_ids(corpus: Corpus, destination: str | Path | IO[bytes]) -> None:
    """Write the document id of each segment, one a line: what ``docids`` of :func:`read_documents` reads."""
    lines: list[str] = []
    for name, document in zip(ids_of(corpus.documents), corpus.documents, strict=True):
        check_characters(name, plain.FORBIDDEN, "text", f"the document id {name!r}")
        lines += [name] * len(document.segments)
    _put(plain.join(lines), destination)


def read_parallel(source_path: str | Path, target_path: str | Path) -> tuple[list[str], list[str]]:
    """The lines of a text and of its translation, equally many."""
    sources, targets = list(files.read_lines(source_path)), list(files.read_lines(target_path))
    if len(sources) != len(targets):
        raise InputError(
            "not as many lines as the source text has",
            path=target_path,
            found=f"{len(targets)}",
            expected=f"{len(sources)} as in {source_path}",
        )
    return sources, targets


def attach_references(
    corpus: Corpus, path: str | Path, format: str | None = None, docids: str | Path | None = None
) -> None:
    """Give every segment its reference from a file of documents in any form, in place.

    Documents are joined by id where both files have ids, else by their order; segments by their order. Plain
    text with one line for each segment of the corpus is joined line by line, blank lines included. What is
    taken are the references of the file where it has them, else its text.
    """
    data = files.read_bytes(path)
    other = _read(data, str(path), format, docids)
    if other.format == "text" and docids is None:
        counts = [len(document.segments) for document in corpus.documents]
        lines = [Segment(line) for line in lines_of(data, str(path))]
        if len(lines) == sum(counts):
            rest = iter(lines)
            other.documents = [Document(None, list(islice(rest, count))) for count in counts]
    references = [
        _reference_texts(document, position, found, str(path))
        for position, (document, found) in enumerate(_joined(corpus, other))
    ]
    for document, texts in zip(corpus.documents, references, strict=True):
        for segment, text in zip(document.segments, texts, strict=True):
            segment.reference = text


def _joined(corpus: Corpus, other: Corpus) -> Iterator[tuple[Document, Document]]:
    documents = corpus.documents
    by_place: list[Document | None] = [*other.documents[: len(documents)]]
    by_place += [None] * (len(documents) - len(by_place))
    if all(document.id is not None for document in [*documents, *other.documents]):
        by_id = {document.id: document for document in other.documents}
        by_place = [by_id.get(document.id) for document in documents]
    elif len(other.documents) > len(documents):
        raise InputError(
            "references of more documents than there are",
            path=other.path,
            found=f"{len(other.documents)} documents without ids",
            expected=f"{len(documents)}",
        )
    for position, (document, found) in enumerate(zip(documents, by_place, strict=True)):
        if found is None:
            raise InputError(f"no reference for {describe(document, position)}", path=other.path)
        yield document, found


def _reference_texts(document: Document, position: int, found: Document, path: str) -> list[str]:
    name = describe(document, position)
    if len(found.segments) != len(document.segments):
        raise InputError(
            f"the reference of {name} has another number of segments",
            path=path,
            found=f"{len(found.segments)}",
            expected=f"{len(document.segments)}",
        )
    texts = [segment.reference for segment in found.segments]
    if all(text is None for text in texts):
        return [segment.source for segment in found.segments]
    missing = next((place for place, text in enumerate(texts) if text is None), None)
    if missing is not None:
        raise InputError(f"no reference for {describe_segment(document, position, missing)}", path=path)
    return [text for text in texts if text is not None]
