"""Features in Python or torch as judges of the driver that works stepwise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config
from gpusearch.config.presets import PRESETS
from gpusearch.errors import InputError
from gpusearch.features.answers import Answer
from gpusearch.features.batch import Reader
from gpusearch.features.load import batch_features, reader
from gpusearch.features.user import BatchFeature
from gpusearch.kernels.records import SCORE_BITS, VALUE_BITS, Proposals, State
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.driver import Lanes

Integers = NDArray[np.int64]

# Weighted values stay below it, so changes stay below `UNBOUNDED`: what a proposal may gain where the feature has no
# bound. 2^-40 nat.
LARGEST = 1 << 57
UNBOUNDED = 2 * LARGEST


class FeatureJudge:
    """A feature for lanes of a search.

    Args:
        weights: ``[K]``, 2^-20.
        first: the place of its first value in ``State.feature``.
        lanes: all that there are.
    """

    headroom: int | None = None
    step: float = 0.0
    """Of the least exact type of numbers that the feature has returned (`gpusearch.features.answers.Answer`)."""

    def __init__(self, feature: BatchFeature, reader: Reader, weights: Integers, first: int, lanes: int) -> None:
        self._feature, self._reader, self._weights = feature, reader, weights
        self._columns = slice(first, first + len(weights))
        self._change = np.zeros((lanes, len(weights)), np.int64)
        # A change that is rounded may be above what a bound says of the one that is not.
        self._rounding = int(np.abs(weights).sum())

    def full(self, state: State, lanes: Lanes) -> Integers:
        """See `gpusearch.search.stepwise.Judge`."""
        values = self._rounded(self._feature.full(self._reader.states(state, lanes)))
        self._check_range("full", values)
        state.feature[lanes, self._columns] = values
        return values @ self._weights

    def bound(self, state: State, proposals: Proposals) -> Integers:
        """See `gpusearch.search.stepwise.Judge`."""
        if not self._feature.has("bound"):
            return np.full(len(proposals.lane), UNBOUNDED)
        nats = self._feature.bound(self._reader.proposed(state, proposals))
        most = UNBOUNDED / SCORE_UNITS
        return np.ceil(np.ldexp(np.clip(nats, -most, most), SCORE_BITS)).astype(np.int64) + self._rounding

    def delta(self, state: State, proposals: Proposals) -> Integers:
        """See `gpusearch.search.stepwise.Judge`."""
        proposed, present = self._reader.proposed(state, proposals), state.feature[proposals.lane, self._columns]
        if self._feature.has("delta"):
            change = self._rounded(self._feature.delta(proposed))
            self._check_range("delta", present + change)
        else:
            after = self._rounded(self._feature.full(proposed.after))
            self._check_range("full", after)
            change = after - present
        self._change[proposals.lane] = change
        return change @ self._weights

    def last(self, proposals: Proposals) -> Integers:
        """What `delta` said of proposals when it was asked last: ``[R, K]``, 2^-20 nat."""
        return self._change[proposals.lane]

    def commit(self, state: State, proposals: Proposals) -> None:
        """See `gpusearch.search.stepwise.Judge`."""
        state.feature[proposals.lane, self._columns] += self._change[proposals.lane]
        self._feature.commit(self._reader.proposed(state, proposals))

    def _rounded(self, answer: Answer) -> Integers:
        self.step = max(self.step, answer.step)
        return np.rint(np.ldexp(answer.values, VALUE_BITS)).astype(np.int64)

    def _check_range(self, function: str, values: Integers) -> None:
        weighted = np.abs(values).astype(np.float64) @ np.abs(self._weights)
        if (weighted >= LARGEST).any():
            raise InputError(
                f"{function} of feature {self._feature.name}",
                found=f"a value of {weighted.max() / SCORE_UNITS:.6g} nats, weighted",
                expected=f"less than {LARGEST / SCORE_UNITS:g}",
                hint="give it a smaller weight, or smaller values",
            )


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


def on_host(model: Model, config: Config) -> Config:
    """The configuration with the device that features in Python or torch are asked on, where there are any.

    Raises:
        InputError: a GPU.
    """
    found = batch_features(model)
    if found and config.search.device == "cuda":
        hint = "--device cpu, or write it in compiled form (docs/features.md)"
        raise InputError(f"feature {found[0][0].name} is asked on the host", found="device = cuda", hint=hint)
    return _with_search(config, device="cpu") if found else config


def served(model: Model, config: Config) -> Config:
    """`on_host` for a search as far as features in Python or torch can take part: by random proposals, or blocks; its
    output is the best chain of each unit. What comes of a default or a preset gives way to that.

    Raises:
        InputError: what only kernels can do is asked for: a sweep, rounds of the lattice, a GPU.
    """
    found, search = batch_features(model), config.search
    if not found:
        return config
    rounds = search.recombine == "lattice" and search.method != "beam"
    beyond = {
        'policy = "sweep"': search.active_policy == "sweep",
        "final_sweep = true": search.final_sweep and not PRESETS[search.preset].get("final_sweep"),
        f"lattice.every = {search.lattice.every}": rounds and search.lattice.every is not None,
    }
    for setting, asked in beyond.items():
        if asked:
            hint = "write it in compiled form (docs/features.md)"
            raise InputError(f"feature {found[0][0].name} is written in Python", found=setting, hint=hint)
    recombine = "best-unit" if search.recombine == "lattice" else search.recombine
    return _with_search(on_host(model, config), recombine=recombine, final_sweep=False)


def _with_search(config: Config, **values: object) -> Config:
    return config.model_copy(update={"search": config.search.model_copy(update=values)})
