"""Searches that ask on the host walk the paths of those that do not; the answers come from automata, not from KenLM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gpusearch.kernels.records import LIMIT_STEPS
from gpusearch.model.host_answers import HostAnswers
from gpusearch.search.asking import AskingDriver
from gpusearch.search.state import lane_hash, make_state
from gpusearch.search.stepwise import StepwiseDriver
from tests.driver_checks import CHECKS
from tests.paths import Case, MakeDriver, cpu, final_hashes
from tests.search.host_models import HostCase

THREE = HostCase(Case(3, orders=(5, 2, 3), weights=(1 << 19, 1 << 18, -(1 << 18)), chains=3), (5, None, 3))
ONE = HostCase(Case(21, orders=(4,), sentences=(8, 0, 5), chains=4, steps=120), (2,))


def untallied(make_driver: MakeDriver) -> MakeDriver:
    """Drivers that do not say at which stage proposals were rejected: that depends on the bounds."""

    def make(problem, search, state):
        driver = make_driver(problem, search, state)
        close = driver.close

        def close_untallied():
            state.tally[:] = 0
            close()

        driver.close = close_untallied
        return driver

    return make


def random_case(seed: int) -> HostCase:
    case = Case.random(seed)
    rng = np.random.default_rng((seed, 5))
    # KenLM knows no model of order 1.
    orders = tuple(int(order) for order in rng.integers(2, 6, len(case.orders)))
    bounds = tuple(None if rng.random() < 0.3 else int(rng.integers(0, 6)) for _ in orders)
    return HostCase(replace(case, orders=orders), bounds)


@pytest.mark.parametrize("driver", [AskingDriver, StepwiseDriver])
@pytest.mark.parametrize("threads", [1, 2])
def test_full_bounds_on_the_host_give_the_path_and_the_stages(driver: type[AskingDriver], threads: int) -> None:
    """One, and two of three models on the host: the same proposals fall to the same bounds."""
    for host in (HostCase(ONE.case, (4,)), THREE):
        assert final_hashes(host.case, host.driver(driver, threads)) == final_hashes(host.case, cpu(1))


def test_no_bound_changes_a_path(repetitions: Callable[[int], int]) -> None:
    """Bounds of any order or none, either sign of the weight, models of both kinds mixed, pauses."""
    for seed in range(repetitions(400)):
        host = random_case(seed)
        expected = final_hashes(host.case, untallied(cpu(1)))
        assert final_hashes(host.case, untallied(host.driver())) == expected, host
        if seed % 4 == 0:
            assert final_hashes(host.case, untallied(host.driver(StepwiseDriver))) == expected, host


@pytest.mark.parametrize("driver", [AskingDriver, StepwiseDriver])
@pytest.mark.parametrize("most", [0, 50])
def test_forgotten_answers_change_no_path(driver: type[AskingDriver], most: int) -> None:
    host = replace(ONE, case=replace(ONE.case, pauses=(5, 30, 31), steps=1200))
    forgotten = 0

    class Counting(driver):  # type: ignore[misc, valid-type]  # either of them
        def close(self) -> None:
            nonlocal forgotten
            forgotten += self._forgotten
            super().close()

    assert final_hashes(host.case, untallied(host.driver(Counting, most_answers=most))) == final_hashes(
        host.case, untallied(cpu(1))
    )
    assert forgotten > 1


@pytest.mark.parametrize("name", CHECKS)
def test_driver_that_asks(name: str) -> None:
    """Every promise of a driver holds; CHECKS have two models, of which the first is on the host."""
    from tests.driver_checks import CASE

    CHECKS[name](HostCase(CASE, (3, None)).driver(threads=2))


def test_an_interrupt_while_the_host_answers() -> None:
    """The answers are taken in, the state is complete, and the run goes on."""
    problem, search, values = ONE.case.problem()
    state = make_state(problem, np.zeros(4, int), np.arange(4), values)
    driver = ONE.driver()(problem, search, state)
    driver.start(np.arange(4))
    state.limit[:, LIMIT_STEPS] = 120
    answers = driver._answers
    answer, interrupts = answers.answer, 0

    def slow_answer(questions):
        answer(questions)
        if interrupts < 3:
            raise KeyboardInterrupt

    answers.answer = slow_answer
    for interrupts in range(4):
        if interrupts < 3:
            with pytest.raises(KeyboardInterrupt):
                driver.run(np.arange(4), lambda: None)
        else:
            driver.run(np.arange(4), lambda: None)
    driver.close()
    state.tally[:] = 0
    found = [lane_hash(problem, state, lane) for lane in range(4)]
    assert found == final_hashes(ONE.case, untallied(cpu(1)))


def test_after_a_run_all_sums_equal_a_recomputation() -> None:
    models = THREE.models()
    problem, search, values = THREE.problem(models)
    state = make_state(problem, np.zeros(3, int), np.arange(3), values)
    state.limit[:, LIMIT_STEPS] = 200
    driver = AskingDriver(problem, search, state, 1, HostAnswers(models))
    driver.start(np.arange(3))
    driver.run(np.arange(3), lambda: None)
    before = [np.array(field) for field in state]
    driver.refresh(np.arange(3))
    for name, old, new in zip(state._fields, before, state, strict=True):
        assert np.array_equal(old, new), name
    driver.close()


def test_questions_are_asked_once() -> None:
    """However many lanes ask, and however often: a model is asked for each (state, word) once."""
    models = ONE.models()
    problem, search, values = ONE.problem(models)
    answers = HostAnswers(models)
    state = make_state(problem, np.zeros(8, int), np.arange(8), values)
    state.limit[:, LIMIT_STEPS] = 300
    driver = AskingDriver(problem, search, state, 2, answers)
    driver.start(np.arange(8))
    driver.run(np.arange(8), lambda: None)
    driver.close()
    assert models[0].pool.asked == answers.count
    other = make_state(problem, np.zeros(8, int), np.arange(8), values)
    other.limit[:, LIMIT_STEPS] = 300
    again = AskingDriver(problem, search, other, 2, answers)
    again.start(np.arange(8))
    again.run(np.arange(8), lambda: None)
    again.close()
    assert models[0].pool.asked == answers.count  # all of it was known
    assert np.array_equal(state.score, other.score)
