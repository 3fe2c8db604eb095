"""The translation options of a unit of samples, beside them: what their numbers mean, whatever becomes of the model.

Each option carries a hash of its content, so that samples that were made under other weights or limits merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.io.arrays import array_file, read_arrays
from gpusearch.kernels.records import OPTION_LENGTH, OPTION_START
from gpusearch.model.problem import Batch

HASH_BYTES = 16


@dataclass(frozen=True, eq=False)
class OptionTable:
    """``O`` options of a unit, ``T`` target words of all of them."""

    sentence: NDArray[np.int32]
    """[O] counted within the unit."""
    span: NDArray[np.int32]
    """[O, 2] first source word, and the one behind the last."""
    table: NDArray[np.int32]
    """[O] number of the phrase table; -1 an unknown word that is copied, -2 a translation that the input gave."""
    values: NDArray[np.float32]
    """[O, K'] feature values in nats: table columns, word penalty, phrase penalty, unknown words."""
    first_word: NDArray[np.int64]
    """[O + 1] first row of `word`."""
    word: NDArray[np.int32]
    """[T] target words, as indices into `vocabulary`."""
    hash: NDArray[np.uint8]
    """[O, 16] equal for equal options (`gpusearch.model.options.Options.content_hash`)."""
    vocabulary: list[str]

    def target(self, option: int) -> list[str]:
        """Target words."""
        return [self.vocabulary[k] for k in self.word[self.first_word[option] : self.first_word[option + 1]].tolist()]

    def same_as(self, other: OptionTable) -> bool:
        """Whether the same numbers mean the same options."""
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("sentence", "span", "hash"))


ARRAYS = {
    "sentence": ("i", 1), "span": ("i", 2), "table": ("i", 1), "values": ("f", 2), "first_word": ("i", 1),
    "word": ("i", 1), "hash": ("u", 2),
}  # fmt: skip
"""Kinds and numbers of dimensions, as `gpusearch.io.arrays.read_arrays` takes them."""


def unit_options(batch: Batch, unit: int) -> OptionTable:
    """The options of a unit of a batch, in their order there."""
    options = batch.options
    sentences = batch.units.sentences(unit)
    first, last = (int(options.first_option[s]) for s in (sentences.start, sentences.stop))
    every = range(first, last)
    targets = [options.target(option) for option in every]
    vocabulary = list(dict.fromkeys(word for target in targets for word in target))
    number = {word: k for k, word in enumerate(vocabulary)}
    start = options.place[first:last, OPTION_START]
    counts = np.diff(options.first_option[sentences.start : sentences.stop + 1])
    digest = b"".join(options.content_hash(option) for option in every)
    return OptionTable(
        sentence=np.repeat(np.arange(len(sentences), dtype=np.int32), counts),
        span=np.stack([start, start + options.place[first:last, OPTION_LENGTH]], axis=1).astype(np.int32),
        table=np.array([options.origin(option)[0] for option in every], np.int32),
        values=options.values(np.arange(first, last)).astype(np.float32),
        first_word=np.concatenate(([0], np.cumsum([len(target) for target in targets]))).astype(np.int64),
        word=np.array([number[word] for target in targets for word in target], np.int32),
        hash=np.frombuffer(digest, np.uint8).reshape(-1, HASH_BYTES),
        vocabulary=vocabulary,
    )


def write_options(path: Path, table: OptionTable) -> None:
    """Write all but the vocabulary, as npz without pickle; equal options give equal bytes."""
    with array_file(path) as save:
        for name in ARRAYS:
            save(name, getattr(table, name))


def read_options(path: Path, vocabulary: list[str]) -> OptionTable:
    """Read what `write_options` has written.

    Raises:
        InputError: something else, or parts that do not fit each other.
    """
    table = OptionTable(**read_arrays(path, ARRAYS, "options of samples"), vocabulary=vocabulary)
    count = len(table.sentence)
    shapes = [getattr(table, name).shape for name in ("span", "table", "values", "first_word", "hash")]
    fits = shapes == [(count, 2), (count,), (count, table.values.shape[1]), (count + 1,), (count, HASH_BYTES)]
    fits = fits and table.first_word[0] == 0 and table.first_word[-1] == len(table.word)
    words = table.word.min(initial=0), table.word.max(initial=-1)
    fits = fits and bool(((table.span[:, 0] >= 0) & (table.span[:, 0] < table.span[:, 1])).all())
    if not fits or (np.diff(table.first_word) < 0).any() or words[0] < 0 or words[1] >= len(vocabulary):
        raise InputError("options of samples whose parts do not fit each other", path=path)
    return table


def merged(tables: Sequence[OptionTable]) -> tuple[list[NDArray[np.int64]], int]:
    """Common numbers for the options of one unit in several folders: equal options get the same.

    Returns:
        for each table int64 [O] the number of each option, and how many numbers there are.
    """
    known: dict[bytes, int] = {}
    numbers = []
    for table in tables:
        keys = [s.to_bytes(4, "little") + h.tobytes() for s, h in zip(table.sentence.tolist(), table.hash, strict=True)]
        numbers.append(np.array([known.setdefault(key, len(known)) for key in keys], np.int64))
    return numbers, len(known)
