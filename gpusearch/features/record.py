"""The features of a problem as the records that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpusearch.features.counts import stacked, table_of
from gpusearch.features.material import Material
from gpusearch.features.protocol import Feature, Room
from gpusearch.kernels.records import (
    DOCUMENT_COUNTS,
    DOCUMENT_MARKS,
    DOCUMENT_MOST,
    DOCUMENT_NUMBERS,
    DOCUMENT_SUMS,
    DOCUMENT_VALUES,
    DOCUMENT_WORK,
    TABLE_SUMS,
    Active,
    Document,
)
from gpusearch.model.entries import offsets_of


def make_document(material: Material, features: Sequence[tuple[Feature, Sequence[int]]]) -> Document | tuple[()]:
    """The record of features with the weights of their values (2^-20), in their order; () where there are none."""
    if not features:
        return ()
    names = list(dict.fromkeys(name for feature, _ in features for name in feature.counts))
    tables = [table_of(material, name) for name in names]
    begins = offsets_of(np.array([table.columns for table in tables], np.int64))
    room = Room(
        material=material,
        tables={name: number for number, name in enumerate(names)},
        table=tables,
        counts=int(begins[-1]),
        sums=TABLE_SUMS * len(tables),
        begins=begins[:-1].tolist(),
    )
    records: list[tuple[Any, tuple[int, int]]] = []
    place = 0
    for feature, weights in features:
        numbers = [(weight, place + k) for k, weight in enumerate(weights)]
        room.weights = weights
        records += zip(feature.records(room), numbers, strict=False)  # none where kernels do not compute it
        place += len(weights)
    chain: Active | tuple[()] = ()
    for record, numbers_of_value in reversed(records):
        chain = Active(record, np.array(numbers_of_value, np.int64), chain)
    number = np.zeros(DOCUMENT_NUMBERS, np.int64)
    number[DOCUMENT_VALUES] = place
    number[DOCUMENT_COUNTS], number[DOCUMENT_SUMS] = room.counts, room.sums
    number[DOCUMENT_MARKS] = room.marks
    number[DOCUMENT_WORK] = room.work
    # What gives way and what comes in are at most all items of a sentence each.
    number[DOCUMENT_MOST] = 2 * max((table.most for table in tables), default=0)
    first, item = stacked(tables, len(material.problem.option_place))
    columns = np.array([[begin, table.columns] for begin, table in zip(room.begins, tables, strict=True)], np.int64)
    return Document(chain, number, first, item, columns.reshape(-1, 2))
