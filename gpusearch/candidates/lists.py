"""Candidates from files: Moses' n-best lists, the same as JSONL, and documents with ``nbest`` as decode writes them.

========================== =========================================================================================
Moses' list                ``id ||| words ||| Name= values ||| total ...`` (decode --nbest-list)
JSONL, a derivation a line ``{"id": 0, "words": "...", "score": -1.5, "doc": ..., "seg": ..., "phrases": [...]}``
JSONL, a document a line   its ``nbest`` has samples of the whole document, or each segment's has its own (decode
                           --format jsonl --nbest)
========================== =========================================================================================

In JSONL an entry may name the ``chain`` that made it, by number.
"""

from __future__ import annotations

import json
import logging
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpusearch.candidates.draws import DocumentDraws, Draws, numbered
from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, Document, Segment, describe, describe_segment, group, lines_of
from gpusearch.io.files import read_bytes, read_lines, split_blank, wrong_line
from gpusearch.io.formats import jsonl
from gpusearch.io.json_files import finite_number, parse_json
from gpusearch.io.nbest import parse_n_best_lines

logger = logging.getLogger(__name__)

Join = Callable[[Sequence[str], int], str]
"""From tokens to the text of a candidate, for the sentence of that number."""
_MOST_MISSING = 1_000_000  # sentences without candidates: beyond them the numbers mean something else


@dataclass(frozen=True)
class Listed:
    """Candidates of documents."""

    corpus: Corpus
    """Documents and segments in the order of the file, without candidates; sources are empty where it has none."""
    draws: list[DocumentDraws]
    """Of each document."""
    tokenised: bool
    """Candidates are tokens with a blank between them."""


@dataclass(frozen=True)
class _Entry:
    text: str
    score: float
    derivation: object
    chain: int | None = None
    document: str | None = None
    segment: str | None = None


def read_lists(path: str | Path, docids: str | Path | None = None, join: Join | None = None) -> Listed:
    """Read a file of candidates.

    Args:
        path: the file, compressed or not; ``-`` is standard input.
        docids: for lists: a file with the document id of each sentence, one a line. Without it JSONL may say so itself;
            else all is one document.
        join: what makes a text of the tokens of a list; where it is None, a blank stands between them.

    Raises:
        InputError: names file, line, what was found and what was expected.
    """
    data, name = read_bytes(path).removeprefix(BOM_UTF8), str(path)
    if not data.lstrip().startswith(b"{"):
        entries: Iterable[tuple[int, _Entry]] = _moses_entries(lines_of(data, name), name, join)
    elif b'"segments"' in data.lstrip().split(b"\n", 1)[0]:
        if docids is not None:
            raise InputError("document ids for a file that has its own", path=path, hint="leave --docids out")
        if join is not None:
            raise InputError("a model to make texts of candidates that are texts", path=path, hint="leave --config out")
        return _documents(jsonl.read(data, name))
    else:
        entries = _json_entries(lines_of(data, name), name, join)
    return _grouped(entries, name, docids, tokenised=join is None)


def _moses_entries(lines: Sequence[str], path: str, join: Join | None) -> Iterator[tuple[int, _Entry]]:
    for entry in parse_n_best_lines(lines, path):
        text = " ".join(entry.words) if join is None else join(entry.words, entry.sentence)
        made = entry.segments if entry.segments is not None else (entry.features, entry.total)
        yield entry.sentence, _Entry(text, entry.total, (entry.words, made))


def _json_entries(lines: Sequence[str], path: str, join: Join | None) -> Iterator[tuple[int, _Entry]]:
    for number, line in enumerate(lines, 1):
        try:
            row = _object(parse_json(line))
            sentence, words = _whole_number(row["id"]), _text(row["words"])
            text = words if join is None else join(split_blank(words), sentence)
            names = [None if row.get(key) is None else str(row[key]) for key in ("doc", "seg")]
            yield sentence, _Entry(text, _score(row), (words, _made(row)), _chain(row), *names)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise wrong_line(
                f"not an entry of a list ({type(error).__name__}: {error})",
                path,
                number,
                line,
                '{"id": 0, "words": "...", "score": ...}',
            ) from None


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r:.40} is no object")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or jsonl.FORBIDDEN.search(value):
        raise TypeError(f"{value!r} is no text")
    return value


def _whole_number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or abs(int(value)) >= 1 << 63:
        raise TypeError(f"{value!r} is no whole number of 63 bits")
    return int(value)


def _chain(row: dict[str, Any]) -> int | None:
    return None if row.get("chain") is None else _whole_number(row["chain"])


def _score(row: dict[str, Any]) -> float:
    """NaN where an entry has none."""
    return float("nan") if row.get("score") is None else finite_number(row["score"])


def _made(row: dict[str, Any]) -> object:
    """What tells a derivation from others with the same words: its phrases, or its score if it has one."""
    if row.get("phrases") is not None:
        return json.dumps(row["phrases"])
    return None if row.get("score") is None else finite_number(row["score"])


def _grouped(entries: Iterable[tuple[int, _Entry]], path: str, docids: str | Path | None, *, tokenised: bool) -> Listed:
    sentences: dict[int, list[_Entry]] = {}
    for number, entry in entries:
        if number < 0:
            raise InputError("a sentence's number below 0", path=path, found=f"{number}", expected="0 for the first")
        sentences.setdefault(number, []).append(entry)
    count = max(sentences, default=-1) + 1
    names = None if docids is None else list(read_lines(docids))
    if names is not None and len(names) < count:
        raise InputError(
            "fewer document ids than sentences", path=docids, found=f"{len(names)}", expected=f"{count} or more"
        )
    if names is None and count - len(sentences) > _MOST_MISSING:
        raise InputError(
            "numbers of sentences without end", path=path, found=f"{len(sentences)} sentences up to number {count - 1}",
            expected="0 for the first, 1 for the second, ...",
        )  # fmt: skip
    lists = [sentences.get(number, []) for number in range(count if names is None else len(names))]
    if len(sentences) < len(lists):
        logger.warning(
            "%s: no entry for %d of %d sentences, number %d the first; they are translated by nothing",
            path, len(lists) - len(sentences), len(lists), lists.index([]),
        )  # fmt: skip
    segments = [Segment("", id=next((one.segment for one in entries_of), None)) for entries_of in lists]
    documents = _named(lists, segments, path) if names is None else group(names, segments, str(docids))
    rest = iter(lists)
    draws = [DocumentDraws([_draws(next(rest)) for _ in document.segments]) for document in documents]
    return Listed(Corpus(documents, "text", path), draws, tokenised)


def _named(lists: Sequence[Sequence[_Entry]], segments: Sequence[Segment], path: str) -> list[Document]:
    """Documents by the names in the entries; a sentence without any belongs to the document before it."""
    names: list[str] = []
    for entries in lists:
        own = next((one.document for one in entries if one.document is not None), None)
        names.append(own if own is not None else names[-1] if names else "")
    first = next((name for name in names if name), None)
    if first is None:
        return [Document(None, list(segments))] if segments else []
    grouped: dict[str, list[Segment]] = {}
    ids: set[tuple[str, str]] = set()
    last = None
    for place, (given, segment) in enumerate(zip(names, segments, strict=True)):
        name = given or first
        if name != last and name in grouped:
            raise InputError(
                f"the sentences of document {name!r} do not stand together",
                path=path,
                found=f"number {place} behind those of document {last!r}",
            )
        if segment.id is not None and (name, segment.id) in ids:
            raise InputError(
                f"segment id {segment.id!r} repeats", path=path, found=f"number {place} of document {name!r}"
            )
        if segment.id is not None:
            ids.add((name, segment.id))
        grouped.setdefault(name, []).append(segment)
        last = name
    return [Document(name, several) for name, several in grouped.items()]


def _draws(entries: Sequence[_Entry]) -> Draws:
    """A sentence without candidates has the empty one."""
    missing = not entries
    entries = entries or [_Entry("", 0.0, None, chain=0)]
    chains = [one.chain for one in entries if one.chain is not None]
    return Draws(
        [one.text for one in entries],
        np.array([one.score for one in entries]),
        numbered([one.derivation for one in entries]),
        np.array(chains, np.int64) if len(chains) == len(entries) else None,
        missing,
    )


def _documents(corpus: Corpus) -> Listed:
    documents, draws = [], []
    for place, document in enumerate(corpus.documents):
        bare = [Segment(segment.source, segment.reference, segment.id) for segment in document.segments]
        documents.append(Document(document.id, bare))
        try:
            draws.append(_document_draws(document, place, corpus.path))
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(
                f'"nbest" of {describe(document, place)} ({type(error).__name__}: {error})',
                path=corpus.path,
                line=place + 1,
                expected="what decode --format jsonl --nbest writes",
            ) from None
    return Listed(Corpus(documents, "jsonl", corpus.path), draws, tokenised=False)


def _document_draws(document: Document, place: int, path: str) -> DocumentDraws:
    samples = document.attributes.get("nbest")
    if samples:
        samples = [_object(sample) for sample in samples]
        chains = [_chain(sample) for sample in samples]
        columns = [[] for _ in document.segments]  # type: list[list[_Entry]]
        for sample in samples:
            for column, row in zip(columns, sample["segments"], strict=True):
                column.append(_json_entry(row, sample))
        known = None if None in chains else np.array(chains, np.int64)
        return DocumentDraws(
            [_draws(column) for column in columns], np.array([_score(sample) for sample in samples]), known
        )
    segments = []
    for number, segment in enumerate(document.segments):
        if not segment.attributes.get("nbest"):
            raise InputError(
                f"no candidates of {describe_segment(document, place, number)}",
                path=path,
                line=place + 1,
                expected='"nbest" of the document or of the segment',
                hint="decode with --format jsonl --nbest N",
            )
        segments.append(_draws([_json_entry(row, _object(row)) for row in segment.attributes["nbest"]]))
    return DocumentDraws(segments)


def _json_entry(row: object, of_chain: dict[str, Any]) -> _Entry:
    """Of a segment; `of_chain` is what says its chain."""
    row = _object(row)
    text = _text(row["hyp"])
    return _Entry(text, _score(row), (text, _made(row)), _chain(of_chain))
