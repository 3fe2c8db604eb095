"""What samples and chains are worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.candidates.draws import Draws
from gpusearch.candidates.ess import effective_sample_size
from gpusearch.candidates.pool import Candidates, candidates
from gpusearch.candidates.weights import Weighting
from gpusearch.errors import InputError
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.decide import Settings, minimum_risk

WEIGHTINGS: tuple[Weighting, ...] = ("multiplicity", "ess")


def of_chains(scores: NDArray[Any], texts: NDArray[Any] | None = None) -> Draws:
    """Samples [chains, rounds], round by round as a folder has them; where no texts are given a chain has its own."""
    chains, rounds = scores.shape
    said = np.tile(np.arange(chains)[:, None], rounds) if texts is None else texts
    numbers = said.T.reshape(-1)
    return Draws(
        [f"t {number}" for number in numbers], scores.T.reshape(-1) * 1.0, numbers, np.tile(np.arange(chains), rounds)
    )


def autoregressive(chains: int, rounds: int, correlation: float, seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    noise = generator.normal(size=(chains, rounds)) * np.sqrt(1 - correlation**2)
    noise[:, 0] = generator.normal(size=chains)
    for place in range(1, rounds):
        noise[:, place] += correlation * noise[:, place - 1]
    return noise


def weight_of(found: Candidates, text: str) -> float:
    return float(found.pool.weights[found.texts.index(text)])


def test_a_chain_that_is_stuck_is_worth_one_sample() -> None:
    """However many draws it has, and whether its score is good or bad; so are several that are stuck in places of
    their own. Where all agree in one state there is nothing to be unsure of."""
    scores = np.random.default_rng(1).normal(size=(4, 100))
    for place in (9.0, scores.mean(), -9.0):
        scores[0] = place
        found = candidates(of_chains(scores), "ess")
        mixing = [min(100.0, effective_sample_size(chain, "mean")) for chain in scores[1:]]
        assert found.pool.effective == pytest.approx(1 + sum(mixing))
        assert weight_of(found, "t 0") == pytest.approx(1 / (1 + sum(mixing)))
    stuck = candidates(of_chains(np.repeat([[1.0], [2.0], [3.0]], 100, axis=1)), "ess")
    np.testing.assert_allclose(stuck.pool.weights, 1 / 3)
    assert stuck.pool.effective == pytest.approx(3)
    for chains in (1, 3):
        assert candidates(of_chains(np.ones((chains, 100))), "ess").pool.effective == 100 * chains


def test_a_chain_that_stays_where_all_are_counts() -> None:
    """Of 40 chains of 20 independent draws most have never met a text of probability 1/50. Were they worth one sample
    each, it would have 2.7 times its share on the average."""
    rare = np.random.default_rng(3).random((40, 20)) < 0.02
    assert 0.5 < (~rare.any(axis=1)).mean() < 0.8
    sample = of_chains(np.where(rare, -5.0, -1.0), rare.astype(np.int64))
    ratio = weight_of(candidates(sample, "ess"), "t 1") / rare.mean()
    assert 0.8 < ratio < 1.3


def test_samples_alike_are_worth_the_effective_size_of_all_chains() -> None:
    """What `gpusearch sample` reports of the same draws; weights are those of independent ones."""
    scores = autoregressive(6, 500, 0.8, seed=4)
    sample = of_chains(scores)
    found = candidates(sample, "multiplicity")
    np.testing.assert_allclose(found.pool.weights, 1 / 6)
    assert found.pool.effective == effective_sample_size(scores)
    assert 0.8 < found.pool.effective / (3000 * 0.2 / 1.8) < 1.25
    # Chains of different lengths: as the variance of the mean has it.
    kept = np.flatnonzero((sample.chains != 0) | (np.arange(3000) < 1500))
    assert sample.chains is not None
    cut = Draws([sample.texts[k] for k in kept], sample.scores[kept], sample.derivations[kept], sample.chains[kept])
    assert 0.8 < candidates(cut, "multiplicity").pool.effective / (2750 * 0.2 / 1.8) < 1.25


def test_samples_are_worth_no_more_than_they_are_many() -> None:
    """Of draws that fall on either side by turns the mean of the scores is better known; but not that of utilities."""
    turns = autoregressive(4, 100, -0.9, seed=5)
    assert effective_sample_size(turns) > 800
    for how in WEIGHTINGS:
        assert candidates(of_chains(turns), how).pool.effective == 400
    unknown = of_chains(turns)
    assert candidates(Draws(unknown.texts, unknown.scores, unknown.derivations), "multiplicity").pool.effective == 400
    short = candidates(of_chains(turns[:, :3]), "multiplicity")
    assert short.pool.effective == 12  # too few to tell


def sticky(chains: int, rounds: int, seed: int) -> NDArray[np.int64]:
    """Chains that stay in one of two states of equal probability with probability 0.9 [chains, rounds]."""
    generator = np.random.default_rng(seed)
    moves = generator.random((chains, rounds)) < 0.1
    return (generator.integers(0, 2, (chains, 1)) + moves.cumsum(axis=1)) % 2


@pytest.mark.parametrize("known", [True, False])
def test_intervals_of_correlated_samples(known: bool) -> None:
    """The expected utility of a text spreads over runs of the sampler as one run's bootstrap says. The interval of
    independent draws would be a third as wide."""
    state = sticky(4, 250, seed=6)
    found = candidates(of_chains(np.where(known, -1.0 - state, np.nan), state), "multiplicity")
    pairs = Chrf().prepare(found.texts, 0)
    interval = minimum_risk(Chrf(), pairs, found.pool, Settings(resamples=1000)).interval
    assert interval is not None and 1000 / 9 / 1.5 < found.pool.effective < 1000 / 9 * 1.5
    same, other = Chrf().score(pairs.statistics(np.array([0]), np.array([0, 1])))[0].tolist()
    shares = np.array([sticky(4, 250, seed).mean() for seed in range(1000, 1500)])
    low, high = np.quantile(shares * same + (1 - shares) * other, [0.025, 0.975])
    assert 0.75 < (interval.utility[1] - interval.utility[0]) / (high - low) < 1.33


@pytest.mark.parametrize("scale", [float("inf"), float("nan"), -1.0])
def test_scales_that_are_none(scale: float) -> None:
    with pytest.raises(InputError, match="unusable scale of scores"):
        candidates(Draws(["x"], np.zeros(1), np.zeros(1, np.int64)), "score", scale)


@pytest.mark.parametrize("how", ["score", "ess"])
@pytest.mark.parametrize("score", [float("inf"), -float("inf"), float("nan")])
def test_scores_that_weigh_nothing(how: Weighting, score: float) -> None:
    sample = Draws(["x", "y"], np.array([-1.0, score]), np.arange(2), np.arange(2))
    with pytest.raises(InputError, match=f"weights by {how} need scores; found entries without a finite score"):
        candidates(sample, how)


def test_scores_far_apart() -> None:
    """What is beyond all numbers below the best has no weight, in silence."""
    sample = Draws(["x", "y"], np.array([0.0, -1e300]), np.arange(2))
    assert candidates(sample, "score", 1e300).pool.weights.tolist() == [1.0, 0.0]
