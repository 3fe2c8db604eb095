"""Distinct sequences in flat arrays: words are sequences of bytes, phrases are sequences of word ids.

A store is three arrays: ``data``; ``offsets`` (sequence i is ``data[offsets[i] : offsets[i + 1]]``); and ``slots``,
a hash table with linear probing, at most half full, whose entries are sequence numbers or -1. Whole sequences are
compared, so that equal hashes do no harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from gpusearch.io.compilation import Array, Integer, compiled, helper

Store = tuple[Array, Array, Array]

# What a store has room for, at least, before a row is taken in: sequences, and elements beyond the line's length.
ROOM = 512


@helper
def find(
    key: Array, start: Integer, stop: Integer, data: Array, offsets: Array, slots: Array
) -> tuple[Integer, Integer]:
    """Number of the stored sequence that equals ``key[start:stop]`` (-1: none), and the slot where it is or belongs."""
    code = np.uint64(0x9E3779B97F4A7C15)
    for i in range(start, stop):
        code = (code ^ np.uint64(key[i])) * np.uint64(0x100000001B3)
    code = (code ^ (code >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    last = len(slots) - 1
    slot = np.int64((code ^ (code >> np.uint64(32))) & np.uint64(last))
    while slots[slot] >= 0:
        number = np.int64(slots[slot])
        first = offsets[number]
        length = offsets[number + 1] - first
        if length == stop - start:
            i = 0
            while i < length and data[first + i] == key[start + i]:
                i += 1
            if i == length:
                return number, slot
        slot = (slot + 1) & last
    return np.int64(-1), slot


@helper
def intern(
    key: Array, start: Integer, stop: Integer, data: Array, offsets: Array, slots: Array, counts: Array, size: int
) -> int:
    """Number of ``key[start:stop]``, taken in where it is new; ``counts[size]`` is the number of sequences."""
    number, slot = find(key, start, stop, data, offsets, slots)
    if number < 0:
        number = counts[size]
        first = offsets[number]
        for i in range(stop - start):
            data[first + i] = key[start + i]
        offsets[number + 1] = first + stop - start
        slots[slot] = number
        counts[size] = number + 1
    return number


@helper
def has_room(store: Store, count: int, elements: int) -> bool:
    """Whether a row may be taken in that adds at most `ROOM` sequences and ``elements + ROOM`` elements."""
    data, offsets, slots = store
    return (
        2 * (count + ROOM) <= len(slots)
        and count + ROOM < len(offsets)
        and offsets[count] + elements + ROOM <= len(data)
    )


@compiled
def find_all(keys: Array, starts: Array, stops: Array, data: Array, offsets: Array, slots: Array) -> Array:
    """Numbers of the sequences ``keys[starts[i]:stops[i]]``: int32[n], -1 where a sequence is not stored."""
    numbers = np.empty(len(starts), np.int32)
    for i in range(len(starts)):
        numbers[i] = find(keys, starts[i], stops[i], data, offsets, slots)[0]
    return numbers


@compiled
def fill_slots(data: Array, offsets: Array, slots: Array) -> int:
    """Enter all sequences into empty slots; the first that equals an earlier one is returned at once, else -1."""
    for i in range(len(offsets) - 1):
        number, slot = find(data, offsets[i], offsets[i + 1], data, offsets, slots)
        if number >= 0:
            return i
        slots[slot] = i
    return -1


def empty_slots(count: int) -> Array:
    """Slots for ``count`` sequences, at most half of them used: int32[power of two], all -1."""
    return np.full(1 << (max(4, 2 * count) - 1).bit_length(), -1, np.int32)


class Interner:
    """A store that grows while a file is read."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self.count = 0
        self.data = np.empty(0, dtype)
        self.offsets = np.zeros(1, np.int64)
        self.slots = empty_slots(0)
        self.reserve(0)

    @property
    def store(self) -> Store:
        return self.data, self.offsets, self.slots

    def reserve(self, elements: int) -> None:
        """Make room so that `has_room` holds for a line of this length; at least doubles what is too small."""
        used = int(self.offsets[self.count])
        if used + elements + ROOM > len(self.data):
            self.data = _enlarged(self.data, used, 2 * used + elements + ROOM)
        if self.count + ROOM >= len(self.offsets):
            self.offsets = _enlarged(self.offsets, self.count + 1, 2 * self.count + ROOM + 1)
        if 2 * (self.count + ROOM) > len(self.slots):
            self.slots = empty_slots(2 * self.count + ROOM)
            fill_slots(self.data, self.offsets[: self.count + 1], self.slots)

    def finished(self) -> Sequences:
        """The store, no larger than it has to be."""
        offsets = self.offsets[: self.count + 1].copy()
        data = self.data[: offsets[-1]].copy()
        slots = empty_slots(self.count)
        fill_slots(data, offsets, slots)
        return Sequences(data, offsets, slots)


def _enlarged(array: Array, used: int, size: int) -> Array:
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


@dataclass(frozen=True, eq=False)
class Sequences:
    """Distinct sequences that can be found in constant time.

    Attributes:
        data: uint8[*] or int32[*], the sequences one after the other.
        offsets: int64[n + 1], where each starts.
        slots: int32[power of two], the hash table.

    The arrays are read-only, since they may be mapped from a file.

    Raises:
        ValueError: arrays that do not belong together.
    """

    data: Array
    offsets: Array
    slots: Array

    def __post_init__(self) -> None:
        check_offsets(self.offsets, len(self.data))
        size = len(self.slots)
        if size < 2 * len(self) or size < 4 or size & (size - 1) or self.slots.dtype != np.int32:
            raise ValueError(f"{size} slots for {len(self)} sequences")
        check_ids(self.slots, len(self), lowest=-1)
        if np.count_nonzero(self.slots >= 0) != len(self):
            raise ValueError("slots filled do not fit the number of sequences")
        for array in (self.data, self.offsets, self.slots):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def arrays(self, name: str) -> dict[str, Array]:
        """The arrays under names that start with ``name``."""
        return {f"{name}_data": self.data, f"{name}_offsets": self.offsets, f"{name}_slots": self.slots}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], name: str) -> Sequences:
        """What `arrays` gave. Raises KeyError for a missing array and ValueError for one that does not fit."""
        return cls(arrays[f"{name}_data"], arrays[f"{name}_offsets"], arrays[f"{name}_slots"])

    def find_all(self, keys: Array, starts: Array, stops: Array) -> Array:
        """Numbers of the sequences ``keys[starts[i]:stops[i]]``: int32[n], -1 where one is not there."""
        return find_all(keys, starts, stops, self.data, self.offsets, self.slots)


def check_offsets(offsets: Array, size: int) -> None:
    """Raises ValueError where ``offsets`` (int64[n + 1]) do not divide an array of ``size`` elements."""
    good = offsets.dtype == np.int64 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == size
    if not good or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("offsets do not fit their array")


def check_ids(ids: Array, count: int, lowest: int = 0) -> None:
    """Raises ValueError where an id is not in ``range(lowest, count)``."""
    if ids.size and (ids.min() < lowest or ids.max() >= count):
        raise ValueError(f"id beyond {count}")


class Vocabulary(Sequence[str]):
    """Words by id, decoded from UTF-8 when they are asked for; compares equal to a list of the same words."""

    def __init__(self, sequences: Sequences) -> None:
        if sequences.data.dtype != np.uint8:
            raise ValueError("words are bytes")
        self.sequences = sequences

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Vocabulary:
        """The vocabulary of distinct words, numbered in their order.

        Raises:
            ValueError: a word that stands there twice.
        """
        texts = list(words)
        data, offsets = encoded(texts)
        slots = empty_slots(len(texts))
        twice = fill_slots(data, offsets, slots)
        if twice >= 0:
            raise ValueError(f"word {texts[twice]!r} stands in the vocabulary twice")
        return cls(Sequences(data, offsets, slots))

    def __len__(self) -> int:
        return len(self.sequences)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self.decode(range(*index.indices(len(self))))
        place = range(len(self))[index]
        start, stop = self.sequences.offsets[place : place + 2]
        return self.sequences.data[start:stop].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.decode(range(len(self))))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.find([word])[0] >= 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list, it compares by content

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words of these ids."""
        data, offsets = self.sequences.data, self.sequences.offsets
        return [data[offsets[i] : offsets[i + 1]].tobytes().decode() for i in ids]

    def find(self, words: Sequence[str]) -> Array:
        """Ids of the words: int32[n], -1 for a word that is not in the vocabulary."""
        data, offsets = encoded(words)
        return self.sequences.find_all(data, offsets[:-1], offsets[1:])


def encoded(words: Sequence[str]) -> tuple[Array, Array]:
    """Words as UTF-8, uint8[*], and their offsets, int64[n + 1]."""
    raw = [word.encode() for word in words]
    offsets = np.zeros(len(raw) + 1, np.int64)
    np.cumsum([len(word) for word in raw], out=offsets[1:])
    return np.frombuffer(bytearray(b"".join(raw)), np.uint8), offsets
