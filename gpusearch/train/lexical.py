"""Lexical translation probabilities w(f|e) and w(e|f), and the lexical weights of phrase pairs (Koehn et al. 2003).

Relative frequencies over all alignment points; a word without any is aligned with NULL, the word number 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpusearch.io.compilation import compiled
from gpusearch.train.corpus import Array, ParallelCorpus
from gpusearch.train.links import Links
from gpusearch.train.phrases import LONGEST


@dataclass(frozen=True, eq=False)
class LexicalTable:
    """Word translation probabilities, sorted by source and target word.

    Attributes:
        offsets: int64[source words + 2]; the entries of source word f are ``offsets[f]`` to ``offsets[f + 1]``.
        target: int32[*], target word of each entry.
        source_given_target, target_given_source: float64[*], w(f|e) and w(e|f).
    """

    offsets: Array
    target: Array
    source_given_target: Array
    target_given_source: Array

    def save(self, path: Path) -> None:
        """Write to a folder of plain arrays."""
        path.mkdir(parents=True, exist_ok=True)
        for name in ("offsets", "target", "source_given_target", "target_given_source"):
            np.save(path / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, path: Path) -> LexicalTable:
        """Read what :meth:`save` wrote."""
        names = ("offsets", "target", "source_given_target", "target_given_source")
        return cls(*(np.load(path / f"{name}.npy", allow_pickle=False) for name in names))


def count_words(corpus: ParallelCorpus, links: Links) -> LexicalTable:
    """Estimate the table from an aligned text."""
    sources, targets = len(corpus.source.vocabulary) + 1, len(corpus.target.vocabulary) + 1
    pairs = np.empty(len(links.points) + len(corpus.source.words) + len(corpus.target.words), np.int64)
    size = _word_pairs(
        corpus.source.words,
        corpus.source.offsets,
        corpus.target.words,
        corpus.target.offsets,
        links.offsets,
        links.points,
        targets,
        pairs,
    )
    distinct, counts = np.unique(pairs[:size], return_counts=True)
    source, target = distinct // targets, distinct % targets
    offsets = np.searchsorted(source, np.arange(sources + 1))
    return LexicalTable(
        offsets,
        target.astype(np.int32),
        counts / np.bincount(target, counts, targets)[target],
        counts / np.bincount(source, counts, sources)[source],
    )


@compiled
def _word_pairs(
    source: Array,
    source_offsets: Array,
    target: Array,
    target_offsets: Array,
    link_offsets: Array,
    points: Array,
    targets: int,
    pairs: Array,
) -> int:
    """One number for each point, and for each word without any; returns how many there are."""
    count = 0
    for sentence in range(len(link_offsets) - 1):
        source_at, target_at = source_offsets[sentence], target_offsets[sentence]
        source_free = np.ones(source_offsets[sentence + 1] - source_at, np.bool_)
        target_free = np.ones(target_offsets[sentence + 1] - target_at, np.bool_)
        for point in range(link_offsets[sentence], link_offsets[sentence + 1]):
            s, t = points[point, 0], points[point, 1]
            source_free[s] = target_free[t] = False
            pairs[count] = np.int64(source[source_at + s]) * targets + target[target_at + t]
            count += 1
        for s in range(len(source_free)):
            if source_free[s]:
                pairs[count] = np.int64(source[source_at + s]) * targets
                count += 1
        for t in range(len(target_free)):
            if target_free[t]:
                pairs[count] = target[target_at + t]
                count += 1
    return count


def lexical_weights(
    table: LexicalTable,
    source: Array,
    target: Array,
    places: tuple[Array, Array],
    lengths: tuple[Array, Array],
    alignment: Array,
) -> Array:
    """lex(f|e) and lex(e|f) of phrase pairs.

    Each word contributes the mean of its probabilities given the words it is aligned with, or the one given NULL.

    Args:
        source, target: int32[T], the words of either side of the text.
        places, lengths: for source and target, int[N]: where each phrase stands, and its length.
        alignment: uint64[N], bit ``8 s + t`` for each point.

    Returns:
        float64[N, 2].
    """
    weights = np.empty((len(alignment), 2))
    entries = (table.offsets, table.target, table.source_given_target, table.target_given_source)
    _lexical_weights(*entries, source, target, *places, *lengths, alignment, weights)
    return weights


@compiled
def _entry(offsets: Array, targets: Array, source: int, target: int) -> int:
    low, high = offsets[source], offsets[source + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if targets[middle] <= target:
            low = middle
        else:
            high = middle
    return low


@compiled
def _lexical_weights(
    offsets: Array,
    targets: Array,
    source_given_target: Array,
    target_given_source: Array,
    source: Array,
    target: Array,
    source_places: Array,
    target_places: Array,
    source_lengths: Array,
    target_lengths: Array,
    alignment: Array,
    weights: Array,
) -> None:
    for pair in range(len(alignment)):
        s_words = source[source_places[pair] : source_places[pair] + source_lengths[pair]]
        t_words = target[target_places[pair] : target_places[pair] + target_lengths[pair]]
        inverse = direct = 1.0
        for s in range(len(s_words)):
            total, count = 0.0, 0
            for t in range(len(t_words)):
                if alignment[pair] >> np.uint64(LONGEST * s + t) & np.uint64(1):
                    total += source_given_target[_entry(offsets, targets, s_words[s], t_words[t])]
                    count += 1
            inverse *= total / count if count else source_given_target[_entry(offsets, targets, s_words[s], 0)]
        for t in range(len(t_words)):
            total, count = 0.0, 0
            for s in range(len(s_words)):
                if alignment[pair] >> np.uint64(LONGEST * s + t) & np.uint64(1):
                    total += target_given_source[_entry(offsets, targets, s_words[s], t_words[t])]
                    count += 1
            direct *= total / count if count else target_given_source[_entry(offsets, targets, 0, t_words[t])]
        weights[pair, 0] = inverse
        weights[pair, 1] = direct
