"""Which lengths of source phrases have options, as the table that draws read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def length_table(span: NDArray[np.int32], longest: int) -> NDArray[np.int32]:
    """Lengths with options from each source position on.

    Args:
        span: ``[X * longest + 1]`` first option of each span, in row start * longest + length - 1.

    Returns:
        ``[X * longest, 2]``: in the row of (start, length), how many lengths up to this one have options; in row k of a
        start, counted from 0, the length that is k-th among those that have (0 where there are fewer).
    """
    has = np.diff(span).reshape(-1, longest) > 0
    count = has.cumsum(axis=1)
    in_order = np.argsort(~has, axis=1, kind="stable") + 1
    in_order[np.arange(longest) >= count[:, -1:]] = 0
    return np.stack((count, in_order), axis=-1).reshape(-1, 2).astype(np.int32)
