"""Language models that are asked on the host, but whose answers are those of an automaton: with no KenLM, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.language_model import lookup, state_length
from gpusearch.kernels.records import Language, Problem, Search, State
from gpusearch.kernels.target import cpu_driver
from gpusearch.model.bound_model import bound_model, no_bound
from gpusearch.model.host_answers import HostAnswers
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.language_model import LanguageModel, join_language_models
from gpusearch.search.asking import AskingDriver
from tests.paths import Case, MakeDriver
from tests.random_language import random_arpa
from tests.random_problem import random_problem


def _follow(language, queries, value, length):
    for row in range(queries.shape[0]):
        state = 0
        for column in range(queries.shape[1]):
            if queries[row, column] >= 0:
                value[row], state = lookup(language, 0, state, queries[row, column])
        length[row] = state_length(language, 0, state)


_follow_cpu = cpu_driver(_follow)


class AutomatonPool:
    """In the place of a `KenlmPool`."""

    def __init__(self, model: LanguageModel) -> None:
        self.model, self.order = model, model.order
        self.asked = 0

    def follow(self, queries: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        self.asked += len(queries)
        value, length = np.zeros(len(queries), np.int32), np.zeros(len(queries), np.int32)
        _follow_cpu(self.model.language, np.ascontiguousarray(queries), value, length)
        return value, length

    def score(self, queries: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.follow(queries)[0]


@dataclass(frozen=True)
class HostCase:
    """A random search some of whose language models are asked on the host.

    Attributes:
        bounds: for each model the order of its bounds on the host, 0 for none; None where it stays on the device.
    """

    case: Case
    bounds: tuple[int | None, ...]

    def models(self) -> list[LanguageModel]:
        case = self.case
        return [
            _model(case.seed + number, order, weight, bound)
            for number, (order, weight, bound) in enumerate(zip(case.orders, case.weights, self.bounds, strict=True))
        ]

    def problem(self, models: list[LanguageModel]) -> tuple[Problem, Search, int]:
        """The problem of the case, its bounds on the device being those of the models."""
        case = self.case
        language: Language = join_language_models(models, case.weights)
        return random_problem(
            case.seed,
            language,
            sentences=case.sentences,
            units=case.units,
            words=case.words,
            lengths=case.lengths,
            reordering=case.reordering,
        )

    def driver(
        self, kind: type[AskingDriver] = AskingDriver, threads: int = 1, most_answers: int = 1 << 20
    ) -> MakeDriver:
        """Makes drivers for the problem of the case, in place of that with all models on the device."""
        models = self.models()
        problem, _, _ = self.problem(models)

        def make(wanted: Problem, search: Search, state: State) -> AskingDriver:
            assert np.array_equal(wanted.option_value, problem.option_value)
            assert np.array_equal(wanted.target_word, problem.target_word)
            return kind(problem, search, state, threads, HostAnswers(models), most_answers=most_answers)

        return make


def _model(seed: int, order: int, weight: int, bound: int | None) -> LanguageModel:
    full = LanguageModel.from_arpa(random_arpa(seed, order), weight=weight)
    if bound is None:
        return full
    # Random backoffs above 0 may give a word more than probability 1: then no bound at all is not allowed.
    within = full.sign < 0 or full.language.extreme[: len(full.vocabulary)].max() <= 0
    if bound == 0 and within:
        bounds = no_bound(list(full.vocabulary), full.sign)
    else:
        bounds = full if bound >= order else bound_model(full, max(bound, 1))
    assert list(bounds.vocabulary) == list(full.vocabulary)
    return HostLanguageModel(
        full.vocabulary, bounds.language, full.unknown, full.largest_value, full.sign, pool=AutomatonPool(full)
    )
