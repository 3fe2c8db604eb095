"""A search problem of realistic size, made from random numbers: for machines that no model can be brought to.

Words follow Zipf's law, so that the language model finds longer n-grams about as often as in text.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusearch.io.arpa import Arpa
from gpusearch.kernels.records import Problem, Search
from gpusearch.model.language_model import LanguageModel, join_language_models
from tests.random_problem import PlainOperations, PlainSettings, random_problem

UNIT = 1 << 20
#: The default mix of `[search.operations]`.
DEFAULT_MIX = PlainOperations(
    change=80, swap=40, resegment=300, permute=0, linearise=0, move=0, insertion=0, split_and_swap=0
)


def synthetic_problem(
    *,
    sentences: int = 300,
    words: int = 28,
    vocabulary: int = 50_000,
    ngrams: int = 600_000,
    order: int = 5,
    units: str = "sentence",
    seed: int = 1,
) -> tuple[Problem, Search, int]:
    """Problem, settings and K: `sentences` of about `words` words, a language model of `ngrams` for each order from 2.

    The defaults give some 210,000 options and 2,400,000 n-grams, whose tables (130 MB) are larger than any cache.
    """
    rng = np.random.default_rng(seed)
    model = LanguageModel.from_arpa(_arpa(rng, order, vocabulary, ngrams))
    lengths = tuple(rng.integers(words // 2, words * 3 // 2, sentences).tolist())
    return random_problem(
        seed,
        join_language_models([model], [UNIT // 2]),
        sentences=lengths,
        units=units,
        longest=5,
        most_options=16,
        values=7,
        words=_zipf(rng, vocabulary, 1 << 18),
        lengths=(1, 1, 1, 2, 2, 2, 3, 3, 4),
        largest=4 * UNIT,
        settings=PlainSettings(operations=DEFAULT_MIX),
    )


def _zipf(rng: np.random.Generator, vocabulary: int, count: int) -> NDArray[np.int32]:
    """Words whose frequency falls with their rank; the first three are no words of text."""
    return (2 + np.floor((vocabulary - 2) ** rng.random(count))).astype(np.int32)


def _arpa(rng: np.random.Generator, order: int, vocabulary: int, ngrams: int) -> Arpa:
    words = ["<s>", "</s>", "<unk>", *(f"w{n}" for n in range(3, vocabulary))]
    ids = [np.arange(vocabulary, dtype=np.int32)[:, None]]
    for n in range(2, order + 1):
        if n == 2:
            longer = np.column_stack((_zipf(rng, vocabulary, ngrams), _zipf(rng, vocabulary, ngrams)))
        else:
            rows = rng.integers(0, len(ids[-1]), ngrams)
            longer = np.column_stack((ids[-1][rows], _zipf(rng, vocabulary, ngrams)))
        ids.append(_distinct(longer))
    probability = [-(rng.random(len(rows)) * 3 + 0.1) for rows in ids]
    backoff = [-(rng.random(len(rows)) * 0.6) for rows in ids[:-1]]
    backoff.append(np.zeros(len(ids[-1])))
    return Arpa(
        words,
        tuple(ids),
        tuple(column.astype(np.float32) for column in probability),
        tuple(column.astype(np.float32) for column in backoff),
    )


def _distinct(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Rows without repetition."""
    key = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        key = (key ^ (key >> np.uint64(29)) ^ rows[:, column].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    _, first = np.unique(key, return_index=True)
    return np.ascontiguousarray(rows[np.sort(first)])
