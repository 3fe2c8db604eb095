"""Back-off language models in ARPA form, read and written. Figures are log10, as in the file, in single precision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io import ngrams as kernel
from gpusearch.io.columns import BAD, GROW
from gpusearch.io.compilation import Array
from gpusearch.io.compiled import Bundle, through_cache
from gpusearch.io.files import read_blocks, replaced
from gpusearch.io.ngrams import NgramColumns, format_ngrams, parse_ngrams
from gpusearch.io.rows import BLANKS, Fault, is_number, not_utf8, quoted, shown, words_of
from gpusearch.io.sequences import (
    Interner,
    Sequences,
    Vocabulary,
    check_ids,
    empty_slots,
    encoded,
    fill_slots,
)

MAX_ORDER = 9
_COUNT = re.compile(rb"ngram[ \t]+([0-9]{1,18})[ \t]*=[ \t]*([0-9]{1,18})")
# Most bytes of a written figure, and of the lines that are formatted at a time.
_FIGURE = 24
_BUFFER = 1 << 24


@dataclass(frozen=True, eq=False)
class Arpa:
    """The n-grams of a back-off model, in the order of the file. The arrays are read-only.

    Attributes:
        vocabulary: words by id; word i is unigram i.
        ids: for n = 1 .. order, at n - 1: int32[N_n, n], the words w1 .. wn.
        log10_probability: at n - 1: float32[N_n], log10 P(wn | w1 .. wn-1). Times ln 10 it is a natural logarithm.
        log10_backoff: at n - 1: float32[N_n], log10 of the back-off weight, 0 where there is none.
    """

    vocabulary: Sequence[str]
    ids: tuple[Array, ...]
    log10_probability: tuple[Array, ...]
    log10_backoff: tuple[Array, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.order <= MAX_ORDER or not self.order == len(self.log10_probability) == len(self.log10_backoff):
            raise ValueError(f"order {self.order} of a language model")
        columns = zip(self.ids, self.log10_probability, self.log10_backoff, strict=True)
        for n, (ids, probability, backoff) in enumerate(columns, 1):
            if ids.shape != (len(probability), n) or probability.shape != backoff.shape:
                raise ValueError(f"columns of {n}-grams differ in length")
            check_ids(ids, len(self.vocabulary))
            for array in (ids, probability, backoff):
                array.flags.writeable = False
        if not np.array_equal(self.ids[0][:, 0], np.arange(len(self.vocabulary))):
            raise ValueError("unigrams are not the words of the vocabulary in its order")

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.ids)


def read_arpa(path: str | Path, *, cache: bool = True) -> Arpa:
    """Read an ARPA file: plain, .gz, .bz2 or .xz, ``-`` for standard input; orders 1 to 9.

    Args:
        cache: keep a compiled form beside the file and use it (see :mod:`gpusearch.io.compiled`).

    Raises:
        InputError: a bad line, counts that differ from the header's, an n-gram that stands there twice, a word that is
            no unigram, a probability above 1, a missing ``\\end\\``; with the line, what was found and what was
            expected.
    """
    if not cache:
        return _build(_ArpaReader(path).read())
    return through_cache(path, "arpa", {}, lambda: _ArpaReader(path).read(), _build)


def _build(bundle: Bundle) -> Arpa:
    arrays = bundle.arrays
    orders = range(1, int(bundle.attributes["order"]) + 1)
    return Arpa(
        vocabulary=Vocabulary(Sequences.from_arrays(arrays, "vocabulary")),
        ids=tuple(arrays[f"ids_{n}"] for n in orders),
        log10_probability=tuple(arrays[f"probability_{n}"] for n in orders),
        log10_backoff=tuple(arrays[f"backoff_{n}"] for n in orders),
    )


def write_arpa(arpa: Arpa, path: str | Path) -> None:
    """Write an ARPA file (compressed where the name ends in .gz, .bz2 or .xz), whole or not at all.

    Figures get the fewest digits that are read back as the same float32; equal models give equal bytes.
    """
    columns = zip(arpa.ids, arpa.log10_probability, arpa.log10_backoff, strict=True)
    write_ngrams(path, arpa.vocabulary, [len(ids) for ids in arpa.ids], ([Chunk(*order)] for order in columns))


class Chunk(NamedTuple):
    """Some n-grams of one order, columns as in `Arpa`: int32[N, n], float32[N], float32[N]."""

    ids: Array
    log10_probability: Array
    log10_backoff: Array


def write_ngrams(
    path: str | Path, vocabulary: Sequence[str], counts: Sequence[int], orders: Iterable[Iterable[Chunk]]
) -> None:
    """As :func:`write_arpa`, chunk by chunk: a model that is never in memory as a whole.

    Args:
        vocabulary: words by id.
        counts: how many n-grams of each order, from 1, there are.
        orders: for each order the n-grams, in as many chunks as you like.
    """
    data, offsets = encoded(vocabulary)
    longest = int(np.diff(offsets).max(initial=0))
    with replaced(path) as file:
        header = "".join(f"ngram {n}={count}\n" for n, count in enumerate(counts, 1))
        file.write(f"\\data\\\n{header}".encode())
        for n, chunks in enumerate(orders, 1):
            file.write(f"\n\\{n}-grams:\n".encode())
            size = 2 * _FIGURE + n * (longest + 1) + 2  # of a line, at most
            lines = max(1, _BUFFER // size)
            out = np.empty(lines * size, np.uint8)
            for chunk in chunks:
                for first in range(0, len(chunk.ids), lines):
                    ids, probability, backoff = (column[first : first + lines] for column in chunk)
                    written = format_ngrams(ids, probability, backoff, n < len(counts), data, offsets, out)
                    file.write(out[:written].tobytes())
        file.write(b"\n\\end\\\n")


def explain_ngram(
    line: bytes, order: int, highest: bool, vocabulary: set[bytes], left: tuple[int, int]
) -> Fault | None:
    """What is wrong with an n-gram's line; None where nothing is. The readable twin of `parse_ngrams`.

    Args:
        vocabulary: words of the line that are unigrams.
        left: how many n-grams were read and how many the header says.
    """
    tokens = words_of(line)
    if not tokens or tokens[0].startswith(b"\\"):
        found = f"{left[0]} before {quoted(line) if tokens else 'an empty line'}"
        return Fault(f"fewer {order}-grams than the header says", found, str(left[1]))
    form = f"log10 probability, {order} word{'s' * (order > 1)}, and perhaps a back-off"
    if not order + 1 <= len(tokens) <= order + 2:
        return Fault(f"not a {order}-gram", f"{len(tokens)} parts in {quoted(line)}", form)
    words = tokens[1 : order + 1]
    if not is_number(tokens[0]):
        return Fault("log10 probability cannot be read", shown(tokens[0]), "a number of 0 or less")
    if np.float32(float(tokens[0])) > 0:
        hint = "probabilities above 1 mean that the tool that wrote the file failed"
        return Fault("positive log10 probability", shown(tokens[0]), "a number of 0 or less", hint)
    if len(tokens) == order + 2:
        if not is_number(tokens[-1]):
            return Fault("log10 back-off cannot be read", shown(tokens[-1]), "a number")
        if highest and np.float32(float(tokens[-1])) != 0:
            return Fault("back-off of an n-gram of the highest order", shown(tokens[-1]), "none, or 0")
    if order == 1:
        if words[0] in vocabulary:
            return Fault("a unigram stands there twice", quoted(words[0]), "each word once")
        return not_utf8(line)
    for word in words:
        if word not in vocabulary:
            return Fault(f"word of a {order}-gram is no unigram", quoted(word), "a word of \\1-grams:")
    return None


class _ArpaReader:
    """Reads header and end lines one by one, and the n-grams in between block by block."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.blocks: Iterator[bytes] = read_blocks(path)
        self.block, self.position, self.line = b"", 0, 0
        self.words = Interner(np.uint8)

    def read(self) -> Bundle:
        counts = self._header()
        arrays: dict[str, Array] = {}
        for n, count in enumerate(counts, 1):
            self._expect(f"\\{n}-grams:", n - 1)
            first = self.line + 1
            columns = self._section(n, count, highest=n == len(counts))
            arrays |= dict(zip((f"ids_{n}", f"probability_{n}", f"backoff_{n}"), columns, strict=True))
            if n > 1:
                self._check_distinct(columns[0], first)
        self._expect("\\end\\", len(counts))
        return Bundle({**arrays, **self.words.finished().arrays("vocabulary")}, {"order": len(counts)})

    def _more(self) -> bool:
        """Whether there is text left, after fetching the next block where this one is used up."""
        if self.position >= len(self.block):
            self.block, self.position = next(self.blocks, b""), 0
        return self.position < len(self.block)

    def _next_line(self) -> bytes | None:
        """The next line without its newline, None at the end of the file."""
        if not self._more():
            return None
        newline = self.block.find(b"\n", self.position)
        stop = len(self.block) if newline < 0 else newline
        line = self.block[self.position : stop].removesuffix(b"\r")
        self.position = stop + 1
        self.line += 1
        return line

    def _next_text(self) -> bytes | None:
        """The next line that is not blank."""
        line = self._next_line()
        while line is not None and not line.strip(BLANKS):
            line = self._next_line()
        return line

    def _error(self, what: str, line: bytes | None, expected: str, hint: str | None = None) -> InputError:
        found = "the end of the file" if line is None else quoted(line)
        return InputError(what, path=self.path, line=max(self.line, 1), found=found, expected=expected, hint=hint)

    def _header(self) -> list[int]:
        line = self._next_text()
        while line is not None and line.startswith(b"#"):  # comments, as KenLM lets them stand before the header
            line = self._next_text()
        if line is None or line.strip(BLANKS) != b"\\data\\":
            hint = None
            if line is not None and line.startswith(b"mmap lm"):
                hint = 'this is a KenLM binary: give the ARPA file, or set backend = "kenlm"'
            raise self._error("not an ARPA file", line, "\\data\\", hint)
        counts: list[int] = []
        while (line := self._next_line()) is not None and line.strip(BLANKS):
            match = _COUNT.fullmatch(line.strip(BLANKS))
            if match is None or int(match[1]) != len(counts) + 1:
                raise self._error("ARPA header", line, f"ngram {len(counts) + 1}=number, or an empty line")
            if len(counts) == MAX_ORDER:
                raise self._error("order of the language model", line, f"orders 1 to {MAX_ORDER}")
            counts.append(int(match[2]))
        if not counts:
            raise self._error("ARPA header", line, "ngram 1=number")
        return counts

    def _expect(self, marker: str, order: int) -> None:
        line = self._next_text()
        if line is not None and line.strip(BLANKS) == marker.encode():
            return
        if order and line is not None and is_number(words_of(line)[0]):
            raise self._error(f"more {order}-grams than the header says", line, marker)
        raise self._error("missing end mark" if marker == "\\end\\" else "missing section", line, marker)

    def _section(self, order: int, count: int, highest: bool) -> tuple[Array, Array, Array]:
        chunks: list[tuple[Array, Array, Array]] = [_empty(order, 0)]
        done = 0
        while done < count:
            if not self._more():
                found = f"{done} before the end of the file"
                what = f"fewer {order}-grams than the header says"
                raise InputError(what, path=self.path, line=max(self.line, 1), found=found, expected=count)
            chunk = self._chunk(order, count, done, highest)
            chunks.append(chunk)
            done += len(chunk[0])
        ids, probability, backoff = (np.concatenate(column) for column in zip(*chunks, strict=True))
        return ids, probability, backoff

    def _chunk(self, order: int, total: int, done: int, highest: bool) -> tuple[Array, Array, Array]:
        """The n-grams of the rest of this block, as many as are wanted."""
        text = np.frombuffer(bytearray(self.block), np.uint8)
        size = min(total - done, self.block.count(b"\n", self.position) + 1)
        columns = NgramColumns(*_empty(order, size), np.empty((2 * size, 4), np.int64))
        counts = np.zeros(kernel.COUNTS, np.int64)
        counts[kernel.WORDS] = self.words.count
        while self.position < len(text) and counts[kernel.NGRAMS] < size:
            self.position, status = parse_ngrams(text, self.position, highest, self.words.store, counts, columns)
            self.words.count = int(counts[kernel.WORDS])
            read = int(counts[kernel.NGRAMS])
            if status == BAD:
                self.line += read
                line = self._next_line() or b""
                known = set(words_of(line)) & self._known(words_of(line))
                fault = explain_ngram(line, order, highest, known, (done + read, total))
                fault = fault or Fault("line cannot be read", quoted(line), f"a {order}-gram")
                raise fault.error(self.path, self.line)
            if status == GROW:
                newline = self.block.find(b"\n", self.position)
                self.words.reserve((len(text) if newline < 0 else newline) - self.position + 1)
        for row, part, start, stop in columns.undecided[: counts[kernel.UNDECIDED]]:
            column = columns.backoff if part else columns.probability
            column[row] = float(self.block[start:stop])
        read = int(counts[kernel.NGRAMS])
        self.line += read
        return columns.ids[:read], columns.probability[:read], columns.backoff[:read]

    def _known(self, words: list[bytes]) -> set[bytes]:
        """Those of the words that are unigrams."""
        data, offsets = encoded([word.decode("utf-8", "replace") for word in words])
        vocabulary = self.words.finished()
        found = vocabulary.find_all(data, offsets[:-1], offsets[1:])
        return {word for word, number in zip(words, found, strict=True) if number >= 0}

    def _check_distinct(self, ids: Array, first_line: int) -> None:
        count, order = ids.shape
        offsets = np.arange(0, count * order + 1, order, dtype=np.int64)
        again = fill_slots(ids.reshape(-1), offsets, empty_slots(count))
        if again >= 0:
            words = Vocabulary(self.words.finished()).decode(ids[again])
            found = quoted(" ".join(words).encode())
            what = f"a {order}-gram stands there twice"
            raise InputError(what, path=self.path, line=first_line + again, found=found, expected="each once")


def _empty(order: int, size: int) -> tuple[Any, Any, Any]:
    return np.empty((size, order), np.int32), np.empty(size, np.float32), np.empty(size, np.float32)
