"""Recombination every so many steps: what it leaves alone, and what goes on from its result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from gpusearch.config.beam import LatticeConfig
from gpusearch.config.search import SearchConfig
from gpusearch.model.model import Model
from gpusearch.search.result import SearchResult
from tests.parity_model import newstest_documents
from tests.search.runs import outcome, search

# Chains are scored in units of 2^-20 of each value, outputs in floats.
ROUNDING = 1e-3
EVERY = {"recombine": "lattice", "steps_per_word": 4.0}


@pytest.fixture(scope="module")
def documents(parity: Path) -> list[list[list[str]]]:
    return [newstest_documents(parity)[0][:4]]


def scores(result: SearchResult) -> list[float]:
    return [sentence.score for found in result.documents for sentence in found.best.sentences]


def test_chains_that_are_not_replaced_come_to_the_same_end(newstest_model: Model, documents: list) -> None:
    """Taken out and put back, with their scores on the way, whatever the limits."""
    for settings in ({}, {"max_rejected": 40}):
        whole = search(newstest_model, documents, more={"trace": True}, **EVERY, **settings)
        rounds = search(
            newstest_model,
            documents,
            more={"trace": True},
            **EVERY,
            **settings,
            lattice={"every": 1.5, "replaced": 0.01},
        )
        assert outcome(rounds) == outcome(whole)
        assert (rounds.tally == whole.tally).all()
        for one, other in zip(rounds.documents, whole.documents, strict=True):
            assert one.trace.keys() == other.trace.keys()
            assert all((one.trace[step] == other.trace[step]).all() for step in one.trace)


def test_nothing_is_lost_from_round_to_round(newstest_model: Model, documents: list) -> None:
    """Climbing from the result of a round ends no lower, in any sentence."""
    first = search(newstest_model, documents, recombine="lattice", steps_per_word=1.0)
    more = search(newstest_model, documents, recombine="lattice", steps_per_word=3.0, lattice={"every": 1.0})
    assert (np.array(scores(more)) >= np.array(scores(first)) - 1e-6).all()
    assert sum(scores(more)) > sum(scores(first))


def test_the_worst_chains_go_on_from_the_result(newstest_model: Model, documents: list) -> None:
    """All of them, and no step after it: every chain has what was made of all."""
    joined = search(newstest_model, documents, recombine="lattice", steps_per_word=2.0)
    after = search(newstest_model, documents, recombine="best-chain", chains=3, steps_per_word=2.0, initial="random")
    rounds = search(
        newstest_model, documents, recombine="lattice", steps_per_word=2.01, lattice={"every": 2.0, "replaced": 1.0}
    )
    chains = np.array([document.chain_scores for document in rounds.documents])
    assert (chains >= sum(scores(joined)) - ROUNDING).all()
    assert not (
        np.array([document.chain_scores for document in after.documents]) >= sum(scores(joined)) - ROUNDING
    ).any()


def test_a_sweep_has_no_rounds() -> None:
    with pytest.raises(ValidationError, match="does not make"):
        SearchConfig(policy="sweep", lattice=LatticeConfig(every=1.0))
