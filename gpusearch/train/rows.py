"""Rows of phrase and reordering tables as text, written by compiled code: tens of millions of rows are common."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gpusearch.io.bytewise import LOWEST_POWER, POWERS, write_digits
from gpusearch.io.compilation import compiled
from gpusearch.train.corpus import Array, Side

_BUFFER = 1 << 24
_SEPARATOR = np.frombuffer(b" ||| ", np.uint8)
_DIGITS = 6  # significant ones of a probability, as in Moses' tables
_PER_NUMBER = 20  # bytes that a number and the blank after it take at most
_PER_POINT = 4


class PhraseText:
    """The words of one side as bytes, for writing phrases.

    Attributes:
        words: int32[T], words of the text.
        data, offsets: uint8[*], int64[V + 2]; word w is ``data[offsets[w] : offsets[w + 1]]``.
        writable: bool[V + 1], whether the word can stand in a table; ``|||`` in it would end the field.
    """

    def __init__(self, side: Side) -> None:
        encoded = [word.encode() for word in side.vocabulary]
        self.words = side.words
        self.data = np.frombuffer(b"".join(encoded), np.uint8)
        self.offsets = np.cumsum([0, 0, *(len(word) for word in encoded)], dtype=np.int64)
        self.writable = np.array([True, *("|||" not in word for word in side.vocabulary)])


def writable_pairs(
    source: PhraseText, target: PhraseText, places: tuple[Array, Array], lengths: tuple[Array, Array]
) -> Array:
    """bool[N], whether all words of each pair can stand in a table."""
    result = np.ones(len(places[0]), bool)
    for text, place, length in zip((source, target), places, lengths, strict=True):
        if not text.writable.all():
            _writable(text.words, text.writable, place, length, result)
    return result


def table_rows(
    source: PhraseText,
    target: PhraseText,
    places: tuple[Array, Array],
    lengths: tuple[Array, Array],
    scores: Array,
    alignment: Array | None = None,
    counts: Array | None = None,
) -> Iterator[bytes]:
    """Text of rows ``source ||| target ||| scores [||| alignment ||| counts]``, in blocks of whole lines.

    Args:
        places, lengths: for source and target, int[N]: where each phrase stands in the text, and its length.
        scores: float64[N, K], probabilities.
        alignment: uint64[N], bit ``8 s + t`` for each point.
        counts: int64[N, *].
    """
    size = len(scores)
    if alignment is None or counts is None:
        alignment, counts = np.empty(0, np.uint64), np.empty((0, 0), np.int64)
    row = 0
    buffer = np.empty(_BUFFER, np.uint8)
    while row < size:
        done, used = _write_rows(
            row,
            source.words,
            source.data,
            source.offsets,
            target.words,
            target.data,
            target.offsets,
            *places,
            *lengths,
            scores,
            alignment,
            counts,
            buffer,
        )
        if done == row:  # a row longer than the buffer
            buffer = np.empty(2 * len(buffer), np.uint8)
            continue
        row = done
        yield buffer[:used].tobytes()


@compiled
def _writable(words: Array, writable: Array, places: Array, lengths: Array, result: Array) -> None:
    for pair in range(len(places)):
        for place in range(places[pair], places[pair] + lengths[pair]):
            if not writable[words[place]]:
                result[pair] = False


@compiled
def write_probability(value: float, out: Array, at: int) -> int:
    """Write a number from 0 to 1 with six significant digits, as C's %g does; returns the place after it."""
    if value <= 0.0:
        out[at] = 48
        return at + 1
    exponent = np.int64(math.floor(math.log10(value)))
    mantissa = np.int64(np.rint(value * POWERS[_DIGITS - 1 - exponent - LOWEST_POWER]))
    if mantissa >= 10**_DIGITS:
        exponent += 1
        mantissa = np.int64(np.rint(value * POWERS[_DIGITS - 1 - exponent - LOWEST_POWER]))
    digits = _DIGITS
    while digits > 1 and mantissa % 10 == 0:
        mantissa //= 10
        digits -= 1
    if exponent >= 0:  # only 1 itself, within the rounding
        return write_digits(mantissa, 1, out, at)
    if exponent >= -4:
        out[at], out[at + 1] = 48, 46
        return write_digits(mantissa, digits - 1 - exponent, out, at + 2)
    unit = np.int64(10) ** (digits - 1)
    at = write_digits(mantissa // unit, 1, out, at)
    if digits > 1:
        out[at] = 46
        at = write_digits(mantissa % unit, digits - 1, out, at + 1)
    out[at], out[at + 1] = 101, 45
    return write_digits(-exponent, 2, out, at + 2)


@compiled
def _write_separator(out: Array, at: int) -> int:
    for i in range(len(_SEPARATOR)):
        out[at + i] = _SEPARATOR[i]
    return at + len(_SEPARATOR)


@compiled
def _write_phrase(words: Array, data: Array, offsets: Array, place: int, length: int, out: Array, at: int) -> int:
    for i in range(length):
        if i > 0:
            out[at] = 32
            at += 1
        for byte in range(offsets[words[place + i]], offsets[words[place + i] + 1]):
            out[at] = data[byte]
            at += 1
    return at


@compiled
def _phrase_bytes(words: Array, offsets: Array, place: int, length: int) -> int:
    size = length
    for i in range(length):
        size += offsets[words[place + i] + 1] - offsets[words[place + i]]
    return size


@compiled
def _write_rows(
    row: int,
    source: Array,
    source_data: Array,
    source_offsets: Array,
    target: Array,
    target_data: Array,
    target_offsets: Array,
    source_places: Array,
    target_places: Array,
    source_lengths: Array,
    target_lengths: Array,
    scores: Array,
    alignment: Array,
    counts: Array,
    out: Array,
) -> tuple[int, int]:
    """Write as many rows as there is room for; returns the next row and the bytes used."""
    at = 0
    fixed = 5 * len(_SEPARATOR) + _PER_NUMBER * (scores.shape[1] + counts.shape[1]) + _PER_POINT * 64
    while row < len(scores):
        s, t = source_places[row], target_places[row]
        s_length, t_length = source_lengths[row], target_lengths[row]
        room = _phrase_bytes(source, source_offsets, s, s_length) + _phrase_bytes(target, target_offsets, t, t_length)
        if at + room + fixed > len(out):
            break
        at = _write_phrase(source, source_data, source_offsets, s, s_length, out, at)
        at = _write_separator(out, at)
        at = _write_phrase(target, target_data, target_offsets, t, t_length, out, at)
        at = _write_separator(out, at)
        for column in range(scores.shape[1]):
            if column > 0:
                out[at] = 32
                at += 1
            at = write_probability(scores[row, column], out, at)
        if len(alignment):
            at = _write_separator(out, at)
            written = 0
            for bit in range(64):
                if alignment[row] >> np.uint64(bit) & np.uint64(1):
                    if written > 0:
                        out[at] = 32
                        at += 1
                    out[at], out[at + 1], out[at + 2] = 48 + bit // 8, 45, 48 + bit % 8
                    at += 3
                    written += 1
            at = _write_separator(out, at)
            for column in range(counts.shape[1]):
                if column > 0:
                    out[at] = 32
                    at += 1
                at = write_digits(counts[row, column], 1, out, at)
        out[at] = 10
        at += 1
        row += 1
    return row, at
