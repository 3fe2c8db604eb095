"""Blocks of the Gibbs sampler in phases: the same paths as in one piece, and judges that weigh the candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from gpusearch.kernels.records import Proposals, State
from gpusearch.search import gibbs_stepwise
from gpusearch.search.gibbs_stepwise import GibbsStepwiseDriver
from gpusearch.search.state import UNLIMITED
from tests.judges import Integers, OptionJudge, check_interrupts, outside
from tests.kernels.test_paths import CASES
from tests.paths import Case, MakeDriver, cpu, final_hashes
from tests.slow import slow_where


def stepwise(threads: int) -> MakeDriver:
    return lambda problem, search, state: GibbsStepwiseDriver(problem, search, state, threads)


def random_case(seed: int) -> Case:
    return replace(Case.random(seed), gibbs=("random", "sequential")[seed % 2], enough=UNLIMITED)


@pytest.mark.parametrize(
    "name", slow_where(lambda name: bool(CASES[name].features), (name for name in CASES if CASES[name].gibbs))
)
def test_blocks_in_phases_are_blocks_in_one_piece(name: str) -> None:
    expected = final_hashes(CASES[name], cpu(1))
    assert final_hashes(CASES[name], stepwise(1)) == expected
    assert final_hashes(CASES[name], stepwise(3)) == expected


def test_blocks_in_phases_on_many_problems(repetitions: Callable[[int], int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Any models, limits, pauses, and few candidates at a time."""
    for seed in range(repetitions(200)):
        case = random_case(seed)
        expected = final_hashes(case, cpu(1))
        assert final_hashes(case, stepwise(1), padding=(2, 5)) == expected, case
        with monkeypatch.context() as patch:
            patch.setattr(gibbs_stepwise, "MOST_CANDIDATES", 5)
            assert final_hashes(case, stepwise(2)) == expected, case


class CountingJudge(OptionJudge):
    """Counts what it is asked."""

    asked = 0

    def delta(self, state: State, proposals: Proposals) -> Integers:
        type(self).asked += len(proposals.lane)
        return super().delta(state, proposals)

    def commit(self, state: State, proposals: Proposals) -> None:
        assert len(np.unique(proposals.lane)) == len(proposals.lane)


def test_a_feature_judged_outside_is_the_same_feature(repetitions: Callable[[int], int]) -> None:
    """Whatever its bounds are; tighter ones save questions."""
    asked = []
    for seed in range(repetitions(100)):
        case = random_case(seed)
        expected = final_hashes(case, cpu(1))
        for loose in (0, 1 << 45, 1 << 58):
            CountingJudge.asked = 0
            make = outside(GibbsStepwiseDriver, partial(CountingJudge, headroom=None, loose=loose))
            assert final_hashes(case, make) == expected, case
            asked.append(CountingJudge.asked)
    tight, middle, none = np.sum(np.reshape(asked, (-1, 3)), axis=0)
    assert tight < middle < none and 3 * tight < none


def test_a_feature_that_keeps_counts_is_told_of_what_is_taken() -> None:
    """Scores and counts of lanes, also after interrupts, are those of a fresh start from their phrases."""
    state = check_interrupts(GibbsStepwiseDriver, *CASES["Gibbs, sequential scan"].problem(), 60)
    assert state.tally[:, :, -1].sum() > 10
