"""Units: the smallest texts that are searched independently, and the keys of their random numbers.

The key of a unit is the BLAKE2b hash with 8 bytes of output over, in this order,

- the seed, 8 bytes, little-endian, unsigned;
- what identifies the document: ``i`` and its id in UTF-8; or, where it has none, ``t``, the count of equal
  documents before it (8 bytes, little-endian), and its source tokens in UTF-8, each followed by a blank, each
  sentence followed by a newline;
- the sentence's index in the document, 8 bytes, little-endian, signed; -1 where the unit is the document.

The first four bytes of the hash, little-endian, are the low word of the Philox key, the others its high word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.kernels.records import (
    UNIT_COLUMNS,
    UNIT_FIRST_SENTENCE,
    UNIT_FIRST_WORD,
    UNIT_KEY_HIGH,
    UNIT_KEY_LOW,
    UNIT_SENTENCES,
    UNIT_WORDS,
)

Sentence = Sequence[str]
Document = Sequence[Sentence]

# Kernels hold the two ends of a phrase in one int32.
MOST_WORDS = (1 << 15) - 1


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a batch of documents. A text without words is no unit: there is nothing to search.

    Sentences are counted through the batch, documents one after the other, empty sentences included.
    """

    rows: NDArray[np.int64]
    """``[U, UNIT_COLUMNS]``, the rows of ``Problem.unit``."""
    document: NDArray[np.int64]
    """``[U]``: the document that each unit belongs to."""
    first_sentence: NDArray[np.int64]
    """``[D + 1]``: first sentence of each document in the batch."""
    words: NDArray[np.int64]
    """``[N]``: source words of each sentence."""
    of_sentence: NDArray[np.int64]
    """``[N]``: the unit of each sentence, -1 where it belongs to none."""
    kind: str
    """``sentence`` or ``document``."""

    def sentences(self, unit: int) -> range:
        """Sentences of a unit, counted through the batch."""
        first = int(self.rows[unit, UNIT_FIRST_SENTENCE])
        return range(first, first + int(self.rows[unit, UNIT_SENTENCES]))

    def place(self, sentence: int) -> tuple[int, int]:
        """Document of a sentence of the batch, and its index there."""
        document = int(np.searchsorted(self.first_sentence, sentence, side="right")) - 1
        return document, sentence - int(self.first_sentence[document])

    def name(self, unit: int) -> str:
        """The unit in words, for messages: numbers from 1."""
        document, sentence = self.place(int(self.rows[unit, UNIT_FIRST_SENTENCE]))
        whole = self.first_sentence[document + 1] - self.first_sentence[document]
        if self.rows[unit, UNIT_SENTENCES] == whole and whole > 1:
            return f"document {document + 1}"
        return f"document {document + 1}, sentence {sentence + 1}"


def document_identities(documents: Sequence[Document], ids: Sequence[str | None] | None = None) -> list[bytes]:
    """What tells the documents of a corpus apart, as it goes into their keys.

    Call it once for the whole corpus: a document without an id is known by its tokens and by the count of equal
    ones before it.
    """
    identities: list[bytes] = []
    seen: dict[bytes, int] = {}
    for number, document in enumerate(documents):
        name = ids[number] if ids is not None else None
        if name is not None:
            identities.append(b"i" + name.encode("utf-8"))
            continue
        text = "".join("".join(word + " " for word in sentence) + "\n" for sentence in document).encode("utf-8")
        count = seen.get(text, 0)
        seen[text] = count + 1
        identities.append(b"t" + count.to_bytes(8, "little") + text)
    return identities


def unit_key(seed: int, identity: bytes, sentence: int = -1) -> tuple[int, int]:
    """Low and high 32-bit word of a unit's Philox key; `sentence` is -1 where the unit is the document."""
    return _key(_document_hash(seed, identity), sentence)


def _document_hash(seed: int, identity: bytes) -> blake2b:
    if not 0 <= seed < 1 << 64:
        raise InputError("unusable seed", found=seed, expected="0 .. 2^64 - 1")
    return blake2b(seed.to_bytes(8, "little") + identity, digest_size=8)


def _key(document_hash: blake2b, sentence: int) -> tuple[int, int]:
    digest = document_hash.copy()
    digest.update(sentence.to_bytes(8, "little", signed=True))
    key = int.from_bytes(digest.digest(), "little")
    return key & 0xFFFFFFFF, key >> 32


def make_units(documents: Sequence[Document], identities: Sequence[bytes], *, units: str, seed: int) -> Units:
    """Cut documents into units: each sentence with a word (``units="sentence"``), or each document with one.

    Raises:
        InputError: `units` is neither ``sentence`` nor ``document``; a seed out of range; a sentence of
            more than `MOST_WORDS` words.
    """
    if units not in ("sentence", "document"):
        raise InputError("unknown kind of unit", found=repr(units), expected="sentence or document")
    words = np.array([len(sentence) for document in documents for sentence in document], dtype=np.int64)
    if words.max(initial=0) > MOST_WORDS:
        raise InputError("a sentence is too long", found=f"{words.max()} words", expected=f"at most {MOST_WORDS}")
    first_sentence = np.concatenate(([0], np.cumsum([len(document) for document in documents], dtype=np.int64)))
    parts: list[tuple[int, int, int, int]] = []  # document, its sentence or -1, first sentence of the batch, count
    for number, (first, last) in enumerate(pairwise(first_sentence)):
        if units == "document":
            parts.append((number, -1, int(first), int(last - first)))
        else:
            parts.extend((number, index, int(first) + index, 1) for index in range(int(last - first)))
    parts = [part for part in parts if words[part[2] : part[2] + part[3]].any()]
    rows = np.zeros((len(parts), UNIT_COLUMNS), np.int64)
    of_sentence = np.full(len(words), -1, np.int64)
    hashes = [_document_hash(seed, identity) for identity in identities]
    for unit, (number, index, first, count) in enumerate(parts):
        of_sentence[first : first + count] = unit
        low, high = _key(hashes[number], index)
        rows[unit, UNIT_FIRST_SENTENCE], rows[unit, UNIT_SENTENCES] = first, count
        rows[unit, UNIT_WORDS] = words[first : first + count].sum()
        rows[unit, UNIT_KEY_LOW], rows[unit, UNIT_KEY_HIGH] = low, high
    rows[1:, UNIT_FIRST_WORD] = np.cumsum(rows[:-1, UNIT_WORDS])
    return Units(
        rows=rows,
        document=np.array([part[0] for part in parts], dtype=np.int64),
        first_sentence=first_sentence,
        words=words,
        of_sentence=of_sentence,
        kind=units,
    )
