"""Changes that users' features in Python and torch say, on documents of any length: differences of values.

The design (section 2) rounds floats to 2^-20 nat: a change and two values are at most three halves of that apart, so
at most 1 where all are whole numbers. What float32 adds to that is in docs/decisions.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.features.answers import Floats
from gpusearch.features.load import batch_features, made_feature, reader
from gpusearch.features.user import BatchFeature
from gpusearch.kernels.records import ACCEPTED, LIMIT_STEPS, Proposals, State
from gpusearch.model.problem import Batch
from gpusearch.model.weights import VALUE_UNITS
from gpusearch.search.device import make_driver
from gpusearch.search.driver import Lanes
from gpusearch.search.judged import FeatureJudge, make_judges
from gpusearch.search.temperature import temperature_levels
from tests.features.user_features import Write, built, of, write

__all__ = ["write"]  # a fixture

Integers = NDArray[np.int64]

FEATURES = """
import numpy as np
import torch


class Worth:
    # An irrational worth of each word.
    scope = "sentence"
    kind = np.float64

    def prepare(self, preparation):
        self.worth = np.array([*np.sqrt(2.0 + np.arange(len(preparation.words))), 0.0]).astype(self.kind)

    def full(self, state):
        return self.worth[state.words].sum(axis=1)

    def delta(self, state, proposal):
        return self.worth[proposal.added].sum(axis=1) - self.worth[proposal.removed].sum(axis=1)


class WorthSingle(Worth):
    kind = np.float32


class Roots:
    # Of how often each word of the document occurs, of which it keeps count.
    scope = "document"

    def prepare(self, preparation):
        self.many, self.counts = len(preparation.words), {}

    def count(self, words):
        return np.bincount(words[words >= 0], minlength=self.many)

    def full(self, state):
        for lane, words in zip(state.lane.tolist(), state.words):
            self.counts[lane] = self.count(words)
        return [np.sqrt(self.counts[lane]).sum() for lane in state.lane.tolist()]

    def moves(self, proposal):
        for lane, removed, added in zip(proposal.state.lane.tolist(), proposal.removed, proposal.added):
            yield lane, self.counts[lane] + self.count(added) - self.count(removed)

    def delta(self, state, proposal):
        return [np.sqrt(after).sum() - np.sqrt(self.counts[lane]).sum() for lane, after in self.moves(proposal)]

    def commit(self, state, proposal):
        self.counts |= dict(self.moves(proposal))


class Direction(torch.nn.Module):
    # Length of the sum of the words' vectors, which it keeps, and a share of the number of words.
    scope = "document"
    names = ("length", "words")
    kind = torch.float64

    def prepare(self, preparation):
        torch.manual_seed(1)
        vectors = torch.randn(len(preparation.words) + 1, 6, dtype=torch.float64)
        vectors[-1] = 0
        self.vectors = torch.nn.Parameter(vectors.to(self.kind))
        self.sums = torch.zeros(1000, 6, dtype=self.kind)

    def forward(self, words):
        return self.vectors[torch.from_numpy(words)].sum(dim=1)

    def values(self, sums, words):
        return torch.stack((sums.norm(dim=1), (torch.from_numpy(words) >= 0).sum(dim=1).to(self.kind) / 3), dim=1)

    def full(self, state):
        self.sums[state.lane] = self(state.words).detach()
        return self.values(self(state.words), state.words)

    def after(self, proposal):
        return self.sums[proposal.state.lane] + self(proposal.added) - self(proposal.removed)

    def delta(self, state, proposal):
        now = self.values(self.sums[state.lane], proposal.removed)
        return self.values(self.after(proposal), proposal.added) - now

    def commit(self, state, proposal):
        self.sums[state.lane] = self.after(proposal).detach()


class DirectionSingle(Direction):
    kind = torch.float32


class Network(torch.nn.Module):
    # What a network says of each word and its sentence's length.
    scope = "sentence"

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def prepare(self, preparation):
        many = len(preparation.words)
        self.worth = torch.cat((self.layers(torch.randn(many, 3))[:, 0], torch.zeros(1)))

    def full(self, state):
        return self.worth[state.words].sum(dim=1)

    def delta(self, state, proposal):
        return self.worth[proposal.added].sum(dim=1) - self.worth[proposal.removed].sum(dim=1)
"""
WORDS = ["le", "la", "une", "maison", "chien", "petit", "bleue", "dort", "ne", "pas", "dans", ".", "?", "gris"]


class Compared:
    """A judge whose changes are held against values of the texts before and after, and these against each other."""

    headroom = None

    def __init__(self, judge: FeatureJudge, batch: Batch, twin: BatchFeature) -> None:
        self.judge, self.reader, self.twin = judge, reader(batch), twin
        self.compared = self.largest = 0
        # What the words of lanes must be, once proposals of theirs were taken.
        self.taken: dict[int, list[int]] = {}

    def full(self, state: State, lanes: Lanes) -> Integers:
        return self.judge.full(state, lanes)

    def bound(self, state: State, proposals: Proposals) -> Integers:
        return self.judge.bound(state, proposals)

    def delta(self, state: State, proposals: Proposals) -> Integers:
        weighted = self.judge.delta(state, proposals)
        proposed = self.reader.proposed(state, proposals)
        for lane, words in zip(proposals.lane.tolist(), proposed.state.words, strict=True):
            assert words[words >= 0].tolist() == self.taken.get(lane, words[words >= 0].tolist())
        before, after = (rounded(self.twin.full(states).values) for states in (proposed.state, proposed.after))
        off = np.abs(self.judge.last(proposals) - (after - before))
        share = 256 * self.judge.step * np.maximum(VALUE_UNITS, np.maximum(np.abs(before), np.abs(after)))
        assert (off <= 1 + share).all(), (off.max(), share.max())
        self.compared += len(off)
        self.largest = max(self.largest, int(off.max(initial=0)))
        return weighted

    def commit(self, state: State, proposals: Proposals) -> None:
        self.judge.commit(state, proposals)
        after = self.reader.proposed(state, proposals).after.words
        for lane, words in zip(proposals.lane.tolist(), after, strict=True):
            self.taken[lane] = words[words >= 0].tolist()


def rounded(values: Floats) -> Integers:
    return np.rint(values * VALUE_UNITS).astype(np.int64)


def documents(seed: int) -> list[list[str]]:
    """Eight of 1 to 60 sentences, of up to 9 words; the first two of a seed 0 are the shortest and the longest."""
    rng = np.random.default_rng((seed, 9))
    sizes = rng.integers(1, 61, 8).tolist()
    if seed == 0:
        sizes[:2] = [1, 60]
    return [
        [" ".join(rng.choice(WORDS, max(int(rng.integers(0, 10)), int(k == 0)))) for k in range(size)] for size in sizes
    ]


NAMES = ("Worth", "WorthSingle", "Roots", "Direction", "DirectionSingle", "Network")


@pytest.mark.parametrize("name", NAMES)
def test_changes_are_differences_of_values(write: Write, full: bool, name: str) -> None:
    """Of 200,000 random proposals in all (6,000 in the quick run), many of which are taken."""
    write(FEATURES)
    compared = largest = taken = seed = 0
    while compared < (-(-200_000 // len(NAMES)) if full else 1000):
        judge, many = compare(name, seed, steps=300 if full else 20)
        compared, largest, taken, seed = compared + judge.compared, max(largest, judge.largest), taken + many, seed + 1
    assert taken > compared / 10
    assert largest > 0  # something was rounded


def compare(name: str, seed: int, steps: int) -> tuple[Compared, int]:
    """The judge of a search of some documents, and how many proposals were taken."""
    weights = "[0.01, 0.01]" if name.startswith("Direction") else "0.01"
    config, batch, search = built(of(name, f"features.x.weights={weights}", "search.threads=1"), documents(seed))
    model, lanes = batch.options.model, 64
    ((_, feature),) = batch_features(model)
    made: Any = made_feature("x", config.features["x"], config.text).feature
    assert feature.told is not None
    made.prepare(feature.told.preparation)
    (judge,) = make_judges(batch, lanes)
    compared = Compared(judge, batch, made)
    hot = search._replace(temperature=temperature_levels((20.0,)))
    names = len(model.features.names)
    driver = make_driver(batch.problem, hot, lanes, names, config.search, model.language_models, [compared])
    state, every = driver.state, np.arange(lanes)
    state.unit[:], state.chain[:] = every % len(batch.problem.unit), every
    driver.start(every)
    state.limit[:, LIMIT_STEPS] = steps
    driver.run(every, lambda: None)
    driver.close()
    return compared, int(state.tally[:, :, ACCEPTED].sum())
