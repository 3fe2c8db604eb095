"""The compiled parser of phrase and reordering tables: blocks of whole lines in, columns of numbers out.

It judges a row before it keeps anything of it, and says no more than that a row is bad: what is wrong, in words, is
found by ``rows.explain_row``, which reads that one line again.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gpusearch.io.bytewise import (
    DOWN,
    NEAR,
    NOT_A_NUMBER,
    UP,
    alignment_point,
    fields,
    is_utf8,
    line_end,
    number,
    token,
    tokens,
    unescape,
    without_return,
)
from gpusearch.io.compilation import Array, compiled, helper
from gpusearch.io.sequences import Store, has_room, intern

# How a call ended: at the end of the text; before a row that a store has no room for; before a bad row.
DONE, GROW, BAD = 0, 1, 2
# Places in `counts`: what the columns hold, ...
ROWS, WORDS, POINTS, UNDECIDED = range(4)
# ... the sizes of the stores, lines read, bad rows skipped, the position of the first of them, points dropped.
SOURCE_WORDS, TARGET_WORDS, PHRASES, LINES, SKIPPED, FIRST_SKIPPED, DROPPED = range(4, 11)
COUNTS = 11

# Most words on one side of a row: alignment points are kept as bytes.
LONGEST = 255
# Natural logarithm of a probability of zero.
LOWEST = -100.0
# Stands between source and target in the key of a pair.
SEPARATOR = -1


class Layout(NamedTuple):
    """What the rows of a table look like."""

    key_fields: int  # 2: source ||| target ||| scores, 1: source ||| scores
    pair: bool  # rows with two key fields are found by both, not by the source alone
    alignment: bool  # a fourth field holds alignment points
    lenient: bool  # bad rows are passed over
    unescape: bool  # Moses' escapes are turned into characters


class Columns(NamedTuple):
    """What `parse_rows` fills, a row of the table after the other."""

    phrase: Array  # int32[R]: number of the row's key among the phrases
    words: Array  # int32[R]: target words
    scores: Array  # float32[R, K]: natural logarithms
    points: Array  # int32[R]: alignment points
    target: Array  # int32[*]: words of all targets
    alignment: Array  # uint8[*, 2]: points of all rows
    undecided: Array  # int64[*, 3]: score, start and stop of each number that float() has to decide


@helper
def log_probability(value: float) -> Any:
    """Natural logarithm, not below -100, as float32."""
    return np.float32(max(math.log(value), LOWEST)) if value > 0.0 else np.float32(LOWEST)


@helper
def _scores(text: Array, start: int, stop: int, row: int, columns: Columns, count: int) -> int:
    """Fill the scores of a row; returns the number of undecided ones so far, or -1 where the row is bad."""
    width = columns.scores.shape[1]
    column = 0
    start, end = token(text, start, stop)
    while start < end:
        value, certainty = number(text, start, end)
        if column == width or certainty == NOT_A_NUMBER or value < 0.0:
            return -1
        columns.scores[row, column] = log_probability(value)
        if certainty == NEAR and log_probability(value * DOWN) != log_probability(value * UP):
            columns.undecided[count, 0] = row * width + column
            columns.undecided[count, 1] = start
            columns.undecided[count, 2] = end
            count += 1
        column += 1
        start, end = token(text, end, stop)
    return count if column == width else -1


@helper
def _points(
    text: Array,
    start: int,
    stop: int,
    source: int,
    target: int,
    lenient: bool,
    counts: Array,
    columns: Columns,
) -> int:
    """Append alignment points (not yet counted); returns their number, or -1 where the row is bad."""
    first = counts[POINTS]
    count, dropped = 0, 0
    start, end = token(text, start, stop)
    while start < end:
        s, t = alignment_point(text, start, end)
        inside = s < source and t < target
        if s < 0 or not (inside or lenient):
            return -1
        if inside:
            columns.alignment[first + count, 0] = s
            columns.alignment[first + count, 1] = t
            count += 1
        else:
            dropped += 1
        start, end = token(text, end, stop)
    counts[DROPPED] += dropped
    return count


@helper
def _intern_words(
    text: Array, bounds: Array, escaped: bool, word: Array, store: Store, counts: Array, size: int, out: Array
) -> None:
    """Take in the words between these bounds and write their ids to ``out``."""
    data, offsets, slots = store
    begin = np.int64(0)  # a literal would be a type of its own, compiled again
    for i in range(len(bounds)):
        if escaped:
            length = unescape(text, bounds[i, 0], bounds[i, 1], word)
            out[i] = intern(word, begin, length, data, offsets, slots, counts, size)
        else:
            out[i] = intern(text, bounds[i, 0], bounds[i, 1], data, offsets, slots, counts, size)


@compiled
def parse_rows(
    text: Array,
    position: int,
    layout: Layout,
    source: Store,
    target: Store,
    phrases: Store,
    counts: Array,
    columns: Columns,
) -> tuple[int, int]:
    """Read rows of ``text`` (uint8, whole lines) from a position; returns where it stopped, and DONE, GROW or BAD."""
    key_fields = layout.key_fields
    bounds = np.empty((4 if layout.alignment else key_fields + 1, 2), np.int64)
    source_bounds = np.empty((LONGEST, 2), np.int64)
    target_bounds = np.empty((LONGEST, 2), np.int64)
    key = np.empty(2 * LONGEST + 1, np.int32)
    word = np.empty(len(text) if layout.unescape else 0, np.uint8)
    begin = np.int64(0)
    while position < len(text):
        newline = line_end(text, position)
        end = without_return(text, position, newline)
        row = counts[ROWS]
        dropped = counts[DROPPED]
        n_target, n_points, n_undecided = 0, 0, 0
        n_fields = fields(text, position, end, bounds)
        good = n_fields > key_fields and is_utf8(text, position, bounds[key_fields - 1, 1])
        if good:
            n_source = tokens(text, bounds[0, 0], bounds[0, 1], source_bounds)
            if key_fields == 2:
                n_target = tokens(text, bounds[1, 0], bounds[1, 1], target_bounds)
            n_undecided = _scores(text, bounds[key_fields, 0], bounds[key_fields, 1], row, columns, counts[UNDECIDED])
            if n_fields == 4:
                n_points = _points(
                    text, bounds[3, 0], bounds[3, 1], n_source, n_target, layout.lenient, counts, columns
                )
            good = n_source > 0 and n_target >= 0 and n_undecided >= 0 and n_points >= 0
        if not good:
            counts[DROPPED] = dropped
            if not layout.lenient:
                return position, BAD
            if counts[SKIPPED] == 0:
                counts[FIRST_SKIPPED] = position
            counts[SKIPPED] += 1
        else:
            size = end - position
            if not (
                has_room(source, counts[SOURCE_WORDS], size)
                and has_room(target, counts[TARGET_WORDS], size)
                and has_room(phrases, counts[PHRASES], size)
            ):
                counts[DROPPED] = dropped
                return position, GROW
            words = columns.target[counts[WORDS] : counts[WORDS] + n_target]
            _intern_words(text, source_bounds[:n_source], layout.unescape, word, source, counts, SOURCE_WORDS, key)
            _intern_words(text, target_bounds[:n_target], layout.unescape, word, target, counts, TARGET_WORDS, words)
            if layout.pair and key_fields == 2:
                key[n_source] = SEPARATOR
                for i in range(n_target):
                    key[n_source + 1 + i] = words[i]
                n_source, n_target = n_source + 1 + n_target, 0
            data, offsets, slots = phrases
            columns.phrase[row] = intern(key, begin, n_source, data, offsets, slots, counts, PHRASES)
            columns.words[row] = n_target
            columns.points[row] = n_points
            counts[ROWS] += 1
            counts[WORDS] += n_target
            counts[POINTS] += n_points
            counts[UNDECIDED] = n_undecided
        counts[LINES] += 1
        position = newline + 1
    return position, DONE
