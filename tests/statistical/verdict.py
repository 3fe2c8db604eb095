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


class Verdict:
    """What the cells of a grid say together."""

    def __init__(self) -> None:
        self.p_values: list[float] = []
        self.wrong, self.wrong_degrees = 0.0, 0

    def add(self, counts: NDArray[np.int64], scene: Enumerated, scale: float) -> None:
        """One cell: how often each derivation was found. KL is at most twice what it is for independent draws."""
        pi = scene.posterior(0, scale)
        self.p_values.append(pooled(counts, pi)[0])
        assert divergence(counts, pi) <= 2 * (len(pi) - 1) / (2 * counts.sum())
        value, cells = pooled(counts, scene.posterior(0, 1.1 * scale))
        self.wrong += chi2.isf(max(value, 1e-300), cells - 1)
        self.wrong_degrees += cells - 1

    def check(self, *, notices: bool = True) -> None:
        """All cells have the right distribution, Holm-corrected; where the draws are many enough that it `notices`, not
        that of a scale that is off by a tenth."""
        for rank, value in enumerate(sorted(self.p_values)):
            assert value > LEVEL / (len(self.p_values) - rank), sorted(self.p_values)
        assert not notices or chi2.sf(self.wrong, self.wrong_degrees) < 1e-4
