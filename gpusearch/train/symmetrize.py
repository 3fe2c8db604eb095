"""One alignment from two directions: grow-diag-final-and (Koehn et al. 2005; Och and Ney 2003 for the idea).

A direction gives each word of one side at most one word of the other. The heuristic starts from the points that
both directions have, adds neighbouring points of their union while one of the two words is unaligned, and at last
points of either direction between two words that are both unaligned.
"""

from __future__ import annotations

import numpy as np

from gpusearch.io.compilation import compiled
from gpusearch.train.corpus import Array, ParallelCorpus
from gpusearch.train.links import Links

# Neighbours of a point (target, source), in the order in which they are tried.
_NEIGHBOURS = np.array([(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)])


def grow_diag_final_and(corpus: ParallelCorpus, source_of_target: Array, target_of_source: Array) -> Links:
    """Symmetrised word alignment of all sentence pairs.

    Args:
        corpus: N sentence pairs.
        source_of_target: int16[target words], for each target word its source place within the sentence, or -1.
        target_of_source: int16[source words], likewise.
    """
    offsets = np.zeros(len(corpus) + 1, np.int64)
    points = np.empty((len(source_of_target) + len(target_of_source), 2), np.uint16)
    longest = max(int(corpus.source.lengths().max()), int(corpus.target.lengths().max()))
    size = _symmetrize(
        corpus.source.offsets,
        corpus.target.offsets,
        source_of_target,
        target_of_source,
        np.zeros((longest, longest), np.uint8),
        offsets,
        points,
    )
    return Links(offsets, points[:size].copy())


@compiled
def _symmetrize(
    source_offsets: Array,
    target_offsets: Array,
    source_of_target: Array,
    target_of_source: Array,
    grid: Array,
    offsets: Array,
    points: Array,
) -> int:
    count = 0
    for sentence in range(len(offsets) - 1):
        forward = source_of_target[target_offsets[sentence] : target_offsets[sentence + 1]]
        backward = target_of_source[source_offsets[sentence] : source_offsets[sentence + 1]]
        _grow(forward, backward, grid)
        for source in range(len(backward)):
            for target in range(len(forward)):
                if grid[target, source] & 4:
                    points[count, 0] = source
                    points[count, 1] = target
                    count += 1
                grid[target, source] = 0
        offsets[sentence + 1] = count
    return count


@compiled
def _grow(forward: Array, backward: Array, grid: Array) -> None:
    """Sets in `grid[target, source]` bit 1 and 2 for the points of either direction, bit 4 for the result."""
    source_aligned = np.zeros(len(backward), np.bool_)
    target_aligned = np.zeros(len(forward), np.bool_)
    for target in range(len(forward)):
        if forward[target] >= 0:
            grid[target, forward[target]] |= 1
    for source in range(len(backward)):
        if backward[source] >= 0:
            grid[backward[source], source] |= 2
    for target in range(len(forward)):
        source = forward[target]
        if source >= 0 and grid[target, source] == 3:
            grid[target, source] |= 4
            source_aligned[source] = target_aligned[target] = True
    grown = True
    while grown:
        grown = False
        for target in range(len(forward)):
            for source in range(len(backward)):
                if grid[target, source] & 4:
                    for near in range(len(_NEIGHBOURS)):
                        t, s = target + _NEIGHBOURS[near, 0], source + _NEIGHBOURS[near, 1]
                        if not (0 <= t < len(forward) and 0 <= s < len(backward)):
                            continue
                        if 0 < grid[t, s] < 4 and not (target_aligned[t] and source_aligned[s]):
                            grid[t, s] |= 4
                            source_aligned[s] = target_aligned[t] = True
                            grown = True
    for direction in (1, 2):
        for target in range(len(forward)):
            for source in range(len(backward)):
                one_sided = grid[target, source] & direction and not grid[target, source] & 4
                if one_sided and not target_aligned[target] and not source_aligned[source]:
                    grid[target, source] |= 4
                    source_aligned[source] = target_aligned[target] = True
