"""Random back-off language models, made with whole numbers so that they are the same on every machine."""

from __future__ import annotations

import numpy as np

from gpusearch.io.arpa import Arpa
from gpusearch.kernels.records import Language
from gpusearch.model.language_model import LanguageModel, join_language_models

UNIT = 1 << 20


def random_arpa(seed: int, order: int, vocabulary: int = 24, ngrams: int = 60) -> Arpa:
    """An n-gram model over <s>, </s>, <unk> and more words: some impossible ones, some positive backoff weights.

    Longer n-grams extend shorter ones; all figures are hundredths.
    """
    rng = np.random.default_rng((seed, order))
    words = ["<s>", "</s>", "<unk>", *(f"w{n}" for n in range(3, vocabulary))]
    ids = [np.arange(vocabulary, dtype=np.int32)[:, None]]
    for _ in range(1, order):
        shorter = ids[-1][ids[-1][:, -1] != 1]
        longer = np.column_stack(
            (shorter[rng.integers(0, len(shorter), ngrams)], rng.integers(1, vocabulary, ngrams, dtype=np.int32))
        )
        ids.append(np.unique(longer, axis=0).astype(np.int32))
    probability = [-rng.integers(1, 400, len(rows)) / 100 for rows in ids]
    probability[0][rng.integers(3, vocabulary, 2)] = -99
    backoff = [rng.integers(-100, 30, len(rows)) / 100 * (rng.random(len(rows)) < 0.8) for rows in ids[:-1]]
    backoff.append(np.zeros(len(ids[-1])))
    return Arpa(
        words,
        tuple(ids),
        tuple(column.astype(np.float32) for column in probability),
        tuple(column.astype(np.float32) for column in backoff),
    )


def random_language(
    seed: int, orders: tuple[int, ...] = (3,), weights: tuple[int, ...] = (UNIT // 2,), vocabulary: int = 24
) -> Language:
    """Models of the given orders with the given weights (2^-20), as the one record that kernels read."""
    models = [
        LanguageModel.from_arpa(random_arpa(seed + number, order, vocabulary), weight=weight)
        for number, (order, weight) in enumerate(zip(orders, weights, strict=True))
    ]
    return join_language_models(models, weights)
