"""Every draw of an operation, with its probability: the kernels' own functions, interpreted, their random primitives
replaced by ones that take each outcome in turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from math import factorial
from typing import Any

import numpy as np
import pytest

from gpusearch.kernels import operations, options, step
from gpusearch.kernels.philox import RATIO
from gpusearch.kernels.records import (
    MOVE,
    PERMUTE,
    RESEGMENT,
    RESEGMENT_SWAP,
    RIGHT_MOVE,
    SENTENCE_SLOT,
    SENTENCE_WORDS,
    Search,
)
from gpusearch.kernels.step import draw_proposal
from gpusearch.kernels.target import exact
from gpusearch.search.state import make_scratch
from tests.statistical.posterior import derivation_of

ONE = 1 << 32


class _Repeated(Exception):
    """permute-phrases has drawn the order that there was, and would draw again."""


class Draws:
    """All draws of one operation in one sentence, from states of a problem of one unit.

    Args:
        patch: puts the primitives in place.
        search: with the record `hastings`.
        state: lanes with the translations to draw from.
        sentence: which one chains visit.
    """

    def __init__(
        self,
        patch: pytest.MonkeyPatch,
        problem: Any,
        search: Search,
        state: Any,
        operation: int,
        sentence: int = 0,
    ) -> None:
        self._path: list[tuple[int, list[float]]] = []
        self._at = 0
        self._block = 0
        self._operation = operation
        self._search = search
        self._scratch = make_scratch(problem)
        self._records = tuple(exact(record) for record in (problem, search, state, self._scratch))
        self._state = state
        self._slots, self._words = problem.sentence[sentence, [SENTENCE_SLOT, SENTENCE_WORDS]].tolist()
        for module in (operations, options):
            patch.setattr(module, "uniform", lambda random, count: self._choose([1.0] * count))
        patch.setattr(operations, "next_word", lambda random: self._word())
        patch.setattr(operations, "truncated_geometric", self._geometric)
        patch.setattr(operations, "draw_other_option", self._other_option)
        for module in (operations, options):
            patch.setattr(module, "draw_option", self._option)
        patch.setattr(step, "draw_operation", lambda search, random: operation)
        patch.setattr(step, "visited_sentence", lambda problem, search, random, unit: sentence)

    def of(self, lane: int) -> Iterator[tuple[float, tuple[int, ...] | None, float]]:
        """(probability, the derivation that is proposed, ln q(S -> S') - ln q(S' -> S) in nats); None: it stays."""
        self._path = []
        while True:
            self._at = 0
            with suppress(_Repeated):
                yield self._one(lane)
            while self._path and self._path[-1][0] + 1 == len(self._path[-1][1]):
                self._path.pop()
            if not self._path:
                return
            choice, weights = self._path[-1]
            self._path[-1] = choice + 1, weights

    def _one(self, lane: int) -> tuple[float, tuple[int, ...] | None, float]:
        problem, search, state, scratch = self._records
        _, local, first, replaced, count = draw_proposal((), problem, search, state, scratch, lane)
        probability = float(np.prod([weights[choice] / sum(weights) for choice, weights in self._path]))
        if self._operation == PERMUTE and first >= 0:
            probability /= 1 - 1 / factorial(self._block)
        if first < 0:
            return probability, None, 0.0
        row = self._state.option[lane].tolist()
        now = row[self._slots : self._slots + int(self._state.length[lane, local])]
        after = [*now[:first], *self._scratch.option[:count].tolist(), *now[first + replaced :]]
        row[self._slots : self._slots + self._words] = after + [-1] * (self._words - len(after))
        return probability, derivation_of(row), int(self._scratch.random[RATIO]) / 2**40

    def _choose(self, weights: list[float]) -> int:
        if self._operation == PERMUTE and self._at == 1 + self._block:
            raise _Repeated
        if self._at == len(self._path):
            first = next(index for index, weight in enumerate(weights) if weight > 0)
            self._path.append((first, weights))
        self._at += 1
        return self._path[self._at - 1][0]

    def _word(self) -> int:
        """A word below the number that it is compared with, or not."""
        number = self._search.number
        rate = {MOVE: int(number[RIGHT_MOVE]), RESEGMENT: int(number[RESEGMENT_SWAP])}.get(self._operation, 1 << 31)
        return (0, ONE - 1)[self._choose([rate / ONE, 1 - rate / ONE])]

    def _geometric(self, random: Any, survival: Any, row: int, most: int) -> int:
        weights = [float(survival[row, k - 1] - survival[row, k]) for k in range(1, most + 1)]
        found = 1 + self._choose(weights)
        self._block = 1 + found
        return found

    def _weights(self, problem: Any, row: int) -> tuple[int, list[float]]:
        first, last = problem.span[row], problem.span[row + 1]
        summed = [0, *(problem.option_draw[option] for option in range(first, last))]
        return first, [float(after - before) for before, after in pairwise(summed)]

    def _option(self, problem: Any, random: Any, row: int) -> int:
        first, weights = self._weights(problem, row)
        return first + self._choose(weights)

    def _other_option(self, problem: Any, random: Any, row: int, present: int) -> int:
        first, weights = self._weights(problem, row)
        if len(weights) < 2:
            return -1
        weights[present - first] = 0.0
        return first + self._choose(weights)
