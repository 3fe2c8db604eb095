"""The `[search]` group as the integers that kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.fixed import logarithm_table
from gpusearch.kernels.records import (
    DECAYS,
    DISTORTION_LIMIT,
    DISTORTION_WEIGHT,
    FIRST_JUMP,
    LINEARISE_BLOCK,
    LONGEST,
    LONGEST_DRAW,
    LONGEST_VISIT,
    MOSES_CHECK,
    MOVE_BLOCK,
    MOVE_DISTANCE,
    NUMBERS,
    PERMUTE_BLOCK,
    RESEGMENT_BLOCK,
    RESEGMENT_SWAP,
    RIGHT_MOVE,
    SWAP_DISTANCE,
    VALUE_BITS,
    VALUES,
    Docent,
    Search,
)

if TYPE_CHECKING:  # kernels are tried out on machines that lack what reads configurations
    from gpusearch.config.search import OperationsConfig, SearchConfig

# Probabilities are in 2^-32.
ONE = 1 << 32
# Draws that come to nothing before Docent gives a document up.
DOCENT_DRAWS = 100
NO_LIMIT = np.iinfo(np.int32).max


def make_search(config: SearchConfig, *, longest: int, values: int, distortion_weight: int) -> Search:
    """Integers of a search configuration.

    Args:
        config: the `[search]` group.
        longest: source words of the longest option.
        values: K', feature values of an option.
        distortion_weight: weight of the distortion feature in units of 2^-20.
    """
    number = np.zeros(NUMBERS, np.int64)
    number[LONGEST] = longest
    number[DISTORTION_LIMIT] = NO_LIMIT if config.distortion_limit < 0 else config.distortion_limit
    number[DISTORTION_WEIGHT] = distortion_weight << VALUE_BITS
    number[FIRST_JUMP] = config.first_jump
    number[MOSES_CHECK] = config.distortion_check == "moses" and config.distortion_limit >= 0
    number[VALUES] = values
    number[RESEGMENT_SWAP] = round(config.operations.resegment_swap * ONE)
    number[RIGHT_MOVE] = round(config.operations.move_right * ONE)
    number[LONGEST_VISIT] = config.longest_visit
    docent = Docent(np.array([DOCENT_DRAWS])) if config.compat == "docent" else ()
    return Search(number, _operation(config.operations), _survival(config.operations), logarithm_table(), docent)


def _operation(operations: OperationsConfig) -> NDArray[np.int64]:
    """Probabilities of the operations, summed, in 2^-32."""
    shares = np.array(list(operations.shares().values()), np.float64)
    summed = np.round(np.cumsum(shares) / shares.sum() * ONE).astype(np.int64)
    return summed


def _survival(operations: OperationsConfig) -> NDArray[np.int64]:
    """``[DECAYS, LONGEST_DRAW + 1]``: decay^k in 2^-32."""
    decay = np.zeros(DECAYS)
    decay[SWAP_DISTANCE] = operations.swap_decay
    decay[[RESEGMENT_BLOCK, PERMUTE_BLOCK, LINEARISE_BLOCK, MOVE_BLOCK]] = operations.block_decay
    decay[MOVE_DISTANCE] = operations.move_decay
    powers = decay[:, None] ** np.arange(LONGEST_DRAW + 1)
    return np.round(powers * ONE).astype(np.int64)
