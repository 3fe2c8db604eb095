"""Features in Python or torch as judges of the driver that works stepwise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config
from gpusearch.errors import InputError
from gpusearch.features.batch import Proposed, Reader
from gpusearch.features.load import batch_features, reader
from gpusearch.features.user import BatchFeature, Floats
from gpusearch.kernels.records import SCORE_BITS, VALUE_BITS, Proposals, State
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.search.driver import Lanes

Integers = NDArray[np.int64]

# More than the values of a feature can change a score by: what a proposal may gain where the feature has no bound.
UNBOUNDED = 1 << 58


class FeatureJudge:
    """A feature for lanes of a search.

    Args:
        weights: ``[K]``, 2^-20.
        first: the place of its first value in ``State.feature``.
        lanes: all that there are.
    """

    headroom: int | None = None

    def __init__(self, feature: BatchFeature, reader: Reader, weights: Integers, first: int, lanes: int) -> None:
        self._feature, self._reader, self._weights = feature, reader, weights
        self._columns = slice(first, first + len(weights))
        self._change = np.zeros((lanes, len(weights)), np.int64)

    def full(self, state: State, lanes: Lanes) -> Integers:
        """See `gpusearch.search.stepwise.Judge`."""
        values = _rounded(self._feature.full(self._reader.states(state, lanes)))
        state.feature[lanes, self._columns] = values
        return values @ self._weights

    def bound(self, state: State, proposals: Proposals) -> Integers:
        """See `gpusearch.search.stepwise.Judge`."""
        if not hasattr(self._feature.written, "bound"):
            return np.full(len(proposals.lane), UNBOUNDED)
        proposed = self._reader.proposed(state, proposals)
        nats = np.asarray(self._feature.written.bound(proposed.state, proposed), np.float64)
        return np.ceil(np.ldexp(nats, SCORE_BITS)).astype(np.int64)

    def delta(self, state: State, proposals: Proposals) -> Integers:
        """See `gpusearch.search.stepwise.Judge`."""
        proposed = self._reader.proposed(state, proposals)
        change = self.change(proposed, state.feature[proposals.lane, self._columns])
        self._change[proposals.lane] = change
        return change @ self._weights

    def last(self, proposals: Proposals) -> Integers:
        """What `delta` said of proposals when it was asked last: ``[R, K]``, 2^-20 nat."""
        return self._change[proposals.lane]

    def change(self, proposed: Proposed, present: Integers) -> Integers:
        """By how much proposals change the values: ``[R, K]``, 2^-20 nat; `present` are those of the states."""
        if not hasattr(self._feature.written, "delta"):
            return _rounded(self._feature.full(proposed.after)) - present
        answer = self._feature.written.delta(proposed.state, proposed)
        return _rounded(self._feature.checked(answer, len(present), "delta"))

    def commit(self, state: State, proposals: Proposals) -> None:
        """See `gpusearch.search.stepwise.Judge`."""
        state.feature[proposals.lane, self._columns] += self._change[proposals.lane]
        if hasattr(self._feature.written, "commit"):
            proposed = self._reader.proposed(state, proposals)
            self._feature.written.commit(proposed.state, proposed)


def _rounded(values: Floats) -> Integers:
    return np.rint(np.ldexp(values, VALUE_BITS)).astype(np.int64)


def make_judges(batch: Batch, lanes: int) -> list[FeatureJudge]:
    """A judge for each feature in Python or torch of the batch's model."""
    model, found = batch.options.model, batch_features(batch.options.model)
    if not found:
        return []
    every = reader(batch)
    return [
        FeatureJudge(
            feature,
            every,
            model.features.integer_weights[slice(*model.features.groups[named.name])],
            model.features.index(named.name),
            lanes,
        )
        for named, feature in found
    ]


def served(model: Model, config: Config) -> Config:
    """The configuration as far as features in Python or torch can take part: a search by random proposals or a sampler,
    on the CPU; the output of a search is the best chain of each unit.

    Raises:
        InputError: a sweep, whose neighbours only kernels see; a GPU.
    """
    for named, _ in batch_features(model):
        if config.search.policy == "sweep":
            hint = "write it in compiled form (docs/features.md)"
            raise InputError(f"feature {named.name} is written in Python", found='policy = "sweep"', hint=hint)
        if config.search.device == "cuda":
            hint = "--device cpu, or write it in compiled form (docs/features.md)"
            raise InputError(f"feature {named.name} is asked on the host", found="device = cuda", hint=hint)
    if not batch_features(model):
        return config
    recombine = "best-unit" if config.search.recombine == "lattice" else config.search.recombine
    possible = {"device": "cpu", "recombine": recombine, "final_sweep": False}
    return config.model_copy(update={"search": config.search.model_copy(update=possible)})
