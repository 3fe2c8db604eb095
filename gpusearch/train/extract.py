"""All phrase pairs that agree with a word alignment, and how each stands to its neighbours.

A pair of spans is consistent if it holds at least one alignment point and no point connects a word inside of it
with one outside (Och, Tillmann and Ney 1999; Koehn, Och and Marcu 2003); unaligned words at its edges may belong
to it or not. The orientations are those of the word-based model of Koehn et al. (2005), see `orientation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpusearch.io.compilation import compiled
from gpusearch.train.corpus import Array, ParallelCorpus
from gpusearch.train.links import Links
from gpusearch.train.phrases import LONGEST, PhraseIndex

# Orientation classes, in the order of the columns of an mslr table; msd joins the last two.
MONOTONE, SWAP, DISCONTINUOUS_LEFT, DISCONTINUOUS_RIGHT = 0, 1, 2, 3

#: Rows that are handed out at a time, about.
CHUNK = 1 << 22


class Occurrences(NamedTuple):
    """Extracted phrase pairs, one row for each time a pair is extracted, in the order of the text.

    Attributes:
        source, target: keys of the phrases.
        alignment: uint64, bit ``8 s + t`` is the point of source word s and target word t of the pair.
        orientation: uint8, class of the step from the previous phrase, plus 4 times that of the step to the next.
    """

    source: Array
    target: Array
    alignment: Array
    orientation: Array


def extract(
    corpus: ParallelCorpus,
    links: Links,
    source: PhraseIndex,
    target: PhraseIndex,
    *,
    longest: int = 7,
    chunk: int = CHUNK,
) -> Iterator[tuple[int, Occurrences]]:
    """All occurrences of consistent phrase pairs of at most `longest` words a side.

    Within a sentence pair they are ordered by source start, source end, target start, target end. Yields the
    number of sentence pairs that are done, and their rows; the arrays are reused.
    """
    longest_sentence = int(corpus.source.lengths().max(initial=0))
    room = max(chunk, longest_sentence * longest * longest * longest)
    rows = Occurrences(
        np.empty(room, source.key_type),
        np.empty(room, target.key_type),
        np.empty(room, np.uint64),
        np.empty(room, np.uint8),
    )
    done = 0
    while done < len(corpus):
        done, count = _extract(
            done,
            corpus.source.offsets,
            corpus.target.offsets,
            links.offsets,
            links.points,
            source.first,
            target.first,
            longest,
            *rows,
        )
        yield done, Occurrences(*(column[:count] for column in rows))


@compiled
def orientation(left: bool, right: bool, lowest: int, highest: int, start: int, end: int) -> int:
    """Class of a phrase's step from its neighbour in target order, seen from the neighbouring target word.

    Args:
        left, right: whether that word is aligned with the source word just before, or just after, the phrase.
        lowest, highest: first and last source word that it is aligned with (lowest > highest: none).
        start, end: first and last source word of the phrase.

    Monotone: the point lies at the corner that a monotone step touches; swap: at the other corner. If it lies at
    both or at neither, the step is discontinuous: to the left where the neighbour has points only to the right of
    the phrase, otherwise to the right. (For the step to the next phrase, the corners change places.)
    """
    if left and not right:
        return MONOTONE
    if right and not left:
        return SWAP
    if not left and not right and highest > end + 1 and not lowest < start - 1:
        return DISCONTINUOUS_LEFT
    return DISCONTINUOUS_RIGHT


@compiled
def _spans(points: Array, begin: int, end: int, by_source: Array, by_target: Array) -> None:
    """First and last aligned word of each word, int64[*, 2]; [large, -1] where there is none."""
    by_source[:, 0] = by_target[:, 0] = 1 << 20
    by_source[:, 1] = by_target[:, 1] = -1
    for point in range(begin, end):
        s, t = np.int64(points[point, 0]), np.int64(points[point, 1])
        by_source[s, 0] = min(by_source[s, 0], t)
        by_source[s, 1] = max(by_source[s, 1], t)
        by_target[t, 0] = min(by_target[t, 0], s)
        by_target[t, 1] = max(by_target[t, 1], s)


@compiled
def _has(points: Array, begin: int, end: int, source: int, target: int) -> bool:
    for point in range(begin, end):  # noqa: SIM110 (a generator is slower in compiled code)
        if points[point, 0] == source and points[point, 1] == target:
            return True
    return False


@compiled
def _previous(points: Array, begin: int, end: int, by_target: Array, s1: int, s2: int, t1: int) -> int:
    if t1 == 0:
        return MONOTONE if s1 == 0 else DISCONTINUOUS_RIGHT
    left, right = _has(points, begin, end, s1 - 1, t1 - 1), _has(points, begin, end, s2 + 1, t1 - 1)
    return orientation(left, right, by_target[t1 - 1, 0], by_target[t1 - 1, 1], s1, s2)


@compiled
def _next(
    points: Array,
    begin: int,
    end: int,
    by_target: Array,
    s1: int,
    s2: int,
    t2: int,
    source_words: int,
    target_words: int,
) -> int:
    if t2 + 1 == target_words:
        return MONOTONE if s2 + 1 == source_words else DISCONTINUOUS_RIGHT
    after, before = _has(points, begin, end, s2 + 1, t2 + 1), _has(points, begin, end, s1 - 1, t2 + 1)
    # Mirrored: the next phrase steps right where its first word is aligned to the right of this phrase.
    lowest, highest = by_target[t2 + 1, 0], by_target[t2 + 1, 1]
    return orientation(after, before, -highest, -lowest, -s2, -s1)


@compiled
def _alignment(points: Array, point: int, end: int, s1: int, s2: int, t1: int) -> np.uint64:
    """Points of the source words s1 to s2 as bits; `point` is the first of s1."""
    alignment = np.uint64(0)
    while point < end and points[point, 0] <= s2:
        bit = LONGEST * (np.int64(points[point, 0]) - s1) + np.int64(points[point, 1]) - t1
        alignment |= np.uint64(1) << np.uint64(bit)
        point += 1
    return alignment


@compiled
def _extract(
    sentence: int,
    source_offsets: Array,
    target_offsets: Array,
    link_offsets: Array,
    points: Array,
    source_first: Array,
    target_first: Array,
    longest: int,
    out_source: Array,
    out_target: Array,
    out_alignment: Array,
    out_orientation: Array,
) -> tuple[int, int]:
    """Fill the rows with whole sentence pairs; returns the next sentence pair and the number of rows."""
    count = 0
    scratch = np.empty((2, 1 << 16, 2), np.int64)
    while sentence < len(source_offsets) - 1:
        source_at, target_at = source_offsets[sentence], target_offsets[sentence]
        source_words = source_offsets[sentence + 1] - source_at
        target_words = target_offsets[sentence + 1] - target_at
        begin, end = link_offsets[sentence], link_offsets[sentence + 1]
        if count + source_words * longest * longest * longest > len(out_source):
            break
        by_source, by_target = scratch[0, :source_words], scratch[1, :target_words]
        _spans(points, begin, end, by_source, by_target)
        link_begin = begin
        for s1 in range(source_words):
            while link_begin < end and points[link_begin, 0] < s1:
                link_begin += 1
            low, high = 1 << 20, -1
            for s2 in range(s1, min(s1 + longest, source_words)):
                low, high = min(low, by_source[s2, 0]), max(high, by_source[s2, 1])
                if high < 0:
                    continue
                if high - low >= longest:
                    break
                consistent = True
                for t in range(low, high + 1):
                    if by_target[t, 1] >= 0 and (by_target[t, 0] < s1 or by_target[t, 1] > s2):
                        consistent = False
                        break
                if not consistent:
                    continue
                source_key = source_first[source_at + s1, s2 - s1] * LONGEST + (s2 - s1)
                lowest = low
                while lowest > 0 and high - lowest + 1 < longest and by_target[lowest - 1, 1] < 0:
                    lowest -= 1
                highest = high
                while highest + 1 < target_words and highest - low + 1 < longest and by_target[highest + 1, 1] < 0:
                    highest += 1
                for t1 in range(lowest, low + 1):
                    alignment = _alignment(points, link_begin, end, s1, s2, t1)
                    before = _previous(points, begin, end, by_target, s1, s2, t1)
                    for t2 in range(high, min(highest, t1 + longest - 1) + 1):
                        after = _next(points, begin, end, by_target, s1, s2, t2, source_words, target_words)
                        out_source[count] = source_key
                        out_target[count] = target_first[target_at + t1, t2 - t1] * LONGEST + (t2 - t1)
                        out_alignment[count] = alignment
                        out_orientation[count] = before + 4 * after
                        count += 1
        sentence += 1
    return sentence, count
