"""Steps in phases: the same paths as in one piece, and judges that take part between the phases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from gpusearch.config import SearchConfig
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_BOUND,
    BELOW_SCORE,
    LIMIT_PAUSE,
    LIMIT_STEPS,
    MOSES_CHECK,
    UNIT_WORDS,
    Problem,
    Search,
    State,
)
from gpusearch.model.model import Model
from gpusearch.model.problem import build_problem
from gpusearch.search import run
from gpusearch.search.driver import CpuDriver
from gpusearch.search.state import lane_hash, make_state
from gpusearch.search.stepwise import StepwiseDriver
from tests.driver_checks import CASE, CHECKS
from tests.judges import LengthJudge, NothingJudge, OptionJudge, check_interrupts, outside
from tests.kernels.test_paths import CASES
from tests.parity_model import newstest_documents
from tests.paths import Case, MakeDriver, cpu, final_hashes
from tests.slow import slow_where


def stepwise(threads: int) -> MakeDriver:
    return lambda problem, search, state: StepwiseDriver(problem, search, state, threads)


def steps_by_proposals(case: Case) -> bool:
    return not (case.gibbs or case.sweep)


def compiles_more(name: str) -> bool:
    """Whether this driver is compiled anew for the case."""
    return bool(CASES[name].docent_draws or CASES[name].features or CASES[name].metropolis)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", slow_where(compiles_more, (name for name in CASES if steps_by_proposals(CASES[name]))))
def test_steps_in_phases_are_steps_in_one_piece(name: str, threads: int) -> None:
    assert final_hashes(CASES[name], stepwise(threads)) == final_hashes(CASES[name], cpu(1))


def test_steps_in_phases_on_many_problems(repetitions: Callable[[int], int]) -> None:
    """Any models, limits, pauses; also each unit by itself, and beside more chains."""
    for seed in range(repetitions(500)):
        case = Case.random(seed)
        expected = final_hashes(case, cpu(1))
        assert final_hashes(case, stepwise(1)) == expected, case
        assert final_hashes(case, stepwise(1), alone=True, padding=(2, 5)) == expected, case
        more = final_hashes(replace(case, chains=5), stepwise(2))
        assert [more[lane] for lane in range(len(more)) if lane % 5 < 2] == expected, case


@pytest.mark.parametrize("name", CHECKS)
def test_driver_that_works_stepwise(name: str) -> None:
    """An interrupt among other things: the state is complete, and the run goes on from there."""
    CHECKS[name](stepwise(2))


@pytest.mark.parametrize("units", ["sentence", "document"])
def test_parity_documents_take_the_same_paths(newstest_model: Model, parity: object, units: str) -> None:
    """Real options, with pauses and a rejection limit that ends most chains."""
    documents = newstest_documents(parity)[:2]  # type: ignore[arg-type]  # the fixture's path
    config = SearchConfig(chains=2)
    batch = build_problem(newstest_model, documents, search=config, units=units)
    problem = batch.problem
    search = run.search_settings(run.Config.model_construct(search=config), newstest_model, batch)
    lanes = np.arange(2 * len(problem.unit))
    hashes = []
    for make_driver in (cpu(2), stepwise(2)):
        state = make_state(problem, lanes // 2, lanes % 2, len(newstest_model.features.names))
        state.limit[:, LIMIT_STEPS] = 40 * problem.unit[lanes // 2, UNIT_WORDS]
        state.limit[:, 1] = 200
        driver = make_driver(problem, search, state)
        driver.start(lanes)
        for pause in (1, 17, 1 << 40):
            state.limit[:, LIMIT_PAUSE] = pause
            driver.run(lanes, lambda: None)
        driver.close()
        hashes.append([lane_hash(problem, state, int(lane)) for lane in lanes])
    assert hashes[0] == hashes[1]


class UntalliedDriver(StepwiseDriver):
    """A driver whose lanes do not say at which stage proposals were rejected."""

    def close(self) -> None:
        self.state.tally[:] = 0
        super().close()


class UntalliedCpuDriver(CpuDriver):
    def close(self) -> None:
        self.state.tally[:] = 0
        super().close()


def test_a_feature_judged_outside_is_the_same_feature(repetitions: Callable[[int], int]) -> None:
    """Paths, scores and, with an exact bound, even the stages at which proposals are rejected."""
    judges: list[OptionJudge] = []

    def judged(driver: type[StepwiseDriver], headroom: int | None, loose: int) -> MakeDriver:
        def judge_of(problem: Problem) -> OptionJudge:
            judges.append(OptionJudge(problem, headroom, loose))
            return judges[-1]

        return outside(driver, judge_of)

    for seed in range(repetitions(100)):
        case = Case.random(seed)
        expected = final_hashes(case, cpu(1))
        assert final_hashes(case, judged(StepwiseDriver, None, 0)) == expected, case
        most = 2 * int(np.abs(judges[-1].worth).max(initial=0)) * 9
        assert final_hashes(case, judged(StepwiseDriver, most, 0)) == expected, case
        expected = final_hashes(case, lambda *arguments: UntalliedCpuDriver(*arguments, threads=1))
        assert final_hashes(case, judged(UntalliedDriver, None, 1 << 40)) == expected, case


def with_length(problem: Problem, search: Search, state: State) -> StepwiseDriver:
    judge = LengthJudge(problem, len(state.unit), wanted=14)
    return StepwiseDriver(problem, search, state, 2, judges=[judge])


def test_a_feature_of_the_document_leads_the_search() -> None:
    """Each lane comes to the wanted length; its score is that of kernels and judge together, in any batch."""
    problem, search, values = CASE.problem()
    state = make_state(problem, np.zeros(4, int), np.arange(4), values)
    driver = with_length(problem, search, state)
    lanes = np.arange(4)
    driver.start(lanes)
    state.limit[:, LIMIT_STEPS] = 300
    driver.run(lanes, lambda: None)
    judge = driver._judges[0]
    assert isinstance(judge, LengthJudge)
    assert abs(judge.words - 14).max() <= 2
    score, words = state.score.copy(), judge.words.copy()
    driver.refresh(lanes)
    assert np.array_equal(state.score, score) and np.array_equal(judge.words, words)
    driver.close()
    case = replace(CASE, steps=100)
    one = final_hashes(replace(case, chains=1), with_length)
    assert final_hashes(replace(case, chains=7, pauses=(3, 50)), with_length)[0] == one[0]


def test_judges_are_told_anew_after_an_interrupt() -> None:
    """Whenever it comes: before a commit, or between what the judges and what the kernels do."""
    check_interrupts(StepwiseDriver, *CASE.problem(), 80)


@pytest.mark.parametrize("name", ["only_listed_lanes_are_touched", "what_tick_raises_stops_the_run"])
def test_driver_checks_hold_with_a_judge(name: str) -> None:
    CHECKS[name](partial(StepwiseDriver, threads=2, judges=[NothingJudge(0)]))


@pytest.mark.parametrize(("headroom", "from_stage"), [(None, BELOW_BOUND), (0, BELOW_SCORE)])
def test_only_what_may_win_comes_to_a_judge(headroom: int | None, from_stage: int) -> None:
    problem, search, values = CASE.problem()
    search.number[MOSES_CHECK] = 0
    state = make_state(problem, np.zeros(4, int), np.arange(4), values)
    judge = NothingJudge(headroom)
    driver = StepwiseDriver(problem, search, state, 1, judges=[judge])
    driver.start(np.arange(4))
    state.limit[:, LIMIT_STEPS] = 200
    driver.run(np.arange(4), lambda: None)
    driver.close()
    tally = state.tally.sum(axis=(0, 1))
    assert judge.asked == tally[from_stage:].sum()  # each once
    assert tally[BELOW_BOUND] > 0 and tally[ACCEPTED] > 0
