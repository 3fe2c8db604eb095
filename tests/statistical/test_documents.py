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
from gpusearch.kernels.records import LIMIT_STEPS, SENTENCE_SLOT
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import build_problem
from gpusearch.search.driver import CpuDriver
from gpusearch.search.enumeration import Enumerated, enumerate_derivations
from gpusearch.search.gibbs import make_gibbs
from gpusearch.search.run import search_settings
from gpusearch.search.temperature import geometric
from gpusearch.search.tempering import Ladder, TemperingDriver
from tests.parity_model import laws_documents, write_laws
from tests.statistical import posterior, test_gibbs, test_metropolis
from tests.statistical.chi_square import pooled
from tests.statistical.posterior import THREADS, count_states, states_of_lanes, transition_matrices
from tests.statistical.test_gibbs import SCALES, SCANS
from tests.statistical.test_metropolis import MIXES, lanes_of, metropolis
from tests.statistical.verdict import Verdict
from tests.tiny import copy_tiny

pytestmark = [pytest.mark.stat, pytest.mark.timeout(7200)]

WEIGHT = 12.0
"""Of the type-token ratio; that of documents of some words lies between 0.5 and 1."""
# Before the last state is looked at, in the quick run and for small scales; and for large ones. As for sentences.
BURN_IN = {
    "gibbs": (test_gibbs.BURN_IN, test_gibbs.LONG_BURN_IN),
    "metropolis": (test_metropolis.BURN_IN, test_metropolis.LONG_BURN_IN),
    "tempering": (test_metropolis.BURN_IN, test_metropolis.LONG_BURN_IN_OF_LADDERS),
}


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


# Features are compiled for these drivers: that takes a while.
@pytest.fixture(scope="module", params=[pytest.param("with a feature", marks=pytest.mark.slow), "without"])
def documents(
    request: pytest.FixtureRequest,
    laws_model: Model,
    parity: Path,
    full: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Enumerated]:
    """Pairs of sentences of 2 to 4 words."""
    config, model = load_config(copy_tiny(tmp_path_factory.mktemp("plain"))), laws_model
    if request.param == "with a feature":
        path = write_laws(tmp_path_factory.mktemp("features"), parity, reordering=True)
        config = load_config(path, ["features.ratio.use=type-token-ratio", f"features.ratio.weights={WEIGHT}"])
        model = load_model(config)
    longest, wanted, most = (4, 15, 2000) if full else (2, 1, 100)
    short = {tuple(s) for document in laws_documents(parity) for s in document if 2 <= len(s) <= longest}
    each = sorted(short, key=lambda s: (len(s), s))
    spread = [each[k * (len(each) - 1) // max(wanted - 1, 1)] for k in range(wanted)]
    # Sentences of common words: their translations repeat each other or do not, which is what the feature looks at.
    pairs = [(one, next((two for two in each if two != one and set(one) & set(two)), one)) for one in spread]
    # Without a feature sentences do not depend on each other, and test_gibbs.py has them one by one.
    pairs = pairs if request.param == "with a feature" else pairs[::5]
    return [document_scene(model, [list(sentence) for sentence in pair], most, config) for pair in pairs]


def test_the_score_is_that_of_the_kernels(documents: list[Enumerated]) -> None:
    for scene in documents:
        state = states_of_lanes(scene, 0)
        assert state.score / 2**40 == pytest.approx(scene.score[0], abs=1e-4)


def test_every_operator_keeps_the_distribution(documents: list[Enumerated]) -> None:
    """pi P = pi and detailed balance within 1e-9; the blocks of both sentences lead to every pair."""
    for place, scene in enumerate(documents[::4]):
        scale = SCALES[place % len(SCALES)]
        gibbs = make_gibbs(scene.batch.options.longest, [scale], scan="sequential")
        # The exact integers of the kernels, so that no rounding stands between both sides.
        exact = replace(scene, score=[states_of_lanes(scene, 0).score / 2**40])
        pi = exact.posterior(0, scale)
        reached = None
        for _, matrix in transition_matrices(exact, 0, gibbs, scale):
            assert np.abs(pi @ matrix - pi).max() < 1e-9
            flow = (matrix * pi[:, None]).tocsr()
            assert abs(flow - flow.T).max() < 1e-9
            reached = matrix if reached is None else reached + matrix
        assert reached is not None and connected_components(reached, connection="strong")[0] == 1


@pytest.mark.parametrize("sampler", ["gibbs", "metropolis", "tempering"])
def test_last_states_have_the_distribution(
    documents: list[Enumerated], sampler: str, full: bool, repetitions: Callable[[int], int]
) -> None:
    """20,000 chains (2,000 in the quick run) a document, Gibbs by either scan in turns; neither a scale off by a
    tenth nor a distribution without the feature is taken for the right one."""
    verdict, chains, unlike = Verdict(), repetitions(20_000), 0
    for place, scene in enumerate(documents):
        scale = SCALES[place % len(SCALES)]
        burn_in = BURN_IN[sampler][full and scale > 1]
        if sampler == "gibbs":
            gibbs = make_gibbs(scene.batch.options.longest, [scale], scan=SCANS[place // len(SCALES) % 2])
            (counts,) = posterior.last_states(scene, gibbs, chains, burn_in)
        elif sampler == "metropolis":
            search = metropolis(scene, MIXES["default"])
            counts = test_metropolis.last_states(scene, search, chains, scale, burn_in)
        else:
            counts = cold_states(scene, chains, scale, burn_in)
        verdict.add(counts, scene, scale)
        if scene.model.document:
            score = scene.score[0] - [WEIGHT * ratio(scene, pair) for pair in scene.states[0]]
            unlike += pooled(counts, replace(scene, score=[score]).posterior(0, scale))[0] < 1e-6
    verdict.check(notices=full)
    assert unlike > len(documents) // 2 or not documents[0].model.document


def cold_states(scene: Enumerated, ladders: int, scale: float, burn_in: int) -> np.ndarray:
    """How often each pair is the last state of the cold chain of ladders of three."""
    state = lanes_of(scene, 3 * ladders, scale, burn_in)
    steps, one = int(state.limit[0, LIMIT_STEPS]), np.ones(1, np.int64)
    ladder = Ladder(np.array(geometric(1 / scale, 4 / scale, 3)), 4 * one, steps // 2 * one, (steps + 1) * one)
    driver = CpuDriver(scene.problem, metropolis(scene, MIXES["default"]), state, THREADS)
    tempering = TemperingDriver(driver, scene.problem, ladder)
    lanes = np.arange(3 * ladders)
    tempering.start(lanes)
    tempering.run(lanes, lambda: None)
    tempering.close()
    return count_states(scene, state, 0, tempering.level == 0)
