"""The beam against Moses on the same models, and the search that starts from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.config import Config, SearchConfig
from gpusearch.model.model import Model
from gpusearch.search.result import SearchResult
from gpusearch.search.run import search_documents
from tests.parity_model import LAWS, NEWSTEST, laws_documents, newstest_documents

Documents = list[list[list[str]]]


def run(model: Model, documents: Documents, **settings: object) -> SearchResult:
    chosen = {"device": "cpu", "threads": 2} | settings
    config = Config.model_construct(search=SearchConfig.model_validate(chosen))
    return search_documents(model, config, documents)


def scores(result: SearchResult) -> NDArray[np.float64]:
    """Nats of every sentence."""
    return np.array([sentence.score for document in result.documents for sentence in document.best.sentences])


def moses_totals(parity: Path, model: str = "nolr") -> NDArray[np.float64]:
    """Of its best translations, stack 200, distortion limit 6."""
    return np.loadtxt(parity / NEWSTEST / f"moses.{model}.totals.txt")


def test_stack_decoding_finds_what_moses_finds(newstest_model: Model, parity: Path) -> None:
    """Stack 200: the total of each of the 311 sentences is Moses' (-4305.15 in sum)."""
    found = scores(run(newstest_model, newstest_documents(parity), method="beam"))
    np.testing.assert_allclose(found, moses_totals(parity), atol=2e-3)
    assert found.sum() > -4305.15 - 0.02


def test_stack_decoding_with_reordering_finds_what_moses_finds(newstest_reordering_model: Model, parity: Path) -> None:
    """Stack 200: the total of each of the 311 sentences is Moses' (-4450.69 in sum)."""
    found = scores(run(newstest_reordering_model, newstest_documents(parity), method="beam"))
    np.testing.assert_allclose(found, moses_totals(parity, "lr"), atol=2e-3)
    assert found.sum() > -4450.69 - 0.02


@pytest.mark.slow
def test_stack_decoding_of_a_model_of_real_size(laws_model: Model, parity: Path) -> None:
    """Stack 200, with reordering: -113050.33 in sum or better, no sentence more than 0.5 below Moses."""
    found = scores(run(laws_model, laws_documents(parity), method="beam"))
    moses = np.loadtxt(parity / LAWS / "moses.stack200.totals.txt")
    assert found.sum() > -113050.33
    assert (found - moses).min() > -0.5


def test_cube_pruning_is_as_good_as_that_of_moses(newstest_model: Model, parity: Path) -> None:
    """Pop limit 1000: Moses comes to -4306.87; no sentence is more than 0.5 below what its full stacks find."""
    beam = {"pop_limit": 1000}
    found = scores(run(newstest_model, newstest_documents(parity), method="beam", beam=beam))
    assert found.sum() > -4306.87
    assert (found - moses_totals(parity)).min() > -0.5


def check_start(model: Model, documents: Documents, **settings: object) -> tuple[NDArray[np.float64], ...]:
    """No sentence ends below the beam; what beam and search found."""
    beam = scores(run(model, documents, method="beam"))
    search = scores(run(model, documents, initial="beam", **settings))
    assert len(beam) == len(search)
    assert (search >= beam - 1e-9).all()
    return beam, search


def test_search_never_ends_below_the_beam(
    newstest_model: Model, newstest_reordering_model: Model, parity: Path
) -> None:
    """On every sentence, with either distortion check, with reordering and without."""
    documents = newstest_documents(parity)
    check_start(newstest_model, documents, chains=2, steps_per_word=20)
    check_start(newstest_model, documents[:2], chains=4, steps_per_word=20, distortion_check="moses")
    check_start(newstest_reordering_model, documents[3:6], chains=4, steps_per_word=20)


@pytest.mark.slow
def test_64_chains_never_end_below_the_beam(newstest_model: Model, parity: Path) -> None:
    """On newstest under Moses' own limits: what they find above the beam is above Moses as well."""
    beam, search = check_start(newstest_model, newstest_documents(parity), chains=64, distortion_check="moses")
    assert (search > moses_totals(parity) + 2e-3).sum() >= (search > beam + 2e-3).sum()


@pytest.mark.slow
def test_search_never_ends_below_the_beam_on_a_model_of_real_size(laws_model: Model, parity: Path) -> None:
    """All 2,369 sentences."""
    check_start(laws_model, laws_documents(parity), chains=2, steps_per_word=20)
