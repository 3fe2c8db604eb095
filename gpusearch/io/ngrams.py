"""The compiled parser and writer of the n-gram lines of ARPA files."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpusearch.io.bytewise import (
    DOWN,
    EXACT,
    NEAR,
    NOT_A_NUMBER,
    UP,
    is_utf8,
    line_end,
    number,
    tokens,
    without_return,
    write_float32,
)
from gpusearch.io.columns import BAD, DONE, GROW
from gpusearch.io.compilation import Array, compiled, helper
from gpusearch.io.sequences import Store, find, has_room, intern

# Places in `counts`: n-grams read, numbers that float() has to decide, words of the vocabulary.
NGRAMS, UNDECIDED, WORDS = range(3)
COUNTS = 3


class NgramColumns(NamedTuple):
    """What `parse_ngrams` fills, an n-gram after the other."""

    ids: Array  # int32[N, n]: words in the order of the line
    probability: Array  # float32[N]: log10
    backoff: Array  # float32[N]: log10, 0 where there is none
    undecided: Array  # int64[2 N, 4]: n-gram, 0 (probability) or 1 (backoff), start and stop


@helper
def _float32(text: Array, bounds: Array, row: int, part: int, counts: Array, undecided: Array) -> tuple[Any, int]:
    """A number rounded to float32; noted as undecided where the estimate does not tell which one."""
    value, certainty = number(text, bounds[0], bounds[1])
    if certainty == NEAR:
        if np.float32(value * DOWN) == np.float32(value * UP):
            certainty = EXACT
        else:
            note = undecided[counts[UNDECIDED]]
            note[0], note[1], note[2], note[3] = row, part, bounds[0], bounds[1]
            counts[UNDECIDED] += 1
    return np.float32(value), certainty


@compiled
def parse_ngrams(
    text: Array, position: int, highest: bool, vocabulary: Store, counts: Array, columns: NgramColumns
) -> tuple[int, int]:
    """Read n-grams of ``text`` from a position until the columns are full; returns where, and DONE, GROW or BAD.

    Unigrams enter the vocabulary; the words of longer n-grams must be there. N-grams of the highest order have
    no backoff but 0.
    """
    order = columns.ids.shape[1]
    bounds = np.empty((order + 2, 2), np.int64)
    data, offsets, slots = vocabulary
    while position < len(text) and counts[NGRAMS] < len(columns.ids):
        newline = line_end(text, position)
        end = without_return(text, position, newline)
        row = counts[NGRAMS]
        if order == 1 and not has_room(vocabulary, counts[WORDS], end - position):
            return position, GROW
        n_tokens = tokens(text, position, end, bounds)
        if n_tokens <= order:
            return position, BAD
        probability, certainty = _float32(text, bounds[0], row, 0, counts, columns.undecided)
        if certainty == NOT_A_NUMBER or probability > 0.0:
            return position, BAD
        backoff = np.float32(0.0)
        if n_tokens == order + 2:
            backoff, certainty = _float32(text, bounds[order + 1], row, 1, counts, columns.undecided)
            if certainty == NOT_A_NUMBER or (highest and backoff != 0.0):
                return position, BAD
        for i in range(order):
            start, stop = bounds[i + 1, 0], bounds[i + 1, 1]
            word = find(text, start, stop, data, offsets, slots)[0]
            if order == 1:
                if word >= 0 or not is_utf8(text, start, stop):
                    return position, BAD
                word = intern(text, start, stop, data, offsets, slots, counts, WORDS)
            elif word < 0:
                return position, BAD
            columns.ids[row, i] = word
        columns.probability[row] = probability
        columns.backoff[row] = backoff
        counts[NGRAMS] += 1
        position = newline + 1
    return position, DONE


@compiled
def format_ngrams(
    ids: Array,
    probability: Array,
    backoff: Array,
    with_backoff: bool,
    data: Array,
    offsets: Array,
    out: Array,
) -> int:
    """Write the lines of n-grams to ``out`` (uint8, large enough); returns the number of bytes written."""
    at = 0
    for row in range(len(ids)):
        at = write_float32(probability[row], out, at)
        for i in range(ids.shape[1]):
            out[at] = 9 if i == 0 else 32
            at += 1
            for k in range(offsets[ids[row, i]], offsets[ids[row, i] + 1]):
                out[at] = data[k]
                at += 1
        if with_backoff:
            out[at] = 9
            at = write_float32(backoff[row], out, at + 1)
        out[at] = 10
        at += 1
    return at
