"""Every derivation of short sentences: how many there are, and with how many options there are few enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpusearch.config import SearchConfig, load_config
from gpusearch.errors import InputError
from gpusearch.features.load import with_features
from gpusearch.model.model import Model, load_model
from gpusearch.search.enumeration import count_derivations, derivations, enumerate_derivations
from tests.random_language import random_language
from tests.random_problem import random_problem
from tests.tiny import TINY

SENTENCE = ["la", "maison", "bleue", "."]


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(load_config(TINY))


def test_counts_are_those_of_the_list(repetitions: Callable[[int], int]) -> None:
    """Of random sentences and distortion limits; of one fewer than there are, it says that there are more."""
    language = random_language(1, (2,), (1 << 19,))
    counts = set()
    for seed in range(repetitions(100)):
        problem, search, _ = random_problem(seed, language, sentences=(3, 2))
        for sentence in range(len(problem.sentence)):
            every = len(list(derivations(problem, search, sentence)))
            assert count_derivations(problem, search, sentence, every) == every
            assert count_derivations(problem, search, sentence, every - 1) == every
            assert count_derivations(problem, search, sentence, every // 2) == every // 2 + (every > every // 2)
            counts.add(every)
    assert len(counts) > 5


def test_the_table_limit_is_the_largest_that_leaves_few_enough(model: Model) -> None:
    found = enumerate_derivations(model, [SENTENCE], 10_000)
    assert len(found.states[0]) == len(set(found.states[0])) == len(found.score[0]) > 10
    fewer = enumerate_derivations(model, [SENTENCE], len(found.states[0]) - 1)
    assert fewer.limit < found.limit and len(fewer.states[0]) < len(found.states[0])
    more = enumerate_derivations(model, [SENTENCE], len(fewer.states[0]))
    assert more.limit == fewer.limit
    with pytest.raises(InputError, match="too many derivations, whatever the table limit"):
        enumerate_derivations(model, [SENTENCE], 1)


def test_probabilities_are_those_of_the_scores(model: Model) -> None:
    found = enumerate_derivations(model, [SENTENCE], 10_000)
    for scale in (0.0, 0.5, 3.0):
        probability = found.posterior(0, scale)
        assert probability.sum() == pytest.approx(1)
        assert np.ptp(np.log(probability) - scale * found.score[0]) < 1e-9


def test_a_distortion_limit_leaves_fewer(model: Model) -> None:
    monotone = enumerate_derivations(model, [SENTENCE], 10_000, search=SearchConfig(distortion_limit=0))
    every = enumerate_derivations(model, [SENTENCE], 10_000)
    assert monotone.limit == every.limit and set(monotone.states[0]) < set(every.states[0])


def test_features_of_the_document_are_refused() -> None:
    config = load_config(TINY, ["features.ratio.use=type-token-ratio", "features.ratio.weights=[1.0]"])
    with pytest.raises(InputError, match=r"listed without features of \[features\]") as error:
        enumerate_derivations(with_features(load_model(config), config), [SENTENCE], 10_000)
    assert error.value.found == "ratio"
