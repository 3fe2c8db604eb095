"""Lexicalised reordering models: their types, and the values that translation options take from their tables.

Letters: ``O`` options or entries, ``R`` models, ``V`` columns of all their tables together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import ReorderingModelConfig, check_weight_count
from gpusearch.io.phrase_table import PhraseTable
from gpusearch.io.reordering_table import ReorderingTable, read_reordering_table
from gpusearch.kernels.records import ORIENTATIONS
from gpusearch.model.tableless import COPIED, GIVEN, LOWEST_LOG, Tableless
from gpusearch.model.weights import Features, integer_values

Array = np.ndarray[Any, Any]

# For each kind the classes, and the class of each orientation: monotone, swap, discontinuous to the left, to the right.
_KINDS: dict[str, tuple[tuple[str, ...], tuple[int, int, int, int]]] = {
    "msd": (("monotone", "swap", "discontinuous"), (0, 1, 2, 2)),
    "mslr": (("monotone", "swap", "left", "right"), (0, 1, 2, 3)),
    "monotonicity": (("monotone", "other"), (0, 1, 1, 1)),
    "leftright": (("right", "left"), (0, 1, 1, 0)),
}
_BACKWARD, _FORWARD = range(2)
_DIRECTIONS = {"backward": (_BACKWARD,), "forward": (_FORWARD,), "bidirectional": (_BACKWARD, _FORWARD)}
_DIRECTION_NAMES = ("backward", "forward")


@dataclass(frozen=True)
class ReorderingType:
    """What a type such as ``wbe-msd-bidirectional-fe-allff`` says."""

    kind: str
    """msd, mslr, monotonicity or leftright."""
    directions: tuple[int, ...]
    """0: of the phrase to the one before it; 1: of the phrase behind it to the phrase."""
    by_target: bool
    """fe: scores depend on the target phrase, too."""
    collapsed: bool
    """One feature a direction, not one a class."""

    @property
    def columns(self) -> int:
        """Score columns of the table."""
        return len(self.directions) * len(_KINDS[self.kind][0])

    @property
    def labels(self) -> list[str]:
        """Names of the features, one a weight: ``backward_monotone``, or ``backward`` where they are collapsed."""
        names = [_DIRECTION_NAMES[direction] for direction in self.directions]
        return names if self.collapsed else [f"{name}_{label}" for name in names for label in _KINDS[self.kind][0]]

    def column_and_feature(self, direction: int, orientation: int) -> tuple[int, int]:
        """Column of the table and feature that count in an orientation; -1, -1 where the model lacks the direction."""
        if direction not in self.directions:
            return -1, -1
        classes, of_orientation = _KINDS[self.kind]
        place = self.directions.index(direction)
        column = place * len(classes) + of_orientation[orientation]
        return column, place if self.collapsed else column


def parse_type(text: str) -> ReorderingType:
    """Read a type that the configuration has accepted."""
    _, kind, direction, condition, features = text.split("-")
    return ReorderingType(kind, _DIRECTIONS[direction], condition == "fe", features == "collapseff")


@dataclass(frozen=True, eq=False)
class ReorderingModel:
    """A reordering table as a feature of the model."""

    name: str
    type: ReorderingType
    table: ReorderingTable
    rows: tuple[NDArray[np.int64], ...]
    """For each phrase table the row of `table` of each of its rows, -1 where it has none."""
    default: NDArray[np.float32]
    """``[columns]``: log scores of pairs that the table lacks; 0 where none are configured."""

    def log_scores(self, table: Array, row: Array, tableless: Tableless) -> NDArray[np.float32]:
        """Scores of entries, nats: ``[n, columns]``.

        Args:
            table, row: as in `gpusearch.model.entries.Entries`.
        """
        found = np.full(len(row), -1, np.int64)
        for number, rows in enumerate(self.rows):
            here = table == number
            found[here] = rows[row[here]]
        for kind in (COPIED, GIVEN):
            rows = np.array([self.table.lookup(source, target) for source, target in tableless.pairs(kind)], np.int64)
            here = table == kind
            found[here] = rows[row[here]]
        scores = np.tile(self.default, (len(row), 1))
        scores[found >= 0] = self.table.log_scores[found[found >= 0]]
        return scores


@dataclass(frozen=True, eq=False)
class Orders:
    """What entries are worth by orientation; the columns of `gpusearch.kernels.records.Reordering`."""

    score: NDArray[np.int64]
    value: NDArray[np.int32]
    column: NDArray[np.int64]
    largest: NDArray[np.int32]
    """``[O, features]``: the largest absolute value that an entry can add to each feature."""


def load_reordering_model(
    config: ReorderingModelConfig, tables: Sequence[PhraseTable], unescape: bool
) -> ReorderingModel:
    """Read a reordering table and find the rows of the phrase tables in it.

    Raises:
        InputError: a number of score columns or weights that is not that of the type; a bad row, with its line.
    """
    kind = parse_type(config.type)
    check_weight_count(config.name, config.weights, kind.labels)
    table = read_reordering_table(
        config.path,
        scores=kind.columns,
        by_target=kind.by_target,
        lenient=config.lenient,
        unescape=unescape,
        cache=config.cache,
    )
    default = np.zeros(kind.columns, np.float32)
    if config.default_scores:
        with np.errstate(divide="ignore"):
            default[:] = np.maximum(np.log(np.array(config.default_scores)), LOWEST_LOG)
    return ReorderingModel(config.name, kind, table, tuple(table.align_to(pairs) for pairs in tables), default)


def make_orders(
    features: Features, models: Sequence[ReorderingModel], table: Array, row: Array, tableless: Tableless
) -> Orders:
    """The integers of entries, for all reordering models; see `ReorderingModel.log_scores` for the arguments."""
    values: list[Array] = []
    column = column_map(features, models)
    score = np.zeros((len(row), 2 * ORIENTATIONS), np.int64)
    total = int(column[:, :, 1].max(initial=-1)) + 1
    largest = np.zeros((len(row), total), np.int32)
    for model in models:
        values.append(integer_values(model.log_scores(table, row, tableless), model.name))
    value = np.concatenate(values, axis=1) if values else np.zeros((len(row), 0), np.int32)
    first = first_feature(features, models)
    for number in range(len(models)):
        for turn in range(2 * ORIENTATIONS):
            place, feature = column[number, turn].tolist()
            if place >= 0:
                score[:, turn] += features.integer_weights[first + feature] * value[:, place]
                largest[:, feature] = np.maximum(largest[:, feature], np.abs(value[:, place]))
    return Orders(score, value, column, largest)


def first_feature(features: Features, models: Sequence[ReorderingModel]) -> int:
    """Place of the first reordering feature among all."""
    return features.index(models[0].name) if models else len(features.names)


def column_map(features: Features, models: Sequence[ReorderingModel]) -> NDArray[np.int64]:
    """``[R, 2 * ORIENTATIONS, 2]``: see ``Reordering.column``."""
    column = np.full((len(models), 2 * ORIENTATIONS, 2), -1, np.int64)
    place = 0
    first = first_feature(features, models)
    for number, model in enumerate(models):
        begin = features.index(model.name) - first
        for turn in range(2 * ORIENTATIONS):
            own, feature = model.type.column_and_feature(*divmod(turn, ORIENTATIONS))
            if own >= 0:
                column[number, turn] = place + own, begin + feature
        place += model.type.columns
    return column


def orientations(start: Array, stop: Array, first: Array) -> NDArray[np.int64]:
    """Orientation of each phrase to the one before it: monotone, swap, discontinuous to the left or to the right.

    Args:
        start, stop: ``[n]`` source words start .. stop - 1 of the phrases, sentence after sentence.
        first: ``[n]`` whether a phrase is the first of its sentence.
    """
    left = np.where(first, 0, np.roll(start, 1))
    right = np.where(first, 0, np.roll(stop, 1))
    return np.select([start == right, stop == left, start < right], [0, 1, 2], 3)


def reordering_values(
    models: Sequence[ReorderingModel], scores: Iterable[Array], turn: Array, first: Array
) -> list[Array]:
    """What each phrase's step adds to the features of each model, nats: for each model ``[n, weights]``.

    The forward score of a phrase is counted where the next one stands.

    Args:
        scores: of each model ``[n, columns]``, the phrases' log scores.
        turn, first: see `orientations`.
    """
    result = []
    for model, log_scores in zip(models, scores, strict=True):
        values = np.zeros((len(turn), len(model.type.labels)))
        for direction in model.type.directions:
            for orientation in range(ORIENTATIONS):
                column, feature = model.type.column_and_feature(direction, orientation)
                here = np.flatnonzero(turn == orientation if direction == _BACKWARD else (turn == orientation) & ~first)
                values[here, feature] += log_scores[here - direction, column]
        result.append(values)
    return result
