"""N-grams to automaton: the arrays of one language model, as `gpusearch.kernels.records.Language` describes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.kernels import language_tables as tables
from gpusearch.kernels import records
from gpusearch.kernels.language_model import BACKOFF, EMPTY, ENTRY, KEY, SUFFIX
from gpusearch.kernels.records import LM_GROUP_SLOTS, Language

Rows = NDArray[np.int32]
Values = NDArray[np.int32]
Figures = NDArray[np.floating]

# Slots of the hash table for each n-gram of order 2 and more; the unigrams have a slot each.
SLOTS_PER_NGRAM = 1.7
UNIT = 1 << records.VALUE_BITS
# Magnitude that values may not exceed, in nats: int32 holds them in units of 2^-20.
LARGEST_VALUE = 2047.0


class Automaton(NamedTuple):
    """A language model as kernels read it, alone in its record and with weight 1."""

    language: Language
    largest_value: int
    """No value of a word, and no bound of one, is further from 0 than this: 2^-20 nat."""


def build_automaton(
    words: int,
    rows: Sequence[Rows],
    probabilities: Sequence[Figures],
    backoffs: Sequence[Figures],
    *,
    begin: int,
    end: int,
    sign: int = 1,
) -> Automaton:
    """The automaton of a back-off model.

    N-grams that a pruned model lacks although longer ones contain them are put in with the value that backing off
    gives, so that a longer n-gram is reached word by word.

    Args:
        words: size V of the vocabulary; words are 0 to V - 1.
        rows: for n = 1, 2, ... the n-grams, int32 (N_n, n), none twice; unigram i is word i.
        probabilities: for each n the log10 probabilities, (N_n,).
        backoffs: for each n the log10 backoff weights, (N_n,), 0 where there is none; those of the longest n-grams
            are not looked at.
        begin: the word <s>.
        end: the word </s>.
        sign: 1 for upper bounds (a positive weight), -1 for lower ones.

    Raises:
        InputError: order 0 or above `records.LM_MAX_ORDER`, an n-gram twice, values that are not numbers or whose
            sums exceed 2047 nats.
    """
    order = len(rows)
    if not 1 <= order <= records.LM_MAX_ORDER:
        raise InputError("unusable order of a language model", found=order, expected=f"1 to {records.LM_MAX_ORDER}")
    if not np.array_equal(rows[0][:, 0], np.arange(words)):
        raise ValueError("unigrams are not the words in their order")
    value, backoff = _to_units(probabilities, backoffs)
    linked, prefix, suffix = _link(rows)
    _add_blanks(value, backoff, linked, prefix, suffix)
    language = _assemble(linked, value, backoff, prefix, suffix, begin=begin, end=end)
    set_extremes(language, sign)
    return Automaton(language, _largest_value(value, backoff))


def _to_units(probabilities: Sequence[Figures], backoffs: Sequence[Figures]) -> tuple[list[Values], list[Values]]:
    """Log10 to 2^-20 nat. No sum of one probability and the backoffs of all orders exceeds int32."""
    order = len(probabilities)
    backoffs = backoffs[: order - 1]
    least = min(map(_least, probabilities)) + sum(map(_least, backoffs))
    largest = max(map(_largest, probabilities)) + sum(map(_largest, backoffs))
    if math.isnan(largest) or math.isnan(least) or largest * math.log(10) > LARGEST_VALUE:
        raise InputError(
            "figures of a language model that are no logarithms of probabilities",
            found="not a number" if math.isnan(largest) else f"a log10 probability with its backoffs of {largest:.6g}",
            expected=f"numbers, together below {LARGEST_VALUE / math.log(10):.0f}",
        )
    # Only what is beyond the reach of any estimate (ln p below -227) meets this floor: -inf, or order 9 at -99.
    floor = -LARGEST_VALUE if least * math.log(10) >= -LARGEST_VALUE else -LARGEST_VALUE / order

    def units(figures: Figures) -> Values:
        nats = np.maximum(figures.astype(np.float64) * math.log(10), floor)
        return np.rint(nats * UNIT).astype(np.int32)

    value = [units(figures) for figures in probabilities]
    return value, [*(units(figures) for figures in backoffs), np.zeros(len(value[-1]), np.int32)]


def _least(figures: Figures | Values) -> float:
    return float(figures.min(initial=0))


def _largest(figures: Figures | Values) -> float:
    return float(figures.max(initial=0))


def _largest_value(value: Sequence[Values], backoff: Sequence[Values]) -> int:
    least = -min(map(_least, value)) - sum(map(_least, backoff))
    return int(max(least, max(map(_largest, value)) + sum(map(_largest, backoff))))


def _link(rows: Sequence[Rows]) -> tuple[list[Rows], list[Values], list[Values]]:
    """Indices of prefix and suffix among the n-grams one shorter; what is missing there is put in behind the rest."""
    linked = [_read_only(np.ascontiguousarray(ngrams, np.int32)) for ngrams in rows]
    # The prefix and suffix of a unigram are the empty n-gram; those of a bigram are its words.
    prefix = [np.zeros(len(rows[0]), np.int32)]
    suffix = [np.zeros(len(rows[0]), np.int32)]
    for n in range(len(rows) - 1, 1, -1):
        here, lower = linked[n], linked[n - 1]
        table = _index(lower)
        links = np.empty((2, len(here)), np.int32)
        if tables.link_rows_cpu(table, lower, here, links[0], links[1]):
            parts = np.concatenate((here[links[0] < 0, :-1], here[links[1] < 0, 1:]))
            lower = _read_only(np.concatenate((lower, np.unique(parts, axis=0))))
            table = _index(lower)
            tables.link_rows_cpu(table, lower, here, links[0], links[1])
        linked[n - 1] = lower
        prefix.insert(1, links[0])
        suffix.insert(1, links[1])
    if len(rows) > 1:
        prefix.insert(1, np.ascontiguousarray(linked[1][:, 0]))
        suffix.insert(1, np.ascontiguousarray(linked[1][:, 1]))
    return linked, prefix, suffix


def _read_only(rows: Rows) -> Rows:
    """A view that cannot be written to: read-only and other arrays would be two types, compiled twice."""
    view = rows.view()
    view.flags.writeable = False
    return view


def _index(rows: Rows) -> NDArray[np.int32]:
    """Table of row indices for `tables.find_row`."""
    table = np.full(int(len(rows) * 1.5) + 2, EMPTY, np.int32)
    tables.index_rows_cpu(rows, table)
    return table


def _add_blanks(
    value: list[Values], backoff: list[Values], rows: list[Rows], prefix: list[Values], suffix: list[Values]
) -> None:
    """Values for the n-grams that `_link` put in: backoff of the prefix plus value of the suffix; no backoff."""
    for n in range(1, len(rows)):
        blank = slice(len(value[n]), None)
        put_in = backoff[n - 1][prefix[n][blank]] + value[n - 1][suffix[n][blank]]
        value[n] = np.concatenate((value[n], put_in))
        backoff[n] = np.concatenate((backoff[n], np.zeros_like(put_in)))


def _assemble(
    rows: list[Rows],
    value: list[Values],
    backoff: list[Values],
    prefix: list[Values],
    suffix: list[Values],
    *,
    begin: int,
    end: int,
) -> Language:
    order, words = len(rows), len(rows[0])
    # A state is an n-gram that a longer one begins with, that has a backoff weight, or on whose left such a one
    # stands: so an n-gram that is no state has no state among its left extensions.
    is_state = [backoff[n] != 0 for n in range(order - 1)]
    for n in range(order - 1, 0, -1):
        is_state[n - 1][prefix[n]] = True
    for n in range(order - 2, 0, -1):
        is_state[n - 1][suffix[n][is_state[n]]] = True

    state_of: list[Values] = []  # of each n-gram, the state of the longest suffix of it that is one
    state_rows = [np.zeros((1, 3), np.int32)]
    longer = [1]
    for n in range(order):
        below = state_of[n - 1][suffix[n]] if n else np.zeros(words, np.int32)
        if n == order - 1:
            state_of.append(below)
            break
        numbers = np.cumsum(is_state[n], dtype=np.int32) + np.int32(longer[-1] - 1)
        state_of.append(np.where(is_state[n], numbers, below))
        fresh = np.zeros((int(is_state[n].sum()), 3), np.int32)
        fresh[:, SUFFIX] = below[is_state[n]]
        fresh[:, BACKOFF] = backoff[n][is_state[n]]
        state_rows.append(fresh)
        longer.append(longer[-1] + len(fresh))

    groups = hash_groups(sum(map(len, rows[1:])))
    info = np.zeros((1, records.LM_INFO), np.int64)
    info[0, records.LM_GROUPS] = groups
    info[0, records.LM_VOCABULARY] = words
    info[0, records.LM_ORDER] = order
    info[0, records.LM_WEIGHT] = UNIT
    info[0, records.LM_BEGIN] = state_of[0][begin]
    info[0, records.LM_END] = end
    info[0, records.LM_LONGER :] = longer[-1]
    info[0, records.LM_LONGER : records.LM_LONGER + len(longer)] = longer
    language = empty_language(info, np.concatenate(state_rows))
    language.slot[:words, ENTRY] = pack(value[0], state_of[0])
    for n in range(1, order):
        keys = state_of[n - 1][prefix[n]].astype(np.int64) * words + rows[n][:, -1]
        twice = tables.fill_slots_cpu(language, 0, keys, pack(value[n], state_of[n]))
        if twice >= 0:
            raise InputError(
                f"an n-gram of order {n + 1} stands twice in the language model",
                found=f"the word ids {rows[n][twice].tolist()}",
            )
    return language


def hash_groups(ngrams: int) -> int:
    """Groups of slots for so many n-grams of order 2 and more: one slot at least stays empty."""
    return max(int(ngrams * SLOTS_PER_NGRAM) // LM_GROUP_SLOTS, ngrams // LM_GROUP_SLOTS + 1)


def empty_language(info: NDArray[np.int64], state: NDArray[np.int32]) -> Language:
    """A record of one model without its values: unigram slots have their keys, the hash table is empty."""
    words, groups = int(info[0, records.LM_VOCABULARY]), int(info[0, records.LM_GROUPS])
    slot = np.zeros((words + groups * LM_GROUP_SLOTS, 2), np.int64)
    slot[:words, KEY] = np.arange(words)
    slot[words:, KEY] = EMPTY
    return Language(info, slot, np.zeros(len(slot), np.int32), np.zeros(groups, np.int64), state)


def pack(value: Values, state: Values) -> NDArray[np.int64]:
    """Entries of slots."""
    return value.astype(np.int64) << 32 | state


def set_extremes(language: Language, sign: int) -> None:
    """Make the bounds of a one-model record upper (sign 1) or lower (sign -1) ones, in place."""
    tables.longer_backoffs_cpu(language, 0, len(language.state), sign)
    tables.extremes_cpu(language, 0, sign)
