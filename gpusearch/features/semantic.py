"""The semantic document language model (Hardmeier et al. 2012, section 4.3, equation 15): its file and its scores.

    h(w | history) = ln p(w)                    for a stop word: its relative frequency
                     ln(alpha p_cos(w|history))  for a word of the space
                     ln epsilon                  for any other word

p_cos comes from the cosine of the word's vector and the sum of the vectors of up to 30 words of the space before it,
in the same document, across the borders of sentences: by a histogram with 64 bins of equal width. Vectors have length
1, so that each word of a history counts the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.io.arrays import array_file, read_arrays
from gpusearch.kernels.semantic import BINS, LENGTHS, UNKNOWN, VECTOR_BITS, Semantic, score_codes
from gpusearch.kernels.target import exact

VERSION = 1
VALUE_UNITS = 1 << 20
# What kernels can hold (`gpusearch.kernels.semantic`): words of a history, nats; vectors have the length 1, rounded.
MOST_HISTORY, MOST_NATS, MOST_LENGTH = 1 << 16, 2047, 1.01
# Dimensions that a CPU takes in one go; with zeros up to a multiple of them a word takes a third of the time.
PADDED_TO = 32
_ARRAYS = {
    "version": ("iu", 0), "words": ("u", 1), "vector": ("i", 2), "stop": ("f", 1), "histogram": ("f", 1),
    "first": ("f", 0), "unknown": ("f", 0), "history": ("iu", 0), "lowercase": ("b", 0),
}  # fmt: skip

Sentences = Iterable[Sequence[str]]
"""The sentences of a document, which are lists of tokens."""


@dataclass(frozen=True, eq=False)
class SemanticSpace:
    """A trained model."""

    content: tuple[str, ...]
    """``[V]``: the words of the space."""
    stop: tuple[str, ...]
    """``[S]``: stop words."""
    vector: NDArray[np.int16]
    """``[V, D]``: word vectors times 2^14."""
    stop_value: NDArray[np.float64]
    """``[S]``: ln of the relative frequency."""
    histogram: NDArray[np.float64]
    """``[64]``: ln(alpha p_cos), for cosines from -1 to 1."""
    first: float
    """Of a word of the space that has no history: ln(alpha / V)."""
    unknown: float
    """ln epsilon."""
    history: int
    lowercase: bool
    """Words are looked up in lower case."""

    def codes(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Of each word the row of its vector; -1 for one that is unknown, -2, -3, ... for the stop words."""
        found = [self._code.get(word.lower() if self.lowercase else word, UNKNOWN) for word in words]
        return np.array(found, np.int32)

    @cached_property
    def _code(self) -> dict[str, int]:
        codes = {word: number for number, word in enumerate(self.content)}
        return codes | {word: UNKNOWN - 1 - number for number, word in enumerate(self.stop)}

    @cached_property
    def kernel(self) -> Semantic:
        """The model as kernels read it; values are rounded to 2^-20 nat one by one."""
        fixed = np.concatenate(([self.unknown], self.stop_value))
        return Semantic(
            vector=np.pad(self.vector, ((0, 0), (0, -self.vector.shape[1] % PADDED_TO))),
            value=_integers(np.append(np.tile(self.histogram, LENGTHS), self.first)),
            fixed=_integers(fixed),
            number=np.array([self.history], np.int64),
        )

    def cosines(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Cosines ``[n]`` of a document's words and their histories; NaN where there is no such thing."""
        unit = self.vector / (1 << VECTOR_BITS)
        cosines = np.full(len(codes), np.nan)
        before: list[int] = []
        for place, code in enumerate(codes.tolist()):
            if code < 0:
                continue
            if before:
                mean = unit[before[-self.history :]].mean(axis=0)
                length = float(np.linalg.norm(mean))
                cosines[place] = float(unit[code] @ mean) / length if length else 0.0
            before.append(code)
        return cosines

    def word_scores(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Equation 15, ``[n]`` nats, in float64: what the integers stand for."""
        cosines = self.cosines(codes)
        place = np.clip(np.floor((np.nan_to_num(cosines) + 1) * (BINS / 2)), 0, BINS - 1).astype(int)
        fixed = np.concatenate(([self.unknown], self.stop_value))[np.where(codes < 0, -1 - codes, 0)]
        return np.where(codes < 0, fixed, np.where(np.isnan(cosines), self.first, self.histogram[place]))

    def document_score(self, sentences: Sentences) -> float:
        """Score of a document in nats, in float64."""
        return float(self.word_scores(self._of_document(sentences)).sum())

    def document_value(self, sentences: Sentences) -> int:
        """The same as kernels compute it, interpreted: an integer in 2^-20 nat."""
        codes = self._of_document(sentences)
        total = exact(np.zeros(self.kernel.vector.shape[1], np.int64))
        return int(score_codes(exact(self.kernel), exact(codes), len(codes), total))

    def _of_document(self, sentences: Sentences) -> NDArray[np.int32]:
        return self.codes(word for sentence in sentences for word in sentence)


def _integers(nats: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.rint(nats * VALUE_UNITS).astype(np.int32)


def save_space(space: SemanticSpace, path: str | Path) -> None:
    """Write a space as npz; equal spaces give equal bytes."""
    words = "\n".join([*space.content, *space.stop]).encode()
    with array_file(Path(path)) as save:
        save("version", np.array(VERSION))
        save("words", np.frombuffer(words, np.uint8))
        save("vector", space.vector.astype("<i2"))
        save("stop", space.stop_value.astype("<f8"))
        save("histogram", space.histogram.astype("<f8"))
        save("first", np.array(space.first, np.float64))
        save("unknown", np.array(space.unknown, np.float64))
        save("history", np.array(space.history))
        save("lowercase", np.array(space.lowercase))


def load_space(path: str | Path) -> SemanticSpace:
    """Read what `save_space` wrote.

    Raises:
        InputError: not such a file; sizes that do not fit each other, numbers that kernels cannot hold.
    """
    arrays = read_arrays(Path(path), _ARRAYS, "a space as gpusearch train-lsa writes it")
    version = arrays["version"].tolist()
    if version != VERSION:
        raise InputError("a space of another version", path=path, found=version, expected=VERSION)
    try:
        text = arrays["words"].tobytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"a space whose words are not UTF-8 ({error})", path=path, hint="train it again") from None
    words = tuple(text.split("\n")) if text else ()
    vector = np.ascontiguousarray(arrays["vector"], np.int16)
    sizes = len(vector) + len(arrays["stop"]), arrays["histogram"].shape
    if sizes != (len(words), (BINS,)) or arrays["vector"].dtype != np.int16:
        raise InputError("a space whose parts do not fit each other", path=path, hint="train it again")
    nats = np.concatenate((arrays["stop"], arrays["histogram"], [arrays["first"], arrays["unknown"]]))
    length = np.linalg.norm(vector / (1 << VECTOR_BITS), axis=1)
    for what, found, least, most in (
        ("history, words", int(arrays["history"]), 1, MOST_HISTORY),
        ("logarithm, nats", float(np.abs(nats).max()), 0, MOST_NATS),
        ("length of a vector", float(length.max(initial=0)), 0, MOST_LENGTH),
    ):
        if not least <= found <= most:
            expected = f"{least} to {most}"
            raise InputError(f"a space that does not fit ({what})", path=path, found=found, expected=expected)
    return SemanticSpace(
        content=words[: len(vector)],
        stop=words[len(vector) :],
        vector=vector,
        stop_value=arrays["stop"],
        histogram=arrays["histogram"],
        first=float(arrays["first"]),
        unknown=float(arrays["unknown"]),
        history=int(arrays["history"]),
        lowercase=bool(arrays["lowercase"]),
    )
