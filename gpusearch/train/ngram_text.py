"""Text for a language model as word numbers, read as KenLM reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io.files import read_blocks, read_bytes

Array = np.ndarray[Any, Any]

#: Numbers of the words that every model has; those of the text follow.
UNKNOWN, BEGIN, END = range(3)
SPECIAL_WORDS = ("<unk>", "<s>", "</s>")

# KenLM's word borders besides the blank: an ARPA file could not hold a word with one of them inside.
_TO_BLANK = bytes.maketrans(b"\0\t\r", b"   ")
_NOTHING, _SPECIAL = -1, -2
_FIRST_LEFT_OUT = -3
_TOKENS = 1 << 20  # of a chunk, about


class _Numbers(dict[bytes, int]):
    """Numbers of words as they come: 3, 4, ... for those of the model, -3, -4, ... for those left out of it."""

    def __init__(self, allowed: frozenset[bytes] | None) -> None:
        super().__init__({b"": _NOTHING} | {word.encode(): _SPECIAL for word in SPECIAL_WORDS})
        self.allowed = allowed
        self.words: list[bytes] = [word.encode() for word in SPECIAL_WORDS]
        self.left_out = 0

    def __missing__(self, word: bytes) -> int:
        if self.allowed is None or word in self.allowed:
            number = len(self.words)
            self.words.append(word)
        else:
            number = _FIRST_LEFT_OUT - self.left_out
            self.left_out += 1
        self[word] = number
        return number


@dataclass
class NgramText:
    """Numbers the words of files, a sentence a line.

    Words are separated by blanks, tabs, carriage returns and NULs, lines end at ``\\n``: KenLM's rules, so that a
    no-break space or a line separator is part of a word. A blank line is a sentence without words.

    Attributes:
        paths: plain or compressed text, ``-`` for standard input; read one after the other.
        allowed: words that the model may have, None for all. The others are counted all the same: they get
            negative numbers.
        skip_symbols: read ``<s>``, ``</s>`` and ``<unk>`` in the text as blanks; else they are an error.
        reverse: read each sentence from its last word to its first.
        sentences, tokens: what was read so far.
    """

    paths: Sequence[str | Path]
    allowed: frozenset[bytes] | None = None
    skip_symbols: bool = False
    reverse: bool = False
    sentences: int = 0
    tokens: int = 0
    _numbers: _Numbers = field(init=False)

    def __post_init__(self) -> None:
        self._numbers = _Numbers(self.allowed)

    @property
    def vocabulary(self) -> list[str]:
        """Words of the model by number, in the order of their first appearance after the three special ones."""
        return [word.decode() for word in self._numbers.words]

    def ngrams(self, order: int) -> Iterator[Array]:
        """int32[order, N]: the n-grams of the text, some million at a time, oldest word first.

        One for each word and each end of a sentence, which begins after `order - 1` times ``<s>``.

        Raises:
            InputError: text that is not UTF-8, or a special word in it.
        """
        for path in self.paths:
            yield from self._ngrams_of(path, order)

    def _ngrams_of(self, path: str | Path, order: int) -> Iterator[Array]:
        padding = [BEGIN] * (order - 1)
        number = self._numbers.__getitem__
        chunk: list[int] = []
        line = 0
        for block in read_blocks(path):
            _check_utf8(block, path, line)
            first = len(chunk)
            lines = block.translate(_TO_BLANK).removesuffix(b"\n").split(b"\n")
            step = -1 if self.reverse else 1
            for sentence in lines:
                chunk += padding
                chunk += map(number, sentence.split(b" ")[::step])
                chunk.append(END)
            if not self.skip_symbols and _SPECIAL in chunk[first:]:
                raise _special_word(lines, path, line)
            line += len(lines)
            self.sentences += len(lines)
            if len(chunk) > _TOKENS:
                yield self._windows(chunk, order)
                chunk = []
        if chunk:
            yield self._windows(chunk, order)

    def _windows(self, chunk: list[int], order: int) -> Array:
        numbers = np.array(chunk, np.int32)
        numbers = numbers[(numbers != _NOTHING) & (numbers != _SPECIAL)]
        ends = np.flatnonzero(numbers != BEGIN)
        self.tokens += int(np.count_nonzero(numbers[ends] != END))
        return np.stack([numbers[ends - back] for back in range(order - 1, -1, -1)])


def reversed_lines(block: bytes) -> bytes:
    """A block of lines, each with its words from the last to the first."""
    lines = block.translate(_TO_BLANK).removesuffix(b"\n").split(b"\n")
    return b"".join(b" ".join(line.split(b" ")[::-1]) + b"\n" for line in lines)


def read_vocabulary(path: str | Path) -> frozenset[bytes]:
    """Words of a file, separated by blanks or line ends."""
    return frozenset(read_bytes(path).translate(_TO_BLANK).replace(b"\n", b" ").split(b" ")) - {b""}


def _check_utf8(block: bytes, path: str | Path, line: int) -> None:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        start = block.rfind(b"\n", 0, error.start) + 1
        raise InputError(
            "not UTF-8",
            path=path,
            line=line + block.count(b"\n", 0, start) + 1,
            found=f"byte 0x{block[error.start]:02x} in column {error.start - start + 1}",
            expected="UTF-8 text",
        ) from None


def _special_word(lines: list[bytes], path: str | Path, before: int) -> InputError:
    special = {word.encode() for word in SPECIAL_WORDS}
    for number, line in enumerate(lines, before + 1):
        for word in line.split(b" "):
            if word in special:
                return InputError(
                    "special word in the text of a language model",
                    path=path,
                    line=number,
                    found=word.decode(),
                    expected="words other than <unk>, <s> and </s>",
                    hint="--skip-symbols reads them as blanks",
                )
    raise AssertionError("no special word")
