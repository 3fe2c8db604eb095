"""Which lengths of source phrases have options, as the table that draws read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def length_table(span: NDArray[np.int32], first_row: NDArray[np.int64]) -> NDArray[np.int32]:
    """Lengths with options from each source position on.

    Args:
        span: ``[X + 1]`` first option of each row; a position's rows are those of the lengths 1, 2, ...
        first_row: ``[W]`` the first row of each source position, rising.

    Returns:
        ``[X, 2]``: in the row of (start, length), how many lengths up to this one have options; in row k of a start,
        counted from 0, the length that is k-th among those that have (0 where there are fewer).
    """
    has = np.diff(span) > 0
    begin = np.repeat(first_row, np.diff(np.append(first_row, len(has))))
    count = has.cumsum()
    count -= (count - has)[begin]
    table = np.zeros((len(has), 2), np.int32)
    table[:, 0] = count
    found = np.flatnonzero(has)
    table[begin[found] + count[found] - 1, 1] = found - begin[found] + 1
    return table
