"""JSONL: a document a line, ``{"doc_id": …, "segments": [{"src": …, "ref": …, "seg_id": …}, …]}``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, Document, Origin, Segment, check_unique, ids_of, lines_of
from gpusearch.io.json_files import parse_json

FORBIDDEN = re.compile("[\ud800-\udfff]")
_DOCUMENT_KEYS = ("doc_id", "segments")
_SEGMENT_KEYS = ("seg_id", "src", "ref")


def read(data: bytes, path: str) -> Corpus:
    """Read documents; ``ref`` and ``seg_id`` may be absent (or empty), all other keys become attributes."""
    lines = lines_of(data, path)
    documents = [_document(line, path, number) for number, line in enumerate(lines, start=1)]
    check_unique("document", [document.id for document in documents], lambda place: place + 1, path)
    return Corpus(documents, "jsonl", path)


def _document(line: str, path: str, number: int) -> Document:
    try:
        record = parse_json(line)
    except ValueError as error:
        found = f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else error
        raise InputError("not a line of JSON", path=path, line=number, found=found) from None
    try:
        _dump(record)
    except (ValueError, RecursionError):  # json reads it, but cannot write it
        found = "an infinite number, half a surrogate pair or too deep a nesting"
        raise InputError("not a line of JSON in UTF-8", path=path, line=number, found=found) from None
    if not isinstance(record, dict) or not isinstance(record.get("segments"), list):
        raise InputError(
            "not a document",
            path=path,
            line=number,
            found=_excerpt(record),
            expected='an object with "doc_id" and a list "segments"',
        )
    segments = [_segment(value, f"segment {place}", path, number) for place, value in enumerate(record["segments"], 1)]
    check_unique("segment", [segment.id for segment in segments], lambda _: number, path)
    name = _text(record, "doc_id", "the document", path, number)
    if not name:
        raise InputError("no document id", path=path, line=number, expected="an id for every document")
    return Document(name, segments, _others(record, _DOCUMENT_KEYS))


def _segment(record: Any, place: str, path: str, number: int) -> Segment:
    if not isinstance(record, dict):
        raise InputError(
            f"{place} is not an object",
            path=path,
            line=number,
            found=_excerpt(record),
            expected='{"src": "…"}',
        )
    present = [key for key in _SEGMENT_KEYS if key == "src" or record.get(key) is not None]
    texts = {key: _text(record, key, place, path, number) for key in present}
    return Segment(texts["src"], texts.get("ref"), texts.get("seg_id") or None, _others(record, _SEGMENT_KEYS))


def _text(record: dict[str, Any], key: str, place: str, path: str, number: int) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        found = _excerpt(value) if key in record else "nothing"
        raise InputError(f'"{key}" of {place}', path=path, line=number, found=found, expected="a text in quotes")
    return value


def _others(record: dict[str, Any], known: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in known}


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def _excerpt(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:39] + "…"


def write(corpus: Corpus, translations: Sequence[Sequence[str]], origin: Origin) -> bytes:
    """Write the documents with all their attributes, and the translation of each segment as ``hyp``."""
    lines = []
    for name, document, texts in zip(ids_of(corpus.documents), corpus.documents, translations, strict=True):
        segments = [_record(segment) | {"hyp": text} for segment, text in zip(document.segments, texts, strict=True)]
        others = _others(document.attributes, _DOCUMENT_KEYS)
        lines.append(_dump({"doc_id": name, **others, "segments": segments}) + b"\n")
    return b"".join(lines)


def _record(segment: Segment) -> dict[str, Any]:
    known = {"seg_id": segment.id, "src": segment.source, "ref": segment.reference}
    present = {key: value for key, value in known.items() if value is not None}
    return present | _others(segment.attributes, _SEGMENT_KEYS)
