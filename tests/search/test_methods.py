"""What a method does not follow changes nothing of it: policies are those of `method = "search"`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

import gpusearch
from gpusearch.config import OperationsConfig, SearchConfig, with_search
from gpusearch.config.beam import LatticeConfig
from gpusearch.model.problem import build_problem
from gpusearch.search.limits import make_limits
from gpusearch.search.operators import names_of
from tests.tiny import TINY

DOCUMENTS = [["la maison bleue une maison", "", "une maison"], ["le chat la maison"]]
METHODS: dict[str, dict[str, Any]] = {"gibbs": {"chains": 2, "steps_per_word": 40.0}, "beam": {}}
# A model may carry them for its searches.
POLICIES = (
    ["search.policy=sweep"],
    ["search.policy=tempering", "search.chains=8"],
    ["search.policy=metropolis"],
    ["search.policy=annealing"],
)


@pytest.mark.parametrize("rounds", [{}, {"lattice": {"every": 10.0}}], ids=["one", "rounds"])
def test_blocks_end_in_a_model_that_sweeps(rounds: dict[str, Any]) -> None:
    """A sweep has no limit of steps; draws of blocks, which do not end by themselves, keep theirs."""
    settings = METHODS["gibbs"] | {"method": "gibbs"} | rounds
    plain, other = (gpusearch.load(TINY, policy) for policy in ([], POLICIES[0]))
    sentences = [[text.split() for text in document] for document in DOCUMENTS]
    limits = [
        make_limits(build_problem(decoder.model, sentences, units="sentence"), search).steps.tolist()
        for decoder in (plain, other)
        for search in (with_search(decoder.config, settings).search,)
    ]
    assert limits[0] == limits[1] == [200, 80, 160]
    found, expected = other.decode(DOCUMENTS, **settings), plain.decode(DOCUMENTS, **settings)
    assert (found.texts, found.score) == (expected.texts, expected.score)
    assert np.array_equal(found.result.tally, expected.result.tally)


@pytest.mark.parametrize("policy", POLICIES[1:], ids=lambda settings: settings[0])
@pytest.mark.parametrize("method", METHODS)
def test_policies_are_followed_by_searches_alone(method: str, policy: list[str]) -> None:
    settings = METHODS[method] | {"method": method}
    plain = gpusearch.load(TINY).decode(DOCUMENTS, **settings)
    found = gpusearch.load(TINY, policy).decode(DOCUMENTS, **settings)
    assert (found.texts, found.score) == (plain.texts, plain.score)
    assert np.array_equal(found.result.tally, plain.result.tally)


# Searches of a policy can have none of these; draws of blocks cannot have the last two either.
REFUSED: tuple[dict[str, Any], ...] = (
    {"policy": "sweep", "lattice": LatticeConfig(every=10.0)},
    {"policy": "metropolis", "operations": OperationsConfig(linearise=1.0)},
    {"policy": "metropolis", "steps": 1 << 52},
    {"policy": "annealing", "compat": "docent"},
)


@pytest.mark.parametrize(
    ("method", "settings"), [*product(["gibbs"], REFUSED[:2]), *product(["beam"], REFUSED)], ids=str
)
def test_what_a_policy_cannot_have_binds_no_other_method(method: str, settings: dict[str, Any]) -> None:
    search = SearchConfig(**settings, method=method)  # type: ignore[arg-type]  # one of the literals
    assert search.active_policy is None
    assert names_of(search) == names_of(SearchConfig(method=method))  # type: ignore[arg-type]  # as above
    with pytest.raises(ValidationError, match=f'policy = "{settings["policy"]}"'):
        SearchConfig(**settings)
