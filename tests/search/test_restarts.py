"""Chains that begin anew: what they do is what chains do that are begun by hand, and they end in their best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpusearch
from gpusearch.errors import InputError
from gpusearch.kernels import reference
from gpusearch.kernels.perturb import perturb, perturb_lanes
from gpusearch.kernels.records import DISTORTION_LIMIT, LIMIT_REJECTED, LIMIT_STEPS, Problem, Search, State
from gpusearch.kernels.target import exact
from gpusearch.search.driver import CpuDriver
from gpusearch.search.limits import Limits
from gpusearch.search.restarts import RestartingDriver
from gpusearch.search.state import UNLIMITED, lane_hash, make_scratch, make_state
from tests.paths import Case
from tests.tiny import copy_tiny

REJECTED = 12
POLICIES = ("climbing", "sweeps")


def case_of(policy: str, seed: int) -> Case:
    """A random one. Sweeps of so many words may end in different translations, after some hundred steps."""
    case = replace(Case.random(seed), enough=UNLIMITED)
    if policy == "climbing":
        return case
    return replace(case, sweep=True, orders=(3,), weights=(1 << 19,), sentences=(7, 0, 5), reordering=1)


def rejected_of(case: Case) -> int:
    """Rejections that end a chain; a sweep ends by itself."""
    return UNLIMITED if case.sweep else REJECTED


def lanes_of(case: Case, chains: list[int], steps: int) -> tuple[Problem, Search, State]:
    problem, search, values = case.problem()
    units = np.repeat(np.arange(len(problem.unit)), len(chains))
    state = make_state(problem, units, np.tile(chains, len(problem.unit)), values)
    state.limit[:, LIMIT_STEPS], state.limit[:, LIMIT_REJECTED] = steps, rejected_of(case)
    return problem, search, state


def limits_of(case: Case, problem: Problem, steps: int) -> Limits:
    units = len(problem.unit)
    unlimited = np.full(units, UNLIMITED)
    nothing = np.ones(units, np.int64)
    return Limits(np.full(units, steps), np.full(units, rejected_of(case)), unlimited, nothing, nothing)


def run(case: Case, chains: list[int], restarts: int, proposals: int, steps: int = 400) -> tuple[Problem, State]:
    problem, search, state = lanes_of(case, chains, steps)
    inner = CpuDriver(problem, search, state, 1)
    driver = RestartingDriver(inner, problem, search, limits_of(case, problem, steps), restarts, proposals)
    lanes = np.arange(len(state.unit))
    driver.start(lanes)
    driver.run(lanes, lambda: None)
    driver.close()
    return problem, state


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("proposals", [0, 5])
def test_a_restarted_chain_is_chains_begun_by_hand(
    policy: str, proposals: int, repetitions: Callable[[int], int]
) -> None:
    """Each from the step at which the one before it ended; the best of them is what is left."""
    several, steps = 0, 400 if policy == "climbing" else 2000
    for seed in range(repetitions(60)):
        case = case_of(policy, seed)
        found = run(case, [0], 3, proposals, steps)[1]
        problem, search, state = lanes_of(case, [0], steps)
        driver = CpuDriver(problem, search, state, 1)
        for lane in range(len(state.unit)):
            lanes = np.array([lane])
            best = None
            for turn in range(4):
                if turn and (state.rejected[lane] < rejected_of(case) or state.step[lane] >= steps):
                    break
                state.rejected[lane] = 0
                if turn and proposals:
                    state.option[lane], state.length[lane] = best[1:]
                    driver.refresh(lanes)
                    drawn = search._replace(sweep=())
                    perturb_lanes(problem, drawn, state, make_scratch(problem), lanes, proposals)
                    driver.refresh(lanes)
                else:
                    driver.start(lanes)
                driver.run(lanes, lambda: None)
                here = (int(state.score[lane]), state.option[lane].copy(), state.length[lane].copy())
                if best is None or here[0] > best[0]:
                    several += turn
                    best = here
            assert best is not None and found.score[lane] == best[0]
            assert (found.option[lane] == best[1]).all()
        driver.close()
    assert several > 0


def test_restarts_do_not_depend_on_other_chains() -> None:
    case = Case(5, sentences=(6, 2, 9), units="sentence")
    problem, together = run(case, [0, 1, 2], 4, 3)
    _, alone = run(case, [1], 4, 3)
    found = [lane_hash(problem, together, lane) for lane in range(1, len(together.unit), 3)]
    assert found == [lane_hash(problem, alone, lane) for lane in range(len(alone.unit))]


def test_proposals_are_taken_whatever_they_score(repetitions: Callable[[int], int]) -> None:
    """Interpreted as compiled; sentences stay complete and keep to the distortion limit."""
    changed = 0
    for seed in range(repetitions(60)):
        problem, search, state = lanes_of(Case.random(seed), [0], 400)
        driver = CpuDriver(problem, search, state, 1)
        lanes = np.arange(len(state.unit))
        driver.start(lanes)
        before = [reference.translation(problem, state, lane) for lane in lanes.tolist()]
        twin = State(*(array.copy() for array in state))
        perturb_lanes(problem, search, state, make_scratch(problem), lanes, 7)
        for lane in lanes.tolist():
            perturb(*(exact(record) for record in (problem, search, twin, make_scratch(problem))), lane, 7)
            after = reference.translation(problem, state, lane)
            assert after == reference.translation(problem, twin, lane)
            changed += after != before[lane]
            for old, phrases in zip(before[lane], after, strict=True):
                words = sum(reference.span(problem, option)[1] - reference.span(problem, option)[0] for option in old)
                assert reference.is_complete(problem, phrases, words)
                assert max(reference.jumps(problem, search, phrases), default=0) <= search.number[DISTORTION_LIMIT]
        assert (state.step == 7).all()
        driver.close()
    assert changed > 0


def test_restarts_need_an_end(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="max_rejected"):
        gpusearch.load(copy_tiny(tmp_path), ["search.restarts=2"])


def test_restarts_never_end_below_one_run(tmp_path: Path) -> None:
    decoder = gpusearch.load(copy_tiny(tmp_path))
    document = [["une petite maison bleue", "la maison bleue"]]
    for settings in ({"max_rejected": 3}, {"policy": "sweep"}):
        once = decoder.decode(document, chains=1, **settings)
        for perturbation in (0, 4):
            more = decoder.decode(document, chains=1, restarts=5, perturbation=perturbation, **settings)
            assert more.score >= once.score
            assert "restarts:5" in more.signature
            assert more.result.tally.sum() > once.result.tally.sum()
