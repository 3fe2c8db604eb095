"""Tables of counts: which items, such as words, an option has, numbered densely within each unit.

Letters as in ``material.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.features.material import Material
from gpusearch.kernels.records import (
    OPTION_START,
    OPTION_TARGET,
    OPTION_WORDS,
)
from gpusearch.model.entries import offsets_of, ranges

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
    letters: NDArray[np.int64]
    """By `what`: letters of the longest target word of an item."""
    parts: NDArray[np.int64]
    """``[*, 2]``: of pairs the two parts by `what`; without rows where items have no parts."""

    @property
    def columns(self) -> int:
        """Items of the unit that has most."""
        return int(np.diff(self.first_of_unit).max(initial=0))


_NO_PARTS: NDArray[np.int64] = np.zeros((0, 2), np.int64)


def make_table(
    material: Material,
    what: Array,
    first: Array,
    letters: NDArray[np.int64],
    parts: NDArray[np.int64] = _NO_PARTS,
) -> Table:
    """The table of items that are given by numbers (int64[*], from 0), those of option o from ``first[o]`` on."""
    counts = np.diff(first)
    units = len(material.problem.unit)
    unit = np.repeat(material.unit, counts)
    stride = int(what.max(initial=0)) + 1
    distinct, item = np.unique(unit * stride + what, return_inverse=True)
    first_of_unit = np.searchsorted(distinct, np.arange(units + 1) * stride)
    return Table(
        first=first,
        item=(item - first_of_unit[unit]).astype(np.int32),
        first_of_unit=first_of_unit,
        what=distinct % stride,
        most=int(material.most_of_sentences(counts).max(initial=0)),
        letters=letters,
        parts=parts,
    )


def word_table(material: Material) -> Table:
    """The target words."""
    places, first = material.target_places()
    return make_table(material, material.word[places], first, _letters(material))


def phrase_pair_table(material: Material) -> Table:
    """The options themselves; those of equal words are the same, whatever else differs."""
    pairs = np.stack((material.source_phrase, material.target_phrase), axis=1)
    parts, what = np.unique(pairs, axis=0, return_inverse=True)
    places, first = material.target_places()
    letters = np.zeros(len(parts), np.int64)
    np.maximum.at(letters, np.repeat(what.reshape(-1), np.diff(first)), _letters(material)[material.word[places]])
    return make_table(material, what.reshape(-1), np.arange(len(pairs) + 1), letters, parts)


def _letters(material: Material) -> NDArray[np.int64]:
    """Of each of `Material.words`."""
    return np.array([len(word) for word in material.words], np.int64)


def word_pair_table(material: Material, side: int) -> Table:
    """The aligned words of one side (0: source), each with all words of the other side that it is aligned to."""
    place = material.problem.option_place.astype(np.int64)
    kinds = np.stack((material.source_phrase, place[:, OPTION_TARGET], place[:, OPTION_WORDS]), axis=1)
    _, examples, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    numbers: tuple[dict[tuple[int, ...], int], ...] = ({}, {})
    items: dict[tuple[int, int], int] = {}
    found: list[list[int]] = []
    for option in examples.tolist():
        words = (
            material.source[int(material.first_source[material.sentence[option]]) + int(place[option, OPTION_START]) :],
            material.word[int(place[option, OPTION_TARGET]) :],
        )
        partners: dict[int, set[int]] = {}
        for point in material.points.place[slice(*material.points.first[option : option + 2].tolist())].tolist():
            partners.setdefault(point[side], set()).add(point[1 - side])
        found.append([])
        for one, others in sorted(partners.items()):
            pair = [(int(words[side][one]),), tuple(int(words[1 - side][other]) for other in sorted(others))]
            source, target = pair if side == 0 else pair[::-1]
            parts = numbers[0].setdefault(source, len(numbers[0])), numbers[1].setdefault(target, len(numbers[1]))
            found[-1].append(items.setdefault(parts, len(items)))
    counts = np.array([len(one) for one in found], np.int64)
    flat = np.array([item for one in found for item in one], np.int64)
    of_option = counts[kind.reshape(-1)]
    what = flat[ranges(offsets_of(counts)[:-1][kind.reshape(-1)], of_option)]
    longest = [max(len(material.words[word]) for word in target) for target in numbers[1]]
    letters = np.array([longest[target] for _, target in items], np.int64)
    parts_of = np.array(list(items), np.int64).reshape(-1, 2)
    return make_table(material, what, offsets_of(of_option), letters, parts_of)


# By the name that a feature asks for.
TABLES: dict[str, Callable[[Material], Table]] = {
    "words": word_table,
    "phrase-pairs": phrase_pair_table,
    "source-word-pairs": partial(word_pair_table, side=0),
    "target-word-pairs": partial(word_pair_table, side=1),
}


def table_of(material: Material, name: str) -> Table:
    """A table of `TABLES`, made once for a material."""
    if name not in material.tables:
        material.tables[name] = TABLES[name](material)
    found: Table = material.tables[name]
    return found


def stacked(tables: list[Table], options: int) -> tuple[Array, Array]:
    """``Document.first`` and ``Document.item`` of several tables."""
    begin = offsets_of(np.array([len(table.item) for table in tables], np.int64))
    first = np.zeros((len(tables), options + 1), np.int64)
    for number, table in enumerate(tables):
        first[number] = table.first + begin[number]
    return first, np.concatenate([np.zeros(0, np.int32), *(table.item for table in tables)])
