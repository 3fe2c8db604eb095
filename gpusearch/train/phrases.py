"""One number for each distinct phrase of a text, in the byte order of the phrases.

All places of the text are sorted by the words that start there (a suffix array that looks `LONGEST` words ahead).
A phrase is then known by the first place in that order at which it stands, together with its length. These
keys are exact, unlike hashes; they sort as the phrases do, word by word, the shorter first; and a phrase's
occurrences stand together.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpusearch.io.compilation import compiled
from gpusearch.train.corpus import Array, Side

# Words of the longest phrase: a key keeps its length in 3 bits, an alignment its points in 64.
LONGEST = 8

#: Name of the file of :attr:`PhraseIndex.first`.
FIRST = "first.npy"


@dataclass(frozen=True, eq=False)
class PhraseIndex:
    """Phrase numbers of one side.

    Attributes:
        first: int32[T, L]: ``first[i, n - 1]`` is the smallest index into `places` of the n words from place i.
        places: int32[T], places of the text in the byte order of what starts there.
        common: uint8[T], how many words the entry of `places` has in common with the one before it, L at most.
    """

    first: Array
    places: Array
    common: Array

    def save(self, folder: Path) -> None:
        """Write `places` and `common`; `first` is in its file already if it was laid down in this folder."""
        folder.mkdir(parents=True, exist_ok=True)
        if not isinstance(self.first, np.memmap):
            np.save(folder / FIRST, self.first)
        np.save(folder / "places.npy", self.places)
        np.save(folder / "common.npy", self.common)

    @classmethod
    def load(cls, folder: Path) -> PhraseIndex:
        """Read what :meth:`save` wrote; `first` stays in its file."""
        first = np.load(folder / FIRST, mmap_mode="r", allow_pickle=False)
        names = ("places.npy", "common.npy")
        return cls(first, *(np.load(folder / name, allow_pickle=False) for name in names))

    @property
    def key_type(self) -> type[np.uint32] | type[np.uint64]:
        """The smallest type that holds every key."""
        return np.uint32 if LONGEST * len(self.places) < 2**32 else np.uint64


def key_place(index: PhraseIndex, keys: Array) -> tuple[Array, Array]:
    """A place where each phrase stands, and its length."""
    return index.places[keys // LONGEST], keys % LONGEST + 1


def index_phrases(side: Side, longest: int, folder: Path | None = None) -> PhraseIndex:
    """Number all phrases of at most `longest` words.

    Time O(T log T), memory about 40 bytes a word; `first` is laid down in a file where a folder is given, so that
    the system may take its memory back.
    """
    size = len(side.words)
    ends = np.repeat(side.offsets[1:], side.lengths())
    rank = side.words.astype(np.int64)
    width = 1
    while width < longest:
        step = min(width, longest - width)
        rank = _extended(rank, ends, step)
        width += step
    order = np.argsort(rank, kind="stable").astype(np.int32)
    common = np.empty(size, np.uint8)
    _common(side.words, ends, order, longest, common)
    if folder is None:
        first: Array = np.empty((size, longest), np.int32)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        first = np.lib.format.open_memmap(folder / FIRST, "w+", np.dtype(np.int32), (size, longest))
    _first(order, common, first)
    return PhraseIndex(first, order, common)


def _extended(rank: Array, ends: Array, step: int) -> Array:
    """Ranks of the words from each place, given those of fewer words: a rank and the one `step` words later."""
    later = np.zeros_like(rank)
    later[:-step] = rank[step:]
    later[np.arange(len(rank)) + step >= ends] = 0
    pair = rank * (later.max(initial=0) + 1) + later
    order = np.argsort(pair, kind="stable")
    ordered = pair[order]
    new = np.ones(len(pair), np.int64)
    new[1:] = ordered[1:] != ordered[:-1]
    result = np.empty_like(rank)
    result[order] = np.cumsum(new)
    return result


@compiled
def _common(words: Array, ends: Array, order: Array, longest: int, common: Array) -> None:
    for index in range(len(order)):
        length = 0
        if index > 0:
            here, before = order[index], order[index - 1]
            room = min(longest, ends[here] - here, ends[before] - before)
            while length < room and words[here + length] == words[before + length]:
                length += 1
        common[index] = length


@compiled
def _first(order: Array, common: Array, first: Array) -> None:
    longest = first.shape[1]
    current = np.zeros(longest, np.int32)
    for index in range(len(order)):
        for length in range(common[index], longest):
            current[length] = index
        place = order[index]
        for length in range(longest):
            first[place, length] = current[length]
