"""Effective sample size as ArviZ defines it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.candidates.ess import effective_sample_size

KINDS: tuple[Literal["bulk", "mean"], ...] = ("bulk", "mean")


def waves(chains: int, draws: int) -> NDArray[np.float64]:
    """Draws that need no random numbers."""
    steps = np.arange(chains * draws, dtype=np.float64).reshape(chains, draws)
    return np.sin(steps * steps) + 0.3 * np.cos(steps / 7)


@pytest.mark.parametrize(
    ("shape", "mixing", "drifting"),
    [
        ((1, 100), (61.52675571369491, 60.48671674079142), (4.8583961163676825, 5.162904676293161)),
        ((4, 50), (79.1373803118363, 127.08550817127603), (6.772762237641896, 6.111272982649307)),
        ((3, 7), (22.594905091859506,) * 2, (22.594905091859506,) * 2),
        ((2, 4), (7.224719895935548,) * 2, (7.224719895935548,) * 2),
    ],
)
def test_values_of_arviz(shape: tuple[int, int], mixing: tuple[float, float], drifting: tuple[float, float]) -> None:
    """What ArviZ 0.23.4 says of the same draws, and of their running sums."""
    draws = waves(*shape)
    for values, expected in ((draws, mixing), (draws.cumsum(axis=1), drifting)):
        found = [effective_sample_size(values, kind) for kind in KINDS]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def random_chains(number: int) -> Iterator[NDArray[np.float64]]:
    """Some chains of some draws that depend on each other, [chains, draws]."""
    generator = np.random.default_rng(0)
    for _ in range(number):
        chains, draws = generator.integers(1, 6), generator.integers(4, 60)
        values = generator.normal(size=(chains, draws))
        for place in range(1, draws):
            values[:, place] += generator.uniform(-1, 1) * values[:, place - 1]
        yield values


def test_equals_arviz_where_it_is_installed() -> None:
    """Last run with ArviZ 0.23.4."""
    arviz = pytest.importorskip("arviz")
    for values in random_chains(200):
        for kind in KINDS:
            found = effective_sample_size(values, kind)
            np.testing.assert_allclose(found, float(arviz.ess(values, method=kind)), rtol=1e-9)


def test_extremes() -> None:
    """Too few draws or a NaN tell nothing; the same draw again and again counts in full."""
    assert np.isnan(effective_sample_size(np.zeros((2, 3))))
    assert np.isnan(effective_sample_size(np.array([1.0, 2.0, np.nan, 3.0, 1.0])))
    assert effective_sample_size(np.full((2, 10), 3.5)) == 20.0
    assert effective_sample_size(waves(2, 50)) == effective_sample_size(np.exp(waves(2, 50)))


@pytest.mark.stat
def test_of_an_autoregressive_chain() -> None:
    """Draws with correlation r of neighbours are worth (1 - r) / (1 + r) of as many independent ones."""
    generator = np.random.default_rng(2)
    for correlation in (0.0, 0.5, 0.9):
        noise = generator.normal(size=(8, 4000)) * np.sqrt(1 - correlation**2)
        values = np.empty_like(noise)
        values[:, 0] = generator.normal(size=8)
        for place in range(1, 4000):
            values[:, place] = correlation * values[:, place - 1] + noise[:, place]
        expected = values.size * (1 - correlation) / (1 + correlation)
        assert 0.85 < effective_sample_size(values) / expected < 1.15
