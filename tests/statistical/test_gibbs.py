"""The Gibbs sampler draws from the enumerated distribution: by its transition matrices, and by its draws.

Sentences of 2 to 5 words of the laws100k parity model with its reordering model, and a table limit that leaves each at
most 2,000 derivations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from gpusearch.config import load_config
from gpusearch.model.model import Model, load_model
from gpusearch.search.enumeration import Enumerated, enumerate_derivations
from gpusearch.search.gibbs import make_gibbs
from tests.parity_model import laws_documents
from tests.statistical.chi_square import pooled
from tests.statistical.posterior import last_states, transition_matrices
from tests.statistical.verdict import LEVEL, Verdict
from tests.tiny import copy_tiny

pytestmark = [pytest.mark.stat, pytest.mark.timeout(7200)]

SCALES = (0.5, 1.0, 3.0)
SCANS = ("random", "sequential")
SENTENCES, DERIVATIONS = 30, 2000
# Iterations after which the last state is looked at. Where the distribution is peaked, single blocks seldom lead from
# one of its peaks to another.
BURN_IN, LONG_BURN_IN = 25, 100


@pytest.fixture(scope="module")
def scenes(laws_model: Model, parity: Path, full: bool) -> list[Enumerated]:
    """Sentences, each with a table limit of its own; few and small ones in the quick run."""
    short = {tuple(s) for document in laws_documents(parity) for s in document if 2 <= len(s) <= 5}
    wanted, most = (SENTENCES, DERIVATIONS) if full else (4, 400)
    each = sorted(short, key=lambda s: (len(s), s))
    spread = [each[k * (len(each) - 1) // (wanted - 1)] for k in range(wanted)]
    return [enumerate_derivations(laws_model, [list(sentence)], most) for sentence in spread]


def grid(scenes: list[Enumerated], full: bool) -> Iterator[tuple[Enumerated, float, str]]:
    """Every sentence at every scale, scans by turns; in the quick run each sentence once."""
    for number, scene in enumerate(scenes):
        cells = [(scale, SCANS[(number + turn) % 2]) for turn, scale in enumerate(SCALES)]
        for scale, scan in cells if full else [cells[number % len(cells)]]:
            yield scene, scale, scan


def test_every_operator_keeps_the_distribution(scenes: list[Enumerated]) -> None:
    """pi P = pi and detailed balance within 1e-9 for every block, and so for each operator and either scan; and from
    every derivation the blocks lead to every other one."""
    for number, scene in enumerate(scenes):
        scale = SCALES[number % len(SCALES)]
        gibbs = make_gibbs(scene.batch.options.longest, [scale], scan="sequential")
        pi = scene.posterior(0, scale)
        reached, operators = None, set()
        for operator, matrix in transition_matrices(scene, 0, gibbs, scale):
            assert np.abs(pi @ matrix - pi).max() < 1e-9
            flow = (matrix * pi[:, None]).tocsr()
            assert abs(flow - flow.T).max() < 1e-9
            reached = matrix if reached is None else reached + matrix
            operators.add(operator)
        assert reached is not None and operators == ({0, 1, 2, 3} if scene.batch.options.longest > 1 else {0, 1, 2})
        assert connected_components(reached, connection="strong")[0] == 1


def test_last_states_have_the_distribution(
    scenes: list[Enumerated], full: bool, repetitions: Callable[[int], int]
) -> None:
    """20,000 chains (2,000 in the quick run) a cell."""
    verdict, chains = Verdict(), repetitions(20_000)
    for scene, scale, scan in grid(scenes, full):
        gibbs = make_gibbs(scene.batch.options.longest, [scale], scan=scan)
        (counts,) = last_states(scene, gibbs, chains, LONG_BURN_IN if full and scale > 1 else BURN_IN)
        verdict.add(counts, scene, scale)
    verdict.check()


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
