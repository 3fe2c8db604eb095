"""Tables of counts: which items, such as words, an option has, numbered densely within each unit.

Letters as in ``material.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.features.material import Material
from gpusearch.kernels.records import SENTENCE_LONGEST, SENTENCE_SPAN, SENTENCE_WORDS
from gpusearch.model.entries import offsets_of
from gpusearch.model.extents import longest_derivations

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Table:
    """The items of all options, those of one option after those of another."""

    first: NDArray[np.int64]
    """``[O + 1]``: where the items of an option begin in `item`."""
    item: NDArray[np.int32]
    """Numbers of items, from 0 in each unit."""
    first_of_unit: NDArray[np.int64]
    """``[U + 1]``: where the items of a unit begin in `what`."""
    what: NDArray[np.int64]
    """What each item of each unit is: a number that is the same in all units."""
    most: int
    """Items of the longest derivation of a sentence."""

    @property
    def columns(self) -> int:
        """Items of the unit that has most."""
        return int(np.diff(self.first_of_unit).max(initial=0))


def make_table(material: Material, what: Array, first: Array) -> Table:
    """The table of items that are given by numbers (int64[*], from 0), those of option o from ``first[o]`` on."""
    counts = np.diff(first)
    units = len(material.problem.unit)
    unit = np.repeat(material.unit, counts)
    stride = int(what.max(initial=0)) + 1
    distinct, item = np.unique(unit * stride + what, return_inverse=True)
    first_of_unit = np.searchsorted(distinct, np.arange(units + 1) * stride)
    rows = material.problem.sentence
    longest = longest_derivations(
        rows[:, SENTENCE_WORDS],
        rows[:, SENTENCE_SPAN],
        material.problem.span,
        counts.astype(np.int32),
        rows[:, SENTENCE_LONGEST],
    )
    return Table(
        first=first,
        item=(item - first_of_unit[unit]).astype(np.int32),
        first_of_unit=first_of_unit,
        what=distinct % stride,
        most=int(longest.max(initial=0)),
    )


def word_table(material: Material) -> Table:
    """The target words."""
    places, first = material.target_places()
    return make_table(material, material.word[places], first)


# By the name that a feature asks for.
TABLES = {"words": word_table}


def stacked(tables: list[Table], options: int) -> tuple[Array, Array]:
    """``Document.first`` and ``Document.item`` of several tables."""
    begin = offsets_of(np.array([len(table.item) for table in tables], np.int64))
    first = np.zeros((len(tables), options + 1), np.int64)
    for number, table in enumerate(tables):
        first[number] = table.first + begin[number]
    return first, np.concatenate([np.zeros(0, np.int32), *(table.item for table in tables)])
