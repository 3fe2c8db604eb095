"""A language model that is asked in KenLM on the host, with what the device knows of it: bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusearch.errors import InputError
from gpusearch.model.bound_check import check_same_model, check_same_words
from gpusearch.model.bound_model import bound_model, no_bound
from gpusearch.model.kenlm_pool import KenlmPool, check_kenlm
from gpusearch.model.kenlm_vocabulary import is_kenlm_binary
from gpusearch.model.language_model import LanguageModel, PhraseBounds
from gpusearch.model.weights import VALUE_UNITS

_HASHED_BLOCKS, _BLOCK = 256, 1 << 14


@dataclass(frozen=True, eq=False)
class HostLanguageModel(LanguageModel):
    """A language model whose values KenLM gives; a context manager that ends KenLM's processes.

    Its ``language``, which kernels read, holds bounds only: what `lookup` and `lookup_bound` give there is never
    below (negative weight: above) KenLM's value. They have the same word ids.

    Attributes:
        pool: answers questions of the form (context, word).
    """

    pool: KenlmPool = field(kw_only=True)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        weight: float = 1.0,
        bound_order: int | None = None,
        bound_path: str | Path | None = None,
        processes: int | None = None,
        cache: bool = True,
    ) -> HostLanguageModel:
        """A model of any form that KenLM reads: ARPA, probing, trie, quantised.

        Args:
            path: the model.
            weight: what values will be multiplied with; its sign says on which side bounds are.
            bound_order: bounds from the n-grams up to this order and the extremes over all longer contexts. Without
                it the bound of ln P is 0 (negative weight: -2047).
            bound_path: the ARPA file that bounds are computed from where `path` is not one; of the same model.
            processes: how many ask KenLM; by default as many as there are cores.
            cache: for `bound_order`, see `LanguageModel.from_arpa`.

        Raises:
            InputError: see `KenlmPool`; `bound_order` with a binary file and no `bound_path`, or that of another model.
        """
        check_kenlm(path)
        arpa = bound_path or path
        if bound_order is not None and is_kenlm_binary(arpa):
            raise InputError(
                "bounds of scores are computed from an ARPA file",
                path=arpa,
                found=f"bound_order = {bound_order} with a KenLM binary",
                hint="name the ARPA file as bound_path, or leave bound_order out",
            )
        pool = KenlmPool(path, processes=processes)
        try:
            if bound_order is None:
                bounds = no_bound(pool.words, -1 if weight < 0 else 1)
                pool.number(bounds.vocabulary)
            else:
                full = LanguageModel.from_arpa(arpa, weight=weight, cache=cache)
                if bound_order > full.order:
                    raise InputError(
                        "no n-grams that long to compute bounds from",
                        path=arpa,
                        found=f"bound_order = {bound_order}",
                        expected=f"at most {full.order}, the order of the model",
                    )
                bounds = bound_model(full, bound_order)
                if bound_path is not None:
                    check_same_words(full, pool.words, path, arpa)
                pool.number(bounds.vocabulary)
                if bound_path is not None:
                    check_same_model(full, pool, arpa)
        except BaseException:
            pool.close()
            raise
        return cls(bounds.vocabulary, bounds.language, bounds.unknown, bounds.largest_value, bounds.sign, pool=pool)

    def __enter__(self) -> HostLanguageModel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pool.close()

    def file_hash(self) -> bytes:
        """8 bytes that tell model files apart: BLAKE2b-64 of the size and of at most 256 blocks, evenly spread."""
        digest = blake2b(digest_size=8)
        size = self.pool.path.stat().st_size
        digest.update(size.to_bytes(8, "little"))
        with open(self.pool.path, "rb") as file:
            for place in sorted({size * block // _HASHED_BLOCKS for block in range(_HASHED_BLOCKS)}):
                file.seek(place)
                digest.update(file.read(_BLOCK))
        return digest.digest()

    def check_bounds(self, word: NDArray[np.int64], value: NDArray[np.int32]) -> None:
        """Make sure that what KenLM said of words (ids) in some contexts is within their bounds.

        Raises:
            InputError: it is not. Without `bound_order` no ln P may be above 0, yet files with odd backoffs have such.
        """
        beyond = self.sign * (value.astype(np.int64) - self.language.extreme[word])
        if len(beyond) and beyond.max() > 0:
            worst = int(beyond.argmax())
            bound = f"{self.language.extreme[word[worst]] / VALUE_UNITS:.4f}"
            raise InputError(
                "the language model gives a word more than its bound",
                path=self.pool.path,
                found=f"ln P of {self.vocabulary[int(word[worst])]!r} = {value[worst] / VALUE_UNITS:.4f}",
                expected=f"at {'most' if self.sign > 0 else 'least'} {bound}",
                hint="set bound_order (and bound_path for a KenLM binary): bounds are then computed from the file",
            )

    @property
    def order(self) -> int:
        """Length of the longest n-grams, not of those that the bounds come from."""
        return self.pool.order

    def phrase_bounds(
        self, words: NDArray[np.int32], offsets: NDArray[np.int64], *, threads: int | None = None
    ) -> PhraseBounds:
        """Bounds from the small model; estimates from KenLM."""
        bounds = super().phrase_bounds(words, offsets, threads=threads)
        value = self.pool.score(windows(words, np.repeat(offsets[:-1], np.diff(offsets)), self.order))
        total = np.concatenate(([0], np.cumsum(value, dtype=np.int64)))
        return bounds._replace(estimate=total[offsets[1:]] - total[offsets[:-1]])

    def _score(
        self, ids: ArrayLike, lengths: ArrayLike, bos: bool, eos: bool, threads: int | None
    ) -> NDArray[np.int32]:
        words, count = self._checked(ids, lengths)
        # Each row as a text of its own: <s>, the words, </s>.
        text = np.full((len(words), words.shape[1] + 2), -1, np.int32)
        text[:, 1:-1] = words
        text[:, 0] = self.begin
        text[np.arange(len(words)), count + 1] = self.end
        column = np.arange(text.shape[1])
        asked = (column >= 1) & (column < count[:, None] + 1 + eos)
        row, place = np.nonzero(asked)
        start = row * text.shape[1] + (0 if bos else 1)
        queries = windows(text.reshape(-1), start, self.order, row * text.shape[1] + place)
        values = np.zeros((len(words), words.shape[1] + 1), np.int32)
        values[row, place - 1] = self.pool.score(queries)
        return values


def windows(
    words: NDArray[np.int32], start: NDArray[np.int64], order: int, place: NDArray[np.int64] | None = None
) -> NDArray[np.int32]:
    """Questions for `KenlmPool.score`: the words at ``place`` (default: all) with up to order - 1 words before them,
    none of them before ``start``; -1 where there is none."""
    place = np.arange(len(words)) if place is None else place
    before = place[:, None] - np.arange(order - 1, -1, -1)
    return np.where(before >= start[:, None], words[np.maximum(before, 0)], np.int32(-1))
