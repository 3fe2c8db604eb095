"""Expected utility of candidates: over all pairs, or over aggregated references; `prune.py` gives some up before."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from gpusearch.candidates.pool import Pool
from gpusearch.mbr.matrix import MEMORY, blocks
from gpusearch.mbr.utility import Index, Pairs, Utility

Utilities = NDArray[np.float64]


def exact(
    utility: Utility, pairs: Pairs, pool: Pool, rows: Index, *, leave_one_out: bool = False, memory: int = MEMORY
) -> Utilities:
    """``sum over references of weight * utility`` [H], of candidates `rows` [H] with all candidates as references.

    Args:
        leave_one_out: one copy of the candidate itself is no reference. Of copies with different weights (derivations
            of a list) it is the lightest, which is best for the candidate: as if each copy were a candidate of its
            own. A candidate that has all the weight keeps itself.
    """
    return under(utility, pairs, rows, pool.weights[:, None], left_out_of(pool, rows, leave_one_out), memory)[:, 0]


def under(
    utility: Utility, pairs: Pairs, rows: Index, weights: NDArray[np.float64], left_out: Utilities, memory: int = MEMORY
) -> Utilities:
    """Expected utilities [H, B] under B weightings of the references.

    Args:
        weights: [N, B], each sums to 1.
        left_out: [H] how much of the candidate's own weight does not count, at most.
    """
    columns = np.flatnonzero(weights.any(axis=1))
    own = np.full(len(weights), -1)
    own[columns] = np.arange(len(columns))
    result = np.empty((len(rows), weights.shape[1]))
    for part, block in blocks(utility, pairs, rows, columns, memory):
        share = torch.from_numpy(np.ascontiguousarray(weights[columns])).to(block.device)
        result[part] = (block @ share).cpu().numpy()
        if left_out[part].any():
            mine = own[rows[part]]
            here = np.flatnonzero(mine >= 0)
            itself = block[torch.from_numpy(here), torch.from_numpy(mine[here])].cpu().numpy()
            taken = np.minimum(left_out[part][here, None], weights[rows[part][here]])
            taken[taken >= 1 - 1e-12] = 0.0
            result[part][here] = (result[part][here] - taken * itself[:, None]) / (1 - taken)
    return result


def aggregate(utility: Utility, pairs: Pairs, pool: Pool, rows: Index, *, leave_one_out: bool = False) -> Utilities:
    """Utility [H] where one reference has the expected counts of all: linear in the number of candidates.

    It is no mean of utilities, but ranks much alike (DeNero et al. 2009 for BLEU, Vamvas & Sennrich 2024 for chrF).

    Raises:
        InputError: the utility knows no counts.
    """
    left_out = left_out_of(pool, rows, leave_one_out)
    left_out[left_out >= 1 - 1e-12] = 0.0
    return utility.score(pairs.expected(rows, pool.weights, left_out))[:, 0].cpu().numpy()


def left_out_of(pool: Pool, rows: Index, leave_one_out: bool) -> Utilities:
    """How much of the own weight [H] of candidates `rows` [H] is no reference for them; see :func:`exact`."""
    return pool.lightest[rows] if leave_one_out else np.zeros(len(rows))
