"""Rows of Moses' text tables, ``source ||| target ||| scores ||| alignment ||| ...``, as columns of numbers.

Conventions are Moses': fields are split at the bare three characters ``|||`` and their words at blanks, as text is;
any word is opaque; scores are probabilities, kept as natural logarithms that do not fall below -100.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io import columns as kernel
from gpusearch.io import files
from gpusearch.io.columns import LONGEST, LOWEST, Columns, Layout, parse_rows
from gpusearch.io.compilation import Array
from gpusearch.io.files import read_blocks
from gpusearch.io.sequences import Interner, Sequences

logger = logging.getLogger(__name__)

BLANKS = files.BLANKS.encode()
_BLANKS = re.compile(rb"[%b]+" % BLANKS)
_VISIBLE = str.maketrans({"\t": "\\t", "\r": "\\r", "\0": "\\0"})
_NUMBER = re.compile(rb"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_POINT = re.compile(rb"([0-9]+)-([0-9]+)")
_SHOWN = 60

# By the number of fields that make up the key.
FORMS = {1: "source ||| scores", 2: "source ||| target ||| scores"}


class Fault(NamedTuple):
    """What is wrong with a line, in the words of an `InputError`."""

    what: str
    found: str
    expected: str
    hint: str | None = None

    def error(self, path: str | Path | None = None, line: int | None = None) -> InputError:
        return InputError(self.what, path=path, line=line, found=self.found, expected=self.expected, hint=self.hint)


class Scores(NamedTuple):
    """How many scores a row has, and why: the words follow the number in messages."""

    number: int
    reason: str


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table in their order.

    Attributes:
        source, target: words of either side, by id.
        phrases: the distinct keys: source phrases, or source words, -1, target words.
        phrase: int32[N], the key of each row.
        target_offsets: int64[N + 1], places in `target_words`, int32[*] (empty where targets are in the keys).
        log_scores: float32[N, K], natural logarithms.
        alignment_offsets: int64[N + 1], places in `alignment`, uint8[*, 2]: source and target position.
        lines: lines read.
        skipped: bad rows left out; `dropped`: alignment points left out; `first_skipped`: what the first was.
    """

    source: Sequences
    target: Sequences
    phrases: Sequences
    phrase: Array
    target_offsets: Array
    target_words: Array
    log_scores: Array
    alignment_offsets: Array
    alignment: Array
    lines: int
    skipped: int
    dropped: int
    first_skipped: str

    def notes(self) -> dict[str, Any]:
        """What a warning tells of the reading; see `warn_of_skipped`."""
        return {
            "lines": self.lines,
            "skipped": self.skipped,
            "dropped": self.dropped,
            "first_skipped": self.first_skipped,
        }


def warn_of_skipped(path: str | Path, notes: dict[str, Any]) -> None:
    """One line in the log for all that was left out of a table."""
    if notes["skipped"]:
        logger.warning(
            "%s: %d bad rows of %d skipped; the first: %s",
            path,
            notes["skipped"],
            notes["lines"],
            notes["first_skipped"],
        )
    if notes["dropped"]:
        logger.warning("%s: %d alignment points outside their phrase pair dropped", path, notes["dropped"])


def shown(text: bytes) -> str:
    """A piece of a line as messages show it: blanks trimmed, cut where it is long."""
    readable = text.strip(BLANKS).decode("utf-8", "backslashreplace")
    return readable if len(readable) <= _SHOWN else readable[: _SHOWN - 3] + "..."


def quoted(text: bytes) -> str:
    """A piece of a line between quotation marks, blanks that nobody sees made visible."""
    return "'" + shown(text).translate(_VISIBLE) + "'"


def words_of(field: bytes) -> list[bytes]:
    """Words of a field, split at blanks."""
    return [word for word in _BLANKS.split(field) if word]


def is_number(token: bytes) -> bool:
    """Whether a token is a finite decimal number."""
    return _NUMBER.fullmatch(token) is not None and math.isfinite(float(token))


def not_utf8(line: bytes) -> Fault | None:
    """The fault of a line that is not UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return Fault("not UTF-8", f"byte 0x{line[error.start]:02x} in column {error.start + 1}", "UTF-8 text")
    return None


def explain_row(line: bytes, layout: Layout, scores: Scores) -> Fault | None:
    """What is wrong with a row (without its newline); None where nothing is. The readable twin of `parse_rows`."""
    fields = line.split(b"|||")
    form = FORMS[layout.key_fields]
    if len(fields) <= layout.key_fields:
        found = f"{len(fields)} in {quoted(line)}" if line.strip(BLANKS) else "an empty line"
        return Fault("too few fields", found, form)
    if fault := not_utf8(b"|||".join(fields[: layout.key_fields])):
        return fault
    sides = [words_of(field) for field in fields[: layout.key_fields]]
    if not sides[0]:
        return Fault("empty source phrase", quoted(line), form)
    for words in sides:
        if len(words) > LONGEST:
            return Fault("phrase too long", f"{len(words)} words", f"at most {LONGEST}")
    values = words_of(fields[layout.key_fields])
    if len(values) != scores.number:
        found = f"{len(values)} ({shown(b' '.join(values))})" if values else "none"
        hint = "no target phrase is expected before them" if layout.key_fields == 1 and len(fields) > 2 else None
        return Fault("wrong number of scores", found, f"{scores.number} {scores.reason}", hint)
    for column, value in enumerate(values, 1):
        match = _NUMBER.fullmatch(value)
        negative = match is not None and match[1] == b"-" and re.search(rb"[1-9]", match[2])
        if match is None or not is_number(value) or negative:
            hint = "tables hold probabilities, not their logarithms" if negative else None
            return Fault(f"score {column} is not a probability", shown(value), "a number of 0 or more", hint)
    if layout.alignment and len(fields) > 3:
        for token in words_of(fields[3]):
            point = _POINT.fullmatch(token)
            if point is None:
                return Fault("not an alignment point", shown(token), "source-target, such as 0-0")
            if not layout.lenient and not (int(point[1]) < len(sides[0]) and int(point[2]) < len(sides[1])):
                size = f"{len(sides[0])} source and {len(sides[1])} target words"
                return Fault("alignment point outside the phrase pair", shown(token), f"places within {size}")
    return None


def lines_of(block: bytes) -> Iterator[bytes]:
    """Lines of a block, without newline and carriage return."""
    for line in block.removesuffix(b"\n").split(b"\n"):
        yield line.removesuffix(b"\r")


class RowReader:
    """Reads a table block by block.

    Args:
        path: the file; ``-`` is standard input.
        layout: what rows look like; ``key_fields`` 0: two where the first row has three fields, else one.
        scores: number of scores and why; None: as many as the first row has.
    """

    def __init__(self, path: str | Path, layout: Layout, scores: Scores | None) -> None:
        self.path, self.layout, self.scores = path, layout, scores
        self.source, self.target = Interner(np.uint8), Interner(np.uint8)
        self.phrases = Interner(np.int32)
        self.counts = np.zeros(kernel.COUNTS, np.int64)
        self.first_skipped = ""
        self.chunks: list[tuple[Array, ...]] = []

    def read(self) -> Rows:
        """All rows.

        Raises:
            InputError: a bad row where the layout is not lenient; no good row at all; no rows where the number of
                scores is unknown.
        """
        for block in read_blocks(self.path):
            self._settle(block)
            self._parse(block)
        if self.scores is None:
            raise InputError("empty table", path=self.path, found="no rows", expected=FORMS[2])
        skipped = int(self.counts[kernel.SKIPPED])
        if skipped and skipped == self.counts[kernel.LINES]:
            what = f"none of the {skipped} rows can be read"
            raise InputError(what, path=self.path, hint=f"the first: {self.first_skipped}")
        return self._rows()

    def _settle(self, block: bytes) -> None:
        """Take what is not known of the rows from the first one, or from the first good one where bad ones may be."""
        if self.scores is not None and self.layout.key_fields:
            return
        faults: list[Fault] = []
        for line in lines_of(block):
            layout, scores = self._shape(line, len(faults) + 1)
            fault = explain_row(line, layout, scores)
            if fault is None or not layout.lenient:
                self.layout, self.scores = layout, scores
                return
            faults.append(fault)
        what = f"none of the first {len(faults)} rows can be read"
        raise InputError(what, path=self.path, hint=f"the first: line 1: {faults[0].error()}")

    def _shape(self, line: bytes, number: int) -> tuple[Layout, Scores]:
        fields = line.split(b"|||")
        key_fields = self.layout.key_fields or (1 if len(fields) == 2 else 2)
        count = len(words_of(fields[key_fields])) if len(fields) > key_fields else 0
        taken = Scores(count, f"as in line {number}") if count else Scores(1, "or more")
        return self.layout._replace(key_fields=key_fields), self.scores or taken

    def _parse(self, block: bytes) -> None:
        assert self.scores is not None
        text = np.frombuffer(bytearray(block), np.uint8)
        size, lines = len(text), block.count(b"\n") + 1
        new = Columns(
            phrase=np.empty(lines, np.int32),
            words=np.empty(lines, np.int32),
            scores=np.empty((lines, self.scores.number), np.float32),
            points=np.empty(lines, np.int32),
            target=np.empty(size // 2 + 1, np.int32),
            alignment=np.empty((size // 3 + 1, 2), np.uint8),
            undecided=np.empty((size // 2 + 1, 3), np.int64),
        )
        counts = self.counts
        counts[kernel.ROWS] = counts[kernel.WORDS] = counts[kernel.POINTS] = counts[kernel.UNDECIDED] = 0
        before, skipped = int(counts[kernel.LINES]), int(counts[kernel.SKIPPED])
        position = 0
        while position < size:
            stores = self.source.store, self.target.store, self.phrases.store
            position, status = parse_rows(text, position, self.layout, *stores, counts, new)
            self.source.count = int(counts[kernel.SOURCE_WORDS])
            self.target.count = int(counts[kernel.TARGET_WORDS])
            self.phrases.count = int(counts[kernel.PHRASES])
            if status == kernel.BAD:
                raise self._fault(block, position).error(self.path, int(counts[kernel.LINES]) + 1)
            if status == kernel.GROW:
                length = len(_line_at(block, position)) + 1
                for interner in (self.source, self.target, self.phrases):
                    interner.reserve(length)
        for index, start, stop in new.undecided[: counts[kernel.UNDECIDED]]:
            value = float(block[start:stop])
            new.scores.reshape(-1)[index] = max(math.log(value), LOWEST) if value > 0 else LOWEST
        if not skipped and counts[kernel.SKIPPED]:
            first = int(counts[kernel.FIRST_SKIPPED])
            line = before + block.count(b"\n", 0, first) + 1
            self.first_skipped = f"line {line}: {self._fault(block, first).error()}"
        rows, words, points = counts[[kernel.ROWS, kernel.WORDS, kernel.POINTS]]
        sizes = (rows, rows, rows, rows, words, points)
        self.chunks.append(tuple(column[:n].copy() for column, n in zip(new[:6], sizes, strict=True)))

    def _fault(self, block: bytes, position: int) -> Fault:
        assert self.scores is not None
        line = _line_at(block, position)
        fault = explain_row(line.removesuffix(b"\r"), self.layout, self.scores)
        return fault or Fault("row cannot be read", quoted(line), "source ||| target ||| scores")

    def _rows(self) -> Rows:
        assert self.scores is not None
        empty = np.empty(0, np.int32)
        nothing = (empty, empty, np.empty((0, self.scores.number), np.float32), empty, empty)
        self.chunks.append((*nothing, np.empty((0, 2), np.uint8)))
        columns = list(zip(*self.chunks, strict=True))
        self.chunks.clear()

        def joined(place: int) -> Array:
            column = np.concatenate(columns[place])
            columns[place] = ()
            return column

        return Rows(
            source=self.source.finished(),
            target=self.target.finished(),
            phrases=self.phrases.finished(),
            phrase=joined(0),
            target_offsets=offsets_of(joined(1)),
            log_scores=joined(2),
            alignment_offsets=offsets_of(joined(3)),
            target_words=joined(4),
            alignment=joined(5),
            lines=int(self.counts[kernel.LINES]),
            skipped=int(self.counts[kernel.SKIPPED]),
            dropped=int(self.counts[kernel.DROPPED]),
            first_skipped=self.first_skipped,
        )


def _line_at(block: bytes, position: int) -> bytes:
    newline = block.find(b"\n", position)
    return block[position:] if newline < 0 else block[position:newline]


def offsets_of(lengths: Array) -> Array:
    """Offsets int64[n + 1] of pieces of these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def slices(starts: Array, lengths: Array) -> Array:
    """Indices int64[*] of the pieces ``starts[i] : starts[i] + lengths[i]``, one after the other."""
    offsets = offsets_of(lengths)
    indices = np.repeat(starts - offsets[:-1], lengths)
    indices += np.arange(offsets[-1])
    return indices
