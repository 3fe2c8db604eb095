"""What counts of last states of chains, or transition matrices, say about the distribution that chains have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import chi2

from gpusearch.search.enumeration import Enumerated
from tests.statistical.chi_square import pooled

LEVEL = 1e-3


def divergence(counts: NDArray[np.int64], probability: NDArray[np.float64]) -> float:
    """KL of the draws' distribution from the exact one, nats."""
    seen = counts > 0
    share = counts[seen] / counts.sum()
    return float((share * np.log(share / probability[seen])).sum())


def check_reversible(matrix: csr_array, pi: NDArray[np.float64]) -> None:
    """pi P = pi, and detailed balance, within 1e-9."""
    assert np.abs(pi @ matrix - pi).max() < 1e-9
    flow = (matrix * pi[:, None]).tocsr()
    assert abs(flow - flow.T).max() < 1e-9


class Hypothesis:
    """What p-values of pooled chi-squares say of a distribution of all cells of a grid."""

    def __init__(self) -> None:
        self.p_values: list[float] = []
        self._sum, self._degrees = 0.0, 0

    def add(self, p_value: float, pools: int) -> None:
        """One cell; its counts were pooled to so many expectations."""
        self.p_values.append(p_value)
        if pools > 1:
            self._sum += chi2.isf(max(p_value, 1e-300), pools - 1)
            self._degrees += pools - 1

    def rejected(self) -> bool:
        """By some cell, Holm-corrected."""
        return any(value <= LEVEL / (len(self.p_values) - rank) for rank, value in enumerate(sorted(self.p_values)))

    def together(self) -> float:
        """p-value of the sum of all chi-squares, which notices what is small in each cell, but in all of them."""
        return float(chi2.sf(self._sum, self._degrees))


class Verdict:
    """What the cells of a grid say together: of the distribution that chains are to have, and of one whose scale is off
    by a tenth."""

    def __init__(self) -> None:
        self.right, self.wrong = Hypothesis(), Hypothesis()

    def add(self, counts: NDArray[np.int64], scene: Enumerated, scale: float) -> None:
        """One cell: how often each derivation was found. KL is at most twice what it is for independent draws."""
        pi = scene.posterior(0, scale)
        self.right.add(*pooled(counts, pi))
        assert divergence(counts, pi) <= 2 * (len(pi) - 1) / (2 * counts.sum())
        self.wrong.add(*pooled(counts, scene.posterior(0, 1.1 * scale)))

    def check(self, *, full: bool, notices: bool = True) -> None:
        """All cells have the right distribution, one by one and together.

        Where the draws are many enough that the wrong one is noticed (`notices`), it is by the same sum; and under
        --full by the same correction of single cells, too.
        """
        assert not self.right.rejected(), sorted(self.right.p_values)
        assert self.right.together() > LEVEL
        if notices:
            assert self.wrong.together() < 1e-4
        if full:
            assert self.wrong.rejected(), sorted(self.wrong.p_values)
