"""Samplers draw from the enumerated distribution of documents of two short sentences, with and without a feature that
looks at both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from gpusearch.config import Config, SearchConfig, load_config
from gpusearch.features.load import with_document, with_features
from gpusearch.kernels.records import SENTENCE_SLOT
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import build_problem
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.enumeration import Enumerated, enumerate_derivations
from gpusearch.search.gibbs import make_gibbs
from gpusearch.search.run import search_settings
from tests.parity_model import write_laws
from tests.slow import slow_where
from tests.statistical import posterior, test_metropolis
from tests.statistical.chi_square import pooled
from tests.statistical.posterior import states_of_lanes, transition_matrices
from tests.statistical.scenes import SCALES, BurnIn, short_sentences
from tests.statistical.test_gibbs import SCANS
from tests.statistical.test_metropolis import MIXES, check_operations, cold_states
from tests.statistical.verdict import Verdict, check_reversible
from tests.tiny import copy_tiny

pytestmark = [pytest.mark.stat, pytest.mark.timeout(7200)]

WEIGHT = 12.0
"""Of the type-token ratio; that of documents of some words lies between 0.5 and 1."""
GIBBS = BurnIn(small=20, large=60, order=100)
METROPOLIS = BurnIn(small=160, large=1000, order=2500)
TEMPERING = BurnIn(small=80, large=400, order=800)
KINDS = ("with a feature", "without")
MakeDocuments = Callable[[str, int, int, int], list[Enumerated]]


def ratio(scene: Enumerated, derivation: tuple[int, ...]) -> float:
    """Different words by all words."""
    words = [word for option in derivation if option >= 0 for word in scene.batch.options.target(option)]
    return len(set(words)) / len(words) if words else 0.0


def document_scene(model: Model, sentences: list[list[str]], most: int, config: Config) -> Enumerated:
    """A document of two sentences as one unit, with the features of a configuration, and all pairs of derivations; the
    table limit leaves at most so many."""
    each = most
    found = enumerate_derivations(model, sentences, each, units="document")
    while len(found.states[0]) * len(found.states[1]) > most:
        each = each * 3 // 4
        found = enumerate_derivations(model, sentences, each, units="document")
    cut = with_features(found.model, config)
    own = Config.model_construct(phrase_table=(), search=SearchConfig())
    batch = with_document(build_problem(cut, [sentences], search=own.search, units="document"))
    gap = int(batch.problem.sentence[1, SENTENCE_SLOT])
    pairs = [(*first, *[-1] * (gap - len(first)), *second) for first, second in product(*found.states)]
    score = np.add.outer(*found.score).ravel()
    scene = replace(found, model=cut, batch=batch, search=search_settings(own, cut, batch), states=[pairs])
    if cut.document:
        score += [WEIGHT * ratio(scene, pair) for pair in pairs]
    return replace(scene, score=[score])


@pytest.fixture(scope="module")
def make_documents(
    laws_model: Model, laws_folder: Path, parity: Path, tmp_path_factory: pytest.TempPathFactory
) -> MakeDocuments:
    """``make_documents(kind, longest, wanted, most)``: pairs of sentences of so many words at most."""

    def make(kind: str, longest: int, wanted: int, most: int) -> list[Enumerated]:
        config, model = load_config(copy_tiny(tmp_path_factory.mktemp("plain"))), laws_model
        if kind == "with a feature":
            path = write_laws(laws_folder, parity, reordering=True)
            config = load_config(path, ["features.ratio.use=type-token-ratio", f"features.ratio.weights={WEIGHT}"])
            model = load_model(config)
        each = short_sentences(parity, longest)
        spread = [each[k * (len(each) - 1) // max(wanted - 1, 1)] for k in range(wanted)]
        # Sentences of common words: their translations repeat each other or do not, which the feature looks at.
        pairs = [(one, next((two for two in each if two != one and set(one) & set(two)), one)) for one in spread]
        # Without a feature sentences do not depend on each other, and test_gibbs.py has them one by one.
        pairs = pairs if kind == "with a feature" else pairs[::5]
        return [document_scene(model, list(pair), most, config) for pair in pairs]

    return make


# Features are compiled for these drivers: that takes a while.
@pytest.fixture(scope="module", params=slow_where(lambda kind: kind == "with a feature", KINDS))
def documents(request: pytest.FixtureRequest, make_documents: MakeDocuments, full: bool) -> list[Enumerated]:
    """Pairs of sentences of 2 to 4 words."""
    return make_documents(request.param, *((4, 15, 2000) if full else (2, 1, 100)))


def test_the_score_is_that_of_the_kernels(documents: list[Enumerated]) -> None:
    for scene in documents:
        state = states_of_lanes(scene, 0)
        assert state.score / SCORE_UNITS == pytest.approx(scene.score[0], abs=1e-4)


def with_exact_scores(scene: Enumerated, *, interpreted: bool) -> Enumerated:
    """With the integers of the kernels, so that no rounding stands between both sides."""
    return replace(scene, score=[states_of_lanes(scene, 0, interpreted=interpreted).score / SCORE_UNITS])


def check_blocks(scene: Enumerated, *, interpreted: bool) -> None:
    """At every scale every block keeps the distribution; those of both sentences lead to every pair."""
    exact = with_exact_scores(scene, interpreted=interpreted)
    for scale in SCALES:
        gibbs = make_gibbs(scene.batch.options.longest, [scale], scan="sequential")
        reached = None
        for _, matrix in transition_matrices(exact, 0, gibbs, scale, interpreted=interpreted):
            check_reversible(matrix, exact.posterior(0, scale))
            reached = matrix if reached is None else reached + matrix
        assert reached is not None and connected_components(reached, connection="strong")[0] == 1


def test_every_operator_keeps_the_distribution(documents: list[Enumerated]) -> None:
    for scene in documents[::4]:
        check_blocks(scene, interpreted=False)


@pytest.mark.parametrize("kind", KINDS)
def test_every_operator_keeps_the_distribution_interpreted(make_documents: MakeDocuments, kind: str) -> None:
    (scene,) = make_documents(kind, 2, 1, 200)
    check_blocks(scene, interpreted=True)


@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_keeps_the_distribution(
    make_documents: MakeDocuments, kind: str, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of metropolis, in either sentence; the default mix leads everywhere."""
    for scene in make_documents(kind, *((3, 5, 200) if full else (2, 1, 100))):
        _, irreducible = check_operations(with_exact_scores(scene, interpreted=True), MIXES["default"], monkeypatch)
        assert irreducible


def cells_of(sampler: str, place: int) -> list[tuple[float, str]]:
    """(scale, scan or mix of operations) that a document is drawn at: of the samplers that have them each pair of both
    is drawn equally often, or nearly so."""
    if sampler == "gibbs":
        cells = list(product(SCALES, SCANS))
        return [cells[place % len(cells)], cells[(place + 3) % len(cells)]]
    mix = "default" if sampler == "tempering" else list(MIXES)[place % len(MIXES)]
    return [(SCALES[place % len(SCALES)], mix)]


@pytest.mark.parametrize("sampler", ["gibbs", "metropolis", "tempering"])
def test_last_states_have_the_distribution(
    documents: list[Enumerated], sampler: str, full: bool, repetitions: Callable[[int], int]
) -> None:
    """20,000 chains (2,000 in the quick run) a cell; neither a scale off by a tenth nor a distribution without the
    feature is taken for the right one."""
    verdict, chains, unlike = Verdict(), repetitions(20_000), []
    for scene, (scale, kind) in ((scene, cell) for k, scene in enumerate(documents) for cell in cells_of(sampler, k)):
        if sampler == "gibbs":
            gibbs = make_gibbs(scene.batch.options.longest, [scale], scan=kind)
            (counts,) = posterior.last_states(scene, gibbs, chains, GIBBS.of(scene, scale))
        elif sampler == "metropolis":
            counts = test_metropolis.last_states(scene, kind, chains, scale, METROPOLIS.of(scene, scale))
        else:
            counts = cold_states(scene, chains, scale, TEMPERING.of(scene, scale), adapted=True)
        verdict.add(counts, scene, scale)
        if scene.model.document:
            score = scene.score[0] - [WEIGHT * ratio(scene, pair) for pair in scene.states[0]]
            unlike.append(pooled(counts, replace(scene, score=[score]).posterior(0, scale))[0] < 1e-6)
    verdict.check(full=full, notices=full)
    assert sum(unlike) > len(unlike) // 2 or not unlike
