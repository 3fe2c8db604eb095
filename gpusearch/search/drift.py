"""What changes of a user's features have added up to in the end, beside the value of the translation from nothing.

The trial before a run (`feature_check.py`) sees a hundred proposals; a `delta` that goes wrong later shows here.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.features.compiled import CompiledFeature
from gpusearch.features.load import Named, document_values, sentence_values
from gpusearch.features.protocol import Scope
from gpusearch.features.text import Document
from gpusearch.features.user import BatchFeature
from gpusearch.kernels.records import ACCEPTED, SENTENCE_SLOT, State
from gpusearch.model.problem import Batch
from gpusearch.model.weights import VALUE_UNITS
from gpusearch.search.feature_check import SHARE, STEPS
from gpusearch.search.translation import text_of

logger = logging.getLogger(__name__)

# Steps of the type of a feature's numbers that a change may be off, as a share of the value or of 1.
STEPS_OF_CHANGE = 4


@dataclass
class _Best:
    """A unit's chain with the highest score."""

    score: int
    values: NDArray[np.int64]
    """``[K]``, 2^-20 nat."""
    accepted: int
    options: list[NDArray[np.int32]]
    """Of each sentence."""


class BestSums:
    """Keeps, of each unit, the sums of the chain with the highest score; of nothing where no feature is a user's."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._own = [named for named in batch.options.model.document if named.own]
        self._best: dict[int, _Best] = {}

    def __call__(self, state: State, lane: int) -> None:
        """A chain is done."""
        unit, score = int(state.unit[lane]), int(state.score[lane])
        if not self._own or (unit in self._best and self._best[unit].score >= score):
            return
        first = self._batch.problem.sentence
        options = []
        for local, sentence in enumerate(self._batch.units.sentences(unit)):
            slot = int(first[sentence, SENTENCE_SLOT])
            options.append(state.option[lane, slot : slot + int(state.length[lane, local])].copy())
        accepted = int(state.tally[lane, :, ACCEPTED].sum())
        self._best[unit] = _Best(score, state.feature[lane].copy(), accepted, options)

    def check(self) -> None:
        """Warn of each feature whose sum is further from its value than rounding can bring it."""
        far = {}
        for unit, best in sorted(self._best.items()):
            text = [text_of(self._batch, options) for options in best.options]
            values = self._values(text)
            for named in self._own:
                here = slice(*self._batch.options.model.features.groups[named.name])
                summed, value = best.values[here] / VALUE_UNITS, values[here]
                if named.name not in far and (np.abs(summed - value) > _most(named, best, text, summed, value)).any():
                    far[named.name] = (unit, best.accepted, summed, value)
        for name, (unit, accepted, summed, value) in far.items():
            logger.warning(
                "delta of feature %s goes wrong after the trial: %d changes add up to %s nats in %s, where the "
                "translation has the value %s; chains have been led by wrong scores",
                name, accepted, _said(summed), self._batch.units.name(unit), _said(value),
            )  # fmt: skip

    def _values(self, text: Document) -> NDArray[np.float64]:
        """Of all features of users, from nothing: ``[K]``, nats."""
        model = self._batch.options.model
        values = np.zeros(len(model.features.names))
        scopes = {named.feature.scope for named in self._own}
        if Scope.SENTENCE in scopes:
            values += sentence_values(model, text).sum(axis=0)
        if scopes - {Scope.SENTENCE}:
            values += document_values(model, text)
        return values


def _most(named: Named, best: _Best, text: Document, summed: Any, value: Any) -> Any:
    """How far a sum may be off, nats: docs/features.md."""
    size = np.maximum(1, np.maximum(np.abs(summed), np.abs(value)))
    if isinstance(named.feature, CompiledFeature):
        terms = sum(len(sentence.phrases) + len(sentence.words) for sentence in text)
        return (1 + terms) / VALUE_UNITS + SHARE * size
    step = named.feature.step if isinstance(named.feature, BatchFeature) else 0.0
    rounded = (1 + best.accepted / 2 + len(text)) / VALUE_UNITS
    return rounded + (STEPS + STEPS_OF_CHANGE * best.accepted) * step * size


def _said(values: Any) -> str:
    return ", ".join(f"{float(value):.9g}" for value in np.atleast_1d(values))
