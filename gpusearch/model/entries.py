"""Entries: translation options without a place, each found once however often its source words occur.

Letters: ``Q`` entries, ``T`` target words of all entries, ``M`` language models, ``K'`` values of an option.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.model.tableless import COPIED, GIVEN, Tableless, UnknownWords
from gpusearch.model.weights import (
    CANDIDATES,
    PHRASE_PENALTY,
    UNKNOWN_WORD,
    VALUE_UNITS,
    WORD_PENALTY,
    integer_values,
)

if TYPE_CHECKING:
    from gpusearch.model.model import Model

Array = np.ndarray[Any, Any]

_NONE = Tableless((), (), UnknownWords())


@dataclass(frozen=True, eq=False)
class Entries:
    """What is known of Q phrase pairs without their context."""

    table: NDArray[np.int32]
    """``[Q]``: number of the phrase table, or `COPIED` or `GIVEN` (`gpusearch.model.tableless`)."""
    row: NDArray[np.int64]
    """``[Q]``: row of the table; of a pair without a table its place among those of its kind."""
    value: NDArray[np.int32]
    """``[Q, K']``: feature values, 2^-20 nat."""
    score: NDArray[np.int64]
    """``[Q]``: isolated score: features and LM estimate from the empty context, 2^-40 nat."""
    known: NDArray[np.int64]
    """``[Q, 2]``: weighted sum of the values, and the weighted bound of the language models, 2^-40 nat."""
    first_word: NDArray[np.int64]
    """``[Q + 1]``: places in the arrays of words."""
    word: NDArray[np.int32]
    """``[M, T]``: target words in the vocabulary of each language model."""
    word_bound: NDArray[np.int32]
    """``[M, T]``: bound of each word's LM value, see ``Problem.word_bound``."""
    open: NDArray[np.int32]
    """``[M, Q]``: see ``Problem.option_open``."""

    def __len__(self) -> int:
        return len(self.table)

    def take(self, chosen: NDArray[np.int64]) -> Entries:
        """The chosen entries, in the order of their indices in `chosen`."""
        # Not by an index, which would lay columns one after the other: kernels would be compiled anew for that.
        counts = np.diff(self.first_word)[chosen]
        words = ranges(self.first_word[chosen], counts)
        return Entries(
            table=self.table[chosen],
            row=self.row[chosen],
            value=self.value[chosen],
            score=self.score[chosen],
            known=self.known[chosen],
            first_word=offsets_of(counts),
            word=self.word.take(words, axis=1),
            word_bound=self.word_bound.take(words, axis=1),
            open=self.open.take(chosen, axis=1),
        )


def make_entries(model: Model, rows: Sequence[Array], tableless: Tableless = _NONE) -> Entries:
    """Entries of table rows and of pairs that no table holds.

    Args:
        rows: for each phrase table of the model the rows wanted, int64.

    Returns:
        The rows of the first table, then of the second, ..., then the unknown words, then the given translations.

    Raises:
        InputError: a feature value out of range; names the feature.
    """
    features = model.features
    sizes = [*(len(part) for part in rows), len(tableless.copied), len(tableless.given)]
    first = offsets_of(np.array(sizes, np.int64))
    total = int(first[-1])
    value = np.zeros((total, features.option_values), np.int32)
    counts = np.ones(total, np.int64)
    words: list[list[Array]] = [[] for _ in model.language_models]
    for number, (table, part) in enumerate(zip(model.tables, rows, strict=True)):
        here = slice(first[number], first[number + 1])
        pairs = table.pairs
        start, stop = features.groups[table.name]
        value[here, start:stop] = integer_values(pairs.log_scores[part], table.name)
        counts[here] = pairs.target_offsets[part + 1] - pairs.target_offsets[part]
        ids = pairs.target_words[ranges(pairs.target_offsets[part], counts[here])]
        for model_words, vocabulary in zip(words, table.lm_words, strict=True):
            model_words.append(vocabulary[ids])
    targets = tableless.targets
    counts[first[-3] :] = [len(target) for target in targets]
    for model_words, language_model in zip(words, model.language_models, strict=True):
        model_words.append(np.asarray(language_model.index([word for target in targets for word in target]), np.int32))
    given = slice(first[-2], first[-1])
    for name, start, stop, scores in given_values(model, tableless):
        value[given, start:stop] = integer_values(scores, name)
    value[:, features.index(WORD_PENALTY)] = integer_values(-counts, WORD_PENALTY)
    value[:, features.index(PHRASE_PENALTY)] = VALUE_UNITS
    value[first[-3] : first[-2], features.index(UNKNOWN_WORD)] = -VALUE_UNITS

    first_word = offsets_of(counts)
    weights = features.integer_weights
    known = np.zeros((total, 2), np.int64)
    known[:, 0] = value.astype(np.int64) @ weights[: features.option_values]
    score = known[:, 0].copy()
    word = np.zeros((len(words), int(first_word[-1])), np.int32)
    word_bound = np.zeros_like(word)
    opened = np.zeros((len(words), total), np.int32)
    for number, (name, language_model) in enumerate(zip(features.language_models, model.language_models, strict=True)):
        word[number] = np.concatenate(words[number])
        bounds = language_model.phrase_bounds(word[number], first_word)
        word_bound[number], opened[number] = bounds.word_bound, bounds.open
        weight = weights[features.index(name)]
        known[:, 1] += weight * sums(bounds.word_bound, first_word)
        score += weight * bounds.estimate
    table_of = np.repeat(np.array([*range(len(rows)), COPIED, GIVEN], np.int32), sizes)
    row = np.concatenate([*(np.asarray(part, np.int64) for part in rows), *(np.arange(size) for size in sizes[-2:])])
    return Entries(table_of, row, value, score, known, first_word, word, word_bound, opened)


def given_values(model: Model, tableless: Tableless) -> Iterator[tuple[str, int, int, NDArray[np.float64]]]:
    """Feature values of given translations in nats: name of the feature, its first value, behind its last, values.

    ln p, spread evenly over the columns of the first table, as Moses does it; and the scores of candidates.
    """
    groups = model.features.groups
    if model.tables:
        name = model.tables[0].name
        start, stop = groups[name]
        yield name, start, stop, np.repeat(tableless.log_scores[:, None] / (stop - start), stop - start, axis=1)
    if CANDIDATES in groups:
        start, stop = groups[CANDIDATES]
        yield CANDIDATES, start, stop, tableless.candidate_scores(stop - start)


def best_first(score: Array, group: Array, tie: Array, limit: int = 0) -> Array:
    """Indices in the order of their groups, within a group by falling score, equal ones by `tie`.

    At most `limit` of a group are kept (0: all).
    """
    order = np.lexsort((tie, -score, group))
    if limit == 0 or len(order) == 0:
        return order
    sorted_group = group[order]
    begins = np.flatnonzero(np.concatenate(([True], sorted_group[1:] != sorted_group[:-1])))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.concatenate((begins, [len(order)]))))
    return order[rank < limit]


def offsets_of(counts: Array) -> Array:
    """Where each of several parts begins that stand one after the other, and where the last ends: int64[n + 1]."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def ranges(first: Array, counts: Array) -> Array:
    """The indices ``first[i] .. first[i] + counts[i] - 1`` of all i, one after the other."""
    offsets = offsets_of(counts)
    return np.repeat(first - offsets[:-1], counts) + np.arange(offsets[-1])


def sums(values: Array, offsets: Array) -> Array:
    """int64 sums of the parts of an array that `offsets` divides; empty parts give 0."""
    running = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, dtype=np.int64, out=running[1:])
    return running[offsets[1:]] - running[offsets[:-1]]
