"""The tokens of a parallel text as numbers: what every stage after tokenisation works on.

Word numbers follow the byte order of the words, so that whatever is sorted by number is sorted by bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io.files import read_bytes, read_lines, split_blank

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Side:
    """One language of a parallel text.

    Attributes:
        vocabulary: words in byte order; word number w is ``vocabulary[w - 1]``, number 0 is no word.
        words: int32[T], the word numbers of all sentences.
        offsets: int64[N + 1]; sentence n is ``words[offsets[n] : offsets[n + 1]]``.
    """

    vocabulary: list[str]
    words: Array
    offsets: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> Array:
        """int64[N], words in each sentence."""
        return np.diff(self.offsets)

    def sentence(self, number: int) -> Array:
        """Word numbers of a sentence."""
        return self.words[self.offsets[number] : self.offsets[number + 1]]

    def save(self, path: Path) -> None:
        """Write to a folder of plain arrays."""
        path.mkdir(parents=True, exist_ok=True)
        np.save(path / "words.npy", self.words)
        np.save(path / "offsets.npy", self.offsets)
        (path / "vocabulary.txt").write_bytes("".join(f"{word}\n" for word in self.vocabulary).encode())

    @classmethod
    def load(cls, path: Path) -> Side:
        """Read what :meth:`save` wrote."""
        text = read_bytes(path / "vocabulary.txt").decode()
        return cls(
            text.split("\n")[:-1],
            np.load(path / "words.npy", allow_pickle=False),
            np.load(path / "offsets.npy", allow_pickle=False),
        )


@dataclass(frozen=True, eq=False)
class ParallelCorpus:
    """Sentence pairs, numbered from 0.

    Attributes:
        source, target: equally many sentences.
        lines: int64[N], the line (from 0) of the files that each pair stands in; some lines may be left out.
        total: lines of each file.
        empty, long: how many lines were left out because a side is empty, or has too many words.
    """

    source: Side
    target: Side
    lines: Array
    total: int
    empty: int
    long: int

    def __len__(self) -> int:
        return len(self.source)

    def save(self, path: Path) -> None:
        """Write to a folder of plain arrays."""
        self.source.save(path / "source")
        self.target.save(path / "target")
        np.save(path / "lines.npy", self.lines)
        np.save(path / "counts.npy", np.array([self.total, self.empty, self.long], np.int64))

    @classmethod
    def load(cls, path: Path) -> ParallelCorpus:
        """Read what :meth:`save` wrote."""
        counts = np.load(path / "counts.npy", allow_pickle=False).tolist()
        lines = np.load(path / "lines.npy", allow_pickle=False)
        return cls(Side.load(path / "source"), Side.load(path / "target"), lines, *counts)


def number_words(sentences: Sequence[Sequence[str]]) -> Side:
    """A side from sentences in memory."""
    numbers: dict[str, int] = {}
    words = [numbers.setdefault(word, len(numbers)) for sentence in sentences for word in sentence]
    offsets = np.cumsum([0, *(len(sentence) for sentence in sentences)], dtype=np.int64)
    return _in_byte_order(list(numbers), np.array(words, np.int32), offsets)


def read_corpus(
    source_path: Path, target_path: Path, max_sentence_length: int, *, named: Path | None = None
) -> ParallelCorpus:
    """Read two files of tokens, line by line translations of each other.

    Args:
        source_path, target_path: a sentence a line, tokens separated by blanks or tabs.
        max_sentence_length: pairs with more words on either side are left out, as are those with none on one.
        named: the file that the user knows the source by.

    Raises:
        InputError: another number of lines, or no pair that can be used.
    """
    source, target = _read(source_path), _read(target_path)
    if len(source) != len(target):
        raise InputError(
            "not as many lines as the source text has",
            path=target_path,
            found=len(target),
            expected=f"{len(source)} as in {source_path}",
        )
    lengths = np.stack([source.lengths(), target.lengths()])
    empty = lengths.min(axis=0) == 0
    long = ~empty & (lengths.max(axis=0) > max_sentence_length)
    lines = np.flatnonzero(~(empty | long))
    if not len(lines):
        raise InputError(
            "no sentence pair can be used",
            path=named or source_path,
            found=f"{len(source)} lines, {empty.sum()} with an empty side, {long.sum()} with more than "
            f"{max_sentence_length} words",
            expected="pairs of sentences that are neither",
        )
    kept = (_select(source, lines), _select(target, lines))
    return ParallelCorpus(*kept, lines, len(source), int(empty.sum()), int(long.sum()))


def _read(path: Path) -> Side:
    """All lines of a file; words are first numbered as they come, then in byte order."""
    numbers: dict[str, int] = {}
    chunks: list[Array] = []
    chunk: list[int] = []
    offsets = [0]
    total = 0
    for line in read_lines(path):
        for word in split_blank(line):
            chunk.append(numbers.setdefault(word, len(numbers)))
        offsets.append(total + len(chunk))
        if len(chunk) > 1_000_000:
            total += len(chunk)
            chunks.append(np.array(chunk, np.int32))
            chunk = []
    words = np.concatenate([*chunks, np.array(chunk, np.int32)])
    return _in_byte_order(list(numbers), words, np.array(offsets, np.int64))


def _in_byte_order(vocabulary: list[str], words: Array, offsets: Array) -> Side:
    order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)  # UTF-8 keeps the order of code points
    rank = np.empty(len(vocabulary), np.int32)
    rank[order] = np.arange(1, len(vocabulary) + 1, dtype=np.int32)
    return Side([vocabulary[index] for index in order], rank[words] if len(words) else words, offsets)


def _select(side: Side, lines: Array) -> Side:
    """The given sentences; the vocabulary keeps only their words."""
    if len(lines) == len(side):
        return side
    lengths = side.lengths()[lines]
    offsets = np.zeros(len(lines) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(side.offsets[:-1][lines] - offsets[:-1], lengths) + np.arange(offsets[-1])
    words = side.words[places]
    used = np.zeros(len(side.vocabulary) + 1, bool)
    used[words] = True
    number = np.cumsum(used, dtype=np.int32)
    vocabulary = [word for word, kept in zip(side.vocabulary, used[1:], strict=True) if kept]
    return Side(vocabulary, number[words], offsets)
