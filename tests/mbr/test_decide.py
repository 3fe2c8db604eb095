"""Decisions are those of sums over all samples one by one, however they are computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sacrebleu.metrics import CHRF

from gpusearch.candidates.draws import Draws
from gpusearch.candidates.pool import Candidates, Pool, candidates
from gpusearch.candidates.weights import Weighting
from gpusearch.errors import InputError
from gpusearch.mbr.averaged import FunctionUtility
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.decide import Decision, Settings, minimum_risk, most_probable
from gpusearch.mbr.expected import aggregate, exact

# Not empty, so that each is its own best translation.
TEXT = st.lists(st.sampled_from(["ab", "abc", "b", "cab"]), min_size=1, max_size=4).map(" ".join)


@st.composite
def draws(draw: st.DrawFn) -> Draws:
    """Up to eight samples; derivations say which of two ways a text was made, so that they repeat."""
    texts = draw(st.lists(TEXT, min_size=1, max_size=8))
    ways = draw(st.lists(st.integers(0, 1), min_size=len(texts), max_size=len(texts)))
    made = sorted({*zip(texts, ways, strict=True)})
    number = {one: place for place, one in enumerate(made)}
    scores = draw(st.lists(st.integers(-3 << 20, 0), min_size=len(made), max_size=len(made)))
    derivations = np.array([number[one] for one in zip(texts, ways, strict=True)], np.int64)
    return Draws(texts, np.array(scores)[derivations] / (1 << 20), derivations, np.array(ways, np.int64))


def entries(sample: Draws, how: Weighting, scale: float) -> list[tuple[str, float]]:
    """Texts with weights that sum to 1, one by one, by the definitions."""
    if how == "multiplicity":
        return [(text, 1 / len(sample.texts)) for text in sample.texts]
    if how == "uniform":
        return [(text, 1 / len(set(sample.texts))) for text in sorted(set(sample.texts))]
    first = {int(one): place for place, one in reversed(list(enumerate(sample.derivations)))}
    mass = {place: math.exp(scale * sample.scores[place]) for place in first.values()}
    return [(sample.texts[place], value / sum(mass.values())) for place, value in mass.items()]


def brute_force(listed: Sequence[tuple[str, float]], leave_one_out: bool) -> dict[str, float]:
    """Expected chrF of each text: the best of its entries, each compared with all (the other) entries."""
    metric = CHRF()
    best: dict[str, float] = {}
    for place, (text, own) in enumerate(listed):
        others = [pair for number, pair in enumerate(listed) if number != place or not leave_one_out]
        if not others:
            others = [(text, own)]
        total = math.fsum(weight for _, weight in others)
        value = math.fsum(w * metric.sentence_score(text, [other]).score for other, w in others) / total
        best[text] = max(best.get(text, -1.0), value)
    return best


def decided(found: Candidates, settings: Settings = Settings()) -> Decision:  # noqa: B008  (frozen)
    return minimum_risk(Chrf(), Chrf().prepare(found.texts, 0), found.pool, settings)


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("how", ["score", "uniform", "multiplicity"])
@given(sample=draws(), scale=st.sampled_from([0.0, 0.5, 2.0]))
def test_equals_sums_over_all_entries(how: Weighting, leave_one_out: bool, sample: Draws, scale: float) -> None:
    """Putting equal texts together changes nothing, not even who is left out."""
    found = candidates(sample, how, scale)
    decision = decided(found, Settings(leave_one_out=leave_one_out))
    expected = brute_force(entries(sample, how, scale), leave_one_out)
    assert found.texts == sorted(expected)
    np.testing.assert_allclose(decision.values, [expected[text] for text in found.texts], rtol=1e-9, atol=1e-9)
    assert expected[found.texts[decision.best]] == pytest.approx(max(expected.values()), abs=1e-8)


@given(sample=draws())
def test_most_probable(sample: Draws) -> None:
    found = candidates(sample, "score", 1.0)
    listed = entries(sample, "score", 1.0)
    of_text = {text: math.fsum(weight for other, weight in listed if other == text) for text, _ in listed}
    chosen = most_probable(found.pool, "maxtrans")
    assert chosen.values[chosen.best] == pytest.approx(max(of_text.values()))
    assert of_text[found.texts[chosen.best]] == pytest.approx(max(of_text.values()))
    chosen = most_probable(found.pool, "maxderiv")
    assert chosen.values[chosen.best] == pytest.approx(max(weight for _, weight in listed))
    assert found.pool.scores[chosen.best] == sample.scores.max()


def test_derivations_are_summed() -> None:
    """Two derivations of 0.3 each beat one of 0.4 as a translation, but not as derivations."""
    sample = Draws(["x", "y", "x"], np.log([0.3, 0.4, 0.3]), np.array([0, 1, 2]))
    found = candidates(sample, "score")
    np.testing.assert_allclose(found.pool.weights, [0.6, 0.4])
    assert most_probable(found.pool, "maxtrans").best == 0
    assert most_probable(found.pool, "maxderiv").best == 1
    flat = candidates(sample, "uniform")  # no rule knows more than the score then
    assert most_probable(flat.pool, "maxtrans").best == 1


@pytest.mark.parametrize("best", ["x", "y"])
def test_ties(best: str) -> None:
    """Of derivations that were drawn as often the better score decides; of translations of equal utility, before it,
    how probable they are."""
    scores = {"x": -3.0, "y": -3.0, "z": -2.0} | {best: -1.0}
    drawn = ["x", "y", "x", "y", "z"]  # x and y by two derivations each
    sample = Draws(drawn, np.array([scores[text] for text in drawn]), np.array([0, 1, 2, 3, 4]))
    found = candidates(sample, "multiplicity")
    ranking = most_probable(found.pool, "maxderiv").ranking
    assert "".join(found.texts[place] for place in ranking) == best + ("zy" if best == "x" else "zx")
    assert found.texts[most_probable(found.pool, "maxtrans").best] == best
    alike = FunctionUtility(lambda hypotheses, references: np.ones((len(hypotheses), len(references))), "alike")
    decision = minimum_risk(alike, alike.prepare(found.texts, 0), found.pool, Settings())
    assert "".join(found.texts[place] for place in decision.ranking) == best + ("yz" if best == "x" else "xz")


def test_probabilities_are_told_apart_however_small() -> None:
    """The less probable translation is behind, whatever the scores; of equals the one whose score is unknown."""
    weights, scores = np.array([1e-12, 2e-12, 0.0, 1 - 3e-12]), np.array([-1.0, -2.0, np.nan, np.nan])
    pool = Pool(weights, scores, weights, weights, np.arange(4), 4.0)
    assert most_probable(pool, "maxtrans").ranking.tolist() == [3, 1, 0, 2]
    even = replace(pool, weights=np.full(4, 0.25))
    assert most_probable(even, "maxtrans").ranking.tolist() == [0, 1, 2, 3]


@given(sample=draws(), seed=st.integers(0, 9))
def test_order_of_samples_does_not_matter(sample: Draws, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(sample.texts))
    shuffled = Draws([sample.texts[place] for place in order], sample.scores[order], sample.derivations[order])
    first, second = candidates(sample, "multiplicity"), candidates(shuffled, "multiplicity")
    assert first.texts == second.texts
    np.testing.assert_array_equal(decided(first).ranking, decided(second).ranking)


@given(sample=draws())
def test_finalists_and_pruning_without_loss(sample: Draws) -> None:
    """All as finalists, and a confidence of 1, give what all pairs give; fewer are as many as are kept."""
    found = candidates(sample, "score")
    every = decided(found)
    for settings in (Settings("fine", finalists=99), Settings("prune", confidence=1.0)):
        np.testing.assert_array_equal(decided(found, settings).values, every.values)
    few = decided(found, Settings("fine", finalists=1, keep=2))
    assert len(few.ranking) == min(2, len(found.texts))
    np.testing.assert_allclose(few.values[few.ranking], every.values[few.ranking], rtol=1e-12)


def many() -> Draws:
    """A hundred texts, many of them with little in common with the others."""
    generator = np.random.default_rng(3)
    words = np.array(["the", "a", "cat", "dog", "sat", "lay", "on", "under", "mat", "hat", ".", "!"])
    near = [" ".join(["the cat", *words[generator.integers(4, 12, 5)], "here"]) for _ in range(60)]
    far = [" ".join(generator.permutation(list("abcdefghijklmnopq"))) for _ in range(40)]
    return Draws([*near, *far], np.zeros(100), np.arange(100))


def test_pruning_gives_up_the_hopeless_and_keeps_the_best() -> None:
    found = candidates(many(), "multiplicity")
    every = decided(found)
    pruned = decided(found, Settings("prune", confidence=0.99, keep=3))
    assert pruned.best == every.best and 3 <= len(pruned.ranking) < len(every.ranking) // 2
    np.testing.assert_allclose(pruned.values[pruned.ranking], every.values[pruned.ranking], rtol=1e-12)


@given(sample=draws())
def test_aggregation_leaves_one_out(sample: Draws) -> None:
    """As if the expected counts had been taken over the other samples."""
    found = candidates(sample, "multiplicity")
    utility = Bleu("add-k")
    values = aggregate(
        utility, utility.prepare(found.texts, 0), found.pool, np.arange(len(found.texts)), leave_one_out=True
    )
    for place, text in enumerate(found.texts):
        others = list(sample.texts)
        others.remove(text)
        rest = others or [text]
        weights = np.array([rest.count(one) / len(rest) for one in found.texts])
        row = np.array([place])
        alone = utility.score(utility.prepare(found.texts, 0).expected(row, weights, np.zeros(1)))
        assert values[place] == pytest.approx(float(alone[0, 0]), rel=1e-9, abs=1e-9)


def test_aggregation_of_one_reference_is_the_utility() -> None:
    sample = Draws(["a b c d"] * 3, np.zeros(3), np.zeros(3, np.int64))
    found = candidates(sample, "multiplicity")
    assert decided(found, Settings("aggregate")).values.tolist() == [100.0]


def test_bootstrap_tells_sure_choices_from_others() -> None:
    sure = candidates(Draws(["a b c d e"] * 30 + ["x y"], np.zeros(31), np.arange(31)), "multiplicity")
    interval = decided(sure, Settings(resamples=200)).interval
    assert interval is not None and interval.share == 1.0 and interval.lead[0] > 50
    even = candidates(Draws(["a b c", "a b d"] * 10, np.zeros(20), np.arange(20)), "multiplicity")
    decision = decided(even, Settings(resamples=200, leave_one_out=True))
    interval = decision.interval
    assert interval is not None and 0.3 < interval.share < 0.8 and interval.lead[0] < 0 < interval.lead[1]
    assert interval.utility[0] < decision.values[decision.best] < interval.utility[1]
    assert decided(even, Settings(resamples=200, leave_one_out=True)).interval == interval


def test_chains_count_by_their_effective_size() -> None:
    """A chain that hardly moves counts less than one that mixes."""
    generator = np.random.default_rng(5)
    mixing, stuck = generator.normal(size=200), np.cumsum(generator.normal(size=200))
    scores = np.concatenate([mixing, stuck])
    sample = Draws(["x"] * 200 + ["y"] * 200, scores, np.arange(400), np.repeat([0, 1], 200))
    found = candidates(sample, "ess")
    assert found.pool.weights[0] > 0.9 and 100 < found.pool.effective < 400
    short = Draws(["x", "x", "y"], np.arange(3.0), np.arange(3), np.array([0, 0, 1]))
    np.testing.assert_allclose(candidates(short, "ess").pool.weights, [2 / 3, 1 / 3])


def test_weights_that_cannot_be() -> None:
    sample = Draws(["x"], np.array([np.nan]), np.zeros(1, np.int64))
    for how in ("score", "ess"):
        with pytest.raises(InputError, match="need scores"):
            candidates(sample, how)
    with pytest.raises(InputError, match="need chains"):
        candidates(replace(sample, scores=np.zeros(1)), "ess")
    assert math.isnan(candidates(sample, "multiplicity").pool.scores[0])


def test_rows_may_be_any() -> None:
    """Also where blocks are small."""
    found = candidates(many(), "multiplicity")
    pairs = Chrf().prepare(found.texts, 0)
    rows: NDArray[np.int64] = np.array([7, 3, 90])
    whole = exact(Chrf(), pairs, found.pool, np.arange(100), leave_one_out=True)
    little = pairs.room.need(1, 100)
    np.testing.assert_allclose(
        exact(Chrf(), pairs, found.pool, rows, leave_one_out=True, memory=little), whole[rows], rtol=1e-12
    )
