"""The Gibbs sampler draws from the enumerated distribution: by its transition matrices, and by its draws.

Sentences of 2 to 5 words of the laws100k parity model with its reordering model, and a table limit that leaves each at
most 2,000 derivations.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from scipy.sparse.csgraph import connected_components

from gpusearch.config import load_config
from gpusearch.model.model import Model, load_model
from gpusearch.search.enumeration import Enumerated, enumerate_derivations
from gpusearch.search.gibbs import make_gibbs
from tests.statistical.chi_square import pooled
from tests.statistical.posterior import last_states, transition_matrices
from tests.statistical.scenes import SCALES, BurnIn, short_scenes
from tests.statistical.verdict import LEVEL, Verdict, check_reversible
from tests.tiny import copy_tiny

pytestmark = [pytest.mark.stat, pytest.mark.timeout(7200)]

SCANS = ("random", "sequential")
SENTENCES, DERIVATIONS = 30, 2000
BURN_IN = BurnIn(small=20, large=40, order=100)


@pytest.fixture(scope="module")
def scenes(laws_model: Model, parity: Path, full: bool) -> list[Enumerated]:
    """Few and small ones in the quick run."""
    wanted, most = (SENTENCES, DERIVATIONS) if full else (4, 400)
    return short_scenes(laws_model, parity, wanted, 5, most)


def test_every_operator_keeps_the_distribution(scenes: list[Enumerated]) -> None:
    """Every block at every scale, and so each operator and either scan; and from every derivation the blocks lead to
    every other one."""
    for scene, scale in product(scenes, SCALES):
        gibbs = make_gibbs(scene.batch.options.longest, [scale], scan="sequential")
        pi = scene.posterior(0, scale)
        reached, operators = None, set()
        for operator, matrix in transition_matrices(scene, 0, gibbs, scale):
            check_reversible(matrix, pi)
            reached = matrix if reached is None else reached + matrix
            operators.add(operator)
        assert reached is not None and operators == ({0, 1, 2, 3} if scene.batch.options.longest > 1 else {0, 1, 2})
        assert connected_components(reached, connection="strong")[0] == 1


def test_last_states_have_the_distribution(
    scenes: list[Enumerated], full: bool, repetitions: Callable[[int], int]
) -> None:
    """20,000 chains (2,000 in the quick run) a cell: every sentence at every scale by either scan; in the quick run
    each sentence once."""
    verdict, chains = Verdict(), repetitions(20_000)
    cells = list(product(SCALES, SCANS))
    for place, scene in enumerate(scenes):
        for scale, scan in cells if full else [cells[5 * place % len(cells)]]:
            gibbs = make_gibbs(scene.batch.options.longest, [scale], scan=scan)
            (counts,) = last_states(scene, gibbs, chains, BURN_IN.of(scene, scale))
            verdict.add(counts, scene, scale)
    verdict.check(full=full)


def test_the_reachability_defect_is_closed(tmp_path: Path) -> None:
    """Arun et al. (2010), section 6: a phrase of three words and its single words have translations, the two phrases of
    two words have none. The paper's operators do not lead from one segmentation to the other; resegmentation does."""
    pairs = ["a b c ||| one", "a ||| two", "b ||| three", "c ||| four", "c ||| five"]
    table = "".join(f"{pair} ||| 0.5 0.5 0.5 0.5 ||| 0-0\n" for pair in pairs)
    path = copy_tiny(tmp_path)
    (tmp_path / "phrase-table").write_text(table, encoding="utf-8")
    scene = enumerate_derivations(load_model(load_config(path)), [["a", "b", "c"]], 100)
    whole = [len(options) == 1 for options in scene.states[0]]
    assert sum(whole) == 1 and len(whole) == 1 + 2 * 6
    for window, parts in ((0, 2), (8, 1)):
        gibbs = make_gibbs(scene.batch.options.longest, [1.0], scan="sequential", window=window)
        reached = sum(matrix for _, matrix in transition_matrices(scene, 0, gibbs, 1.0))
        count, component = connected_components(reached, connection="strong")
        assert count == parts
        together = component[whole.index(True)] == component[whole.index(False)]
        assert together == (window > 0)
        found = last_states(scene, gibbs, 500, 10)[0]
        if window:
            assert pooled(found, scene.posterior(0, 1.0))[0] > LEVEL
