"""Confidence-based pruning of candidates (Cheng & Vlachos 2023, algorithms 1 and 2).

Candidates meet a few references first, then twice as many, and so on; after each round, those that almost never win a
bootstrap against the best are given up. It pays where a pair is expensive (TER, a function); BLEU and chrF of all pairs
need no help.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.pool import Pool
from gpusearch.mbr.matrix import MEMORY, all_pairs
from gpusearch.mbr.utility import Index, Pairs, Utility

FIRST_ROUND = 8
_RESAMPLES = 500


def survivors(
    utility: Utility,
    pairs: Pairs,
    pool: Pool,
    confidence: float,
    *,
    keep: int = 1,
    seed: int = 1,
    memory: int = MEMORY,
) -> Index:
    """Candidates that may be the best, in ascending order; at least `keep`.

    Rounds draw 8, 16, 32, ... references by their weights, up to half of the number of candidates. A candidate goes
    if it is at least as good as the `keep`-th best in less than ``1 - confidence`` of the resamples of the references;
    with a confidence of 1 none goes.

    Args:
        confidence: 0-1, that the best one stays.
    """
    generator = np.random.default_rng(seed)
    alive = np.arange(len(pool.weights))
    most = len(alive) // 2
    drawn = generator.choice(len(alive), size=max(0, most), p=pool.weights) if most else np.zeros(0, np.int64)
    seen = np.empty((len(alive), 0))
    size = FIRST_ROUND
    while size <= most and len(alive) > keep:
        seen = np.concatenate([seen, _of_drawn(utility, pairs, alive, drawn[seen.shape[1] : size], memory)], axis=1)
        stays = _may_win(seen, confidence, keep, generator)
        alive, seen = alive[stays], seen[stays]
        size *= 2
    return alive


def _may_win(
    seen: NDArray[np.float64], confidence: float, keep: int, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Which candidates [H] stay, by their utilities against the references seen so far [H, r]."""
    references = seen.shape[1]
    counts = generator.multinomial(references, np.full(references, 1 / references), size=_RESAMPLES)
    resampled = seen @ counts.T
    order = np.argsort(-seen.mean(axis=1), kind="stable")
    rival = resampled[order[min(keep, len(order)) - 1]]
    wins = (resampled >= rival - 1e-9 * np.abs(rival)).mean(axis=1)
    stays = wins >= 1 - confidence
    stays[order[:keep]] = True
    return np.asarray(stays)


def _of_drawn(utility: Utility, pairs: Pairs, rows: Index, drawn: Index, memory: int) -> NDArray[np.float64]:
    """Utilities [H, drawn]; a reference that was drawn twice is looked at once."""
    columns, place = np.unique(drawn, return_inverse=True)
    return all_pairs(utility, pairs, rows, columns, memory)[:, place]
