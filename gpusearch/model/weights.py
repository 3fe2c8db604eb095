"""Features, their weights, and both as the integers that the search computes with.

A feature value is an integer in units of 2^-20 nat, a weight one in units of 2^-20, so a weighted score is an exact
int64 in units of 2^-40 nat. Letters: ``K`` feature values of a state, ``K'`` those that an option alone decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusearch.errors import InputError

VALUE_UNITS = 1 << 20
"""Units of a feature value in a nat, and of a weight in 1."""
SCORE_UNITS = 1 << 40
"""Units of a weighted score in a nat."""

# Sums stay below 2^62, so that the difference of two of them fits int64 as well.
SUM_LIMIT = float(1 << 62)
VALUE_LIMIT = (1 << 31) - 1
RANGE = "a number within +-2048"

CANDIDATES = "Candidates"
"""The feature whose values are the scores of candidates; a model without such scores does not have it."""
WORD_PENALTY, PHRASE_PENALTY, UNKNOWN_WORD, DISTORTION = (
    "WordPenalty",
    "PhrasePenalty",
    "UnknownWord",
    "Distortion",
)


@dataclass(frozen=True, eq=False)
class Features:
    """The feature values of a state in their order, with names and weights.

    The order is: the columns of all tables, word penalty, phrase penalty, unknown words (these ``K'`` belong to
    an option), then distortion, those of the reordering models, one value a language model, and those of the document.
    """

    names: tuple[str, ...]
    """K names, such as ``TranslationModel0.0``."""
    groups: dict[str, tuple[int, int]]
    """Name of each feature as it is configured and printed -> its first value, and the one behind its last."""
    tables: tuple[str, ...]
    """Names of the features that are tables: printed as lists, whatever their number of columns."""
    language_models: tuple[str, ...]
    document: tuple[str, ...]
    """Names of the features that are none of the models' (`gpusearch.features`)."""
    weights: NDArray[np.float64]
    """K weights as configured: what reported scores are computed with."""
    integer_weights: NDArray[np.int64]
    """K weights in units of 2^-20: what the search computes with."""

    @property
    def option_values(self) -> int:
        """K': the number of values that an option alone decides."""
        return self.groups[DISTORTION][0]

    def index(self, name: str) -> int:
        """Place of the first value of a feature."""
        return self.groups[name][0]

    def grouped(self, values: ArrayLike) -> dict[str, float | list[float]]:
        """K values by the name of their feature: a list for a table, one number for any other feature."""
        numbers = np.asarray(values, dtype=np.float64).tolist()
        return {
            name: numbers[first:last] if name in self.tables else numbers[first]
            for name, (first, last) in self.groups.items()
        }

    def score(self, values: ArrayLike) -> NDArray[np.float64]:
        """Weighted sums of float64 feature values ``[..., K]`` in nats, as they are reported."""
        return np.asarray(values, dtype=np.float64) @ self.weights


def make_features(
    tables: Sequence[tuple[str, Sequence[str], Sequence[float]]],
    language_models: Sequence[tuple[str, float]],
    *,
    word_penalty: float,
    phrase_penalty: float,
    unknown_word: float,
    distortion: float,
    reordering: Sequence[tuple[str, Sequence[str], Sequence[float]]] = (),
    document: Sequence[tuple[str, Sequence[float]]] = (),
) -> Features:
    """Put the features of a model in their order.

    Args:
        tables: name, column names (empty: by number) and one weight a column, of each table.
        language_models: name and weight of each language model.
        reordering: name, names of the values and one weight a value, of each reordering model.
        document: name and one weight a value, of each feature of the document.

    Raises:
        InputError: a weight that is no finite number within +-2048, names that repeat.
    """
    names: list[str] = []
    weights: list[float] = []
    groups: dict[str, tuple[int, int]] = {}

    def add(name: str, columns: Sequence[str], values: Sequence[float]) -> None:
        if name in groups:
            raise InputError(f"two features are called {name}", hint="give each its own name")
        groups[name] = (len(names), len(names) + len(columns))
        names.extend(columns)
        weights.extend(values)

    for name, columns, values in tables:
        labels = columns or [str(column) for column in range(len(values))]
        add(name, [f"{name}.{label}" for label in labels], values)
    add(WORD_PENALTY, [WORD_PENALTY], [word_penalty])
    add(PHRASE_PENALTY, [PHRASE_PENALTY], [phrase_penalty])
    add(UNKNOWN_WORD, [UNKNOWN_WORD], [unknown_word])
    add(DISTORTION, [DISTORTION], [distortion])
    for name, columns, values in reordering:
        add(name, [f"{name}.{label}" for label in columns], values)
    for name, weight in language_models:
        add(name, [name], [weight])
    for name, values in document:
        add(name, [name] if len(values) == 1 else [f"{name}.{label}" for label in range(len(values))], values)
    return Features(
        names=tuple(names),
        groups=groups,
        tables=(
            *(name for name, _, _ in (*tables, *reordering)),
            *(name for name, values in document if len(values) > 1),
        ),
        language_models=tuple(name for name, _ in language_models),
        document=tuple(name for name, _ in document),
        weights=np.array(weights, dtype=np.float64),
        integer_weights=np.array(
            [integer_weight(name, weight) for name, weight in zip(names, weights, strict=True)], np.int64
        ),
    )


def is_in_range(number: float) -> bool:
    """Whether a number in nats is an int32 in units of 2^-20, as weights and values have to be."""
    return abs(number * VALUE_UNITS) <= VALUE_LIMIT


def integer_weight(name: str, weight: float) -> int:
    """A weight in units of 2^-20, rounded to the nearest.

    Raises:
        InputError: not a number, or not an int32 in these units; names the feature.
    """
    if not is_in_range(weight):
        raise InputError(f"the weight of feature {name} is out of range", found=weight, expected=RANGE)
    return round(weight * VALUE_UNITS)


def integer_values(values: ArrayLike, name: str = "") -> NDArray[np.int32]:
    """Feature values in nats as int32 in units of 2^-20 nat, rounded to the nearest (ties to even).

    Raises:
        InputError: not a number, or beyond +-2048; names the feature `name`.
    """
    scaled = np.rint(np.asarray(values, dtype=np.float64) * VALUE_UNITS)
    beyond = ~(np.abs(scaled) <= VALUE_LIMIT)
    if np.any(beyond):
        raise InputError(
            f"a value of feature {name} is out of range",
            found=float(scaled[beyond].flat[0]) / VALUE_UNITS,
            expected=RANGE,
        )
    return scaled.astype(np.int32)


def check_range(features: Features, largest: NDArray[np.float64], units: Sequence[str]) -> None:
    """Make sure that no sum of a unit can overflow, whatever the search does.

    Args:
        largest: ``[U, K]`` bounds of the absolute feature sums of each unit, in units of 2^-20 nat.
        units: U names of the units for the message.

    Raises:
        InputError: a feature sum or the weighted score could leave int64; names the unit and the feature that
            adds most to it.
    """
    weighted = largest * np.abs(features.integer_weights)
    unsafe = (largest.max(axis=1, initial=0) >= SUM_LIMIT) | (weighted.sum(axis=1) >= SUM_LIMIT)
    if not unsafe.any():
        return
    unit = int(np.flatnonzero(unsafe)[0])
    beyond = largest[unit] >= SUM_LIMIT
    hint = "cut the text into shorter documents"
    if not beyond.any():
        share = 0.999 * SUM_LIMIT / weighted[unit].sum()
        power = 10.0 ** math.floor(math.log10(share))
        factor = f"{math.floor(share / power) * power:.1g}"
        hint = f"multiply all weights by {factor}, which leaves the result as it is, or {hint}"
    worst = int(np.argmax(largest[unit] if beyond.any() else weighted[unit]))
    raise InputError(
        f"feature {features.names[worst]} may exceed the range of exact scores in {units[unit]}",
        found=f"values up to {largest[unit, worst] / VALUE_UNITS:.4g} with weight {features.weights[worst]:g}",
        expected=f"weighted sums of a text below {SUM_LIMIT / SCORE_UNITS:.4g}",
        hint=hint,
    )
