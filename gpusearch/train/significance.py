"""Significance pruning of phrase pairs (Johnson et al. 2007).

A pair is kept if it is unlikely that its phrases meet in so many sentence pairs by chance. Counts are of sentence
pairs that *contain* the phrases, whether or not they were extracted from there.
"""

from __future__ import annotations

import math
import re

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io.compilation import compiled
from gpusearch.train.corpus import Array, ParallelCorpus, Side
from gpusearch.train.counting import Pairs
from gpusearch.train.phrases import LONGEST, PhraseIndex

_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_EPSILON = 1e-3  # far below ln 2, the smallest step between -ln p of a pair seen once and its neighbours


def threshold(wanted: str, sentence_pairs: int) -> float:
    """The least -ln p of a pair that is kept.

    Args:
        wanted: "alpha", "alpha+epsilon", "alpha-epsilon" or a number. alpha = ln N is the -ln p of two phrases that
            occur once each, and together: with + epsilon such pairs fall, with - epsilon they stay.
        sentence_pairs: N.
    """
    alpha = math.log(sentence_pairs)
    named = {"alpha": alpha - 1e-6, "alpha+epsilon": alpha + _EPSILON, "alpha-epsilon": alpha - _EPSILON}
    if wanted in named:
        return named[wanted]
    if _NUMBER.fullmatch(wanted) is None:
        raise InputError(
            "unusable significance threshold",
            found=repr(wanted),
            expected="alpha, alpha+epsilon, alpha-epsilon or a number (-ln p)",
        )
    return float(wanted)


class Containment:
    """Counts the sentence pairs of a text that contain phrases.

    Args:
        corpus, source_index, target_index: the text, and where its phrases stand.
    """

    def __init__(self, corpus: ParallelCorpus, source_index: PhraseIndex, target_index: PhraseIndex) -> None:
        self._source = _side(corpus.source, source_index)
        self._target = _side(corpus.target, target_index)
        # Distinct target phrases recur in many pairs, so that what was counted is kept: by first place and length.
        self._target_counts = np.zeros(target_index.first.shape, np.int32)

    def counts(self, pairs: Pairs) -> Array:
        """int64[N, 3]: the sentence pairs that contain the source phrase, the target phrase, both.

        For each pair, the cheaper of two ways: look at all places of the target phrase for sentences that were marked
        for the source phrase, or look through the target sides of the marked sentences.
        """
        result = np.empty((len(pairs.source), 3), np.int64)
        source_at, source_extra = np.divmod(pairs.source.astype(np.int64), LONGEST)
        target_at, target_extra = np.divmod(pairs.target.astype(np.int64), LONGEST)
        phrases = source_at, source_extra, target_at, target_extra
        _contain(*self._source, *self._target, self._target_counts, *phrases, result)
        return result


def negative_log_p(counts: Array, sentence_pairs: int) -> Array:
    """-ln p of Fisher's exact test, float64[N]: that chance alone makes phrases meet at least as often.

    Args:
        counts: int64[N, 3], sentence pairs that contain the source phrase, the target phrase, both.
        sentence_pairs: all of them.
    """
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, sentence_pairs + 1)))])
    return _negative_log_p(counts, log_factorials)


@compiled
def _negative_log_p(counts: Array, log_factorials: Array) -> Array:
    total = len(log_factorials) - 1
    result = np.empty(len(counts))
    for row in range(len(counts)):
        f, e, both = counts[row]
        log_first = (
            log_factorials[f]
            - log_factorials[both]
            - log_factorials[f - both]
            + log_factorials[total - f]
            - log_factorials[e - both]
            - log_factorials[total - f - e + both]
            - log_factorials[total]
            + log_factorials[e]
            + log_factorials[total - e]
        )
        # Terms of the hypergeometric distribution from `both` on, relative to the first.
        term, tail = 1.0, 1.0
        for more in range(both, min(f, e)):
            term *= (f - more) * (e - more) / ((more + 1.0) * (total - f - e + more + 1.0))
            tail += term
            if term < 1e-17 * tail:
                break
        result[row] = max(0.0, -(log_first + math.log(tail)))
    return result


def _side(side: Side, index: PhraseIndex) -> tuple[Array, Array, Array, Array, Array]:
    sentence_of = np.repeat(np.arange(len(side), dtype=np.int32), side.lengths())
    return index.first, index.places, index.common, sentence_of, side.offsets


@compiled
def _contain(
    source_first: Array,
    source_places: Array,
    source_common: Array,
    source_sentence: Array,
    source_offsets: Array,
    target_first: Array,
    target_places: Array,
    target_common: Array,
    target_sentence: Array,
    target_offsets: Array,
    target_counts: Array,
    source_at: Array,
    source_extra: Array,
    target_at: Array,
    target_extra: Array,
    result: Array,
) -> None:
    sentences = len(source_offsets) - 1
    marked = np.full(sentences, -1, np.int64)  # the pair for whose source phrase a sentence was marked last
    visited = np.full(sentences, -1, np.int64)
    members = np.empty(sentences, np.int32)
    run, size = 0, 0
    for pair in range(len(source_at)):
        if pair == 0 or source_at[pair] != source_at[pair - 1] or source_extra[pair] != source_extra[pair - 1]:
            run, size = pair, 0
            place = source_at[pair]
            while True:
                sentence = source_sentence[source_places[place]]
                if marked[sentence] != run:
                    marked[sentence] = run
                    members[size] = sentence
                    size += 1
                place += 1
                if place == len(source_places) or source_common[place] <= source_extra[pair]:
                    break
        first, extra = target_at[pair], target_extra[pair]
        known = target_counts[target_places[first], extra]
        both = 0
        if known > 0 and known > 16 * size:
            for member in range(size):
                begin, end = target_offsets[members[member]], target_offsets[members[member] + 1]
                for place in range(begin, end - extra):
                    if target_first[place, extra] == first:
                        both += 1
                        break
        else:
            known, place = 0, first
            while True:
                sentence = target_sentence[target_places[place]]
                if visited[sentence] != pair:
                    visited[sentence] = pair
                    known += 1
                    both += marked[sentence] == run
                place += 1
                if place == len(target_places) or target_common[place] <= extra:
                    break
            target_counts[target_places[first], extra] = known
        result[pair, 0] = size
        result[pair, 1] = known
        result[pair, 2] = both
