"""What every driver promises beside its paths. Each check takes a maker of drivers; the simulator runs them too."""

from __future__ import annotations

import numpy as np

from gpusearch.kernels.records import LIMIT_PAUSE, LIMIT_STEPS, State
from gpusearch.search.state import lane_hash, make_state
from tests.paths import Case, InterpretedDriver, MakeDriver

CASE = Case(5, orders=(3, 2), weights=(1 << 19, -(1 << 18)), sentences=(6, 0, 3), chains=4)


def copied(state: State) -> State:
    """The state as it is now."""
    return State(*(field.copy() for field in state))


def only_listed_lanes_are_touched(make_driver: MakeDriver) -> None:
    """A call changes the lanes listed, whatever their order, and no others."""
    problem, search, values = CASE.problem()
    state = make_state(problem, np.zeros(5, int), np.arange(5), values)
    driver = make_driver(problem, search, state)
    driver.start(np.arange(5))
    state.limit[:, LIMIT_STEPS] = 20
    before = copied(state)
    driver.run(np.array([3, 1]), lambda: None)
    assert state.step.tolist() == [0, 20, 0, 20, 0]
    for name, field in state._asdict().items():
        assert np.array_equal(field[[0, 2, 4]], getattr(before, name)[[0, 2, 4]]), name
    driver.run(np.arange(5), lambda: None)
    whole = make_state(problem, np.zeros(5, int), np.arange(5), values)
    whole.limit[:, LIMIT_STEPS] = 20
    reference = InterpretedDriver(problem, search, whole)
    reference.start(np.arange(5))
    reference.run(np.arange(5), lambda: None)
    for lane in range(5):
        assert lane_hash(problem, state, lane) == lane_hash(problem, whole, lane)
    driver.close()


def what_tick_raises_stops_the_run(make_driver: MakeDriver) -> None:
    """The state is then complete: all its sums equal a recomputation, and the run can go on."""
    problem, search, values = CASE.problem()
    state = make_state(problem, np.zeros(3, int), np.arange(3), values)
    driver = make_driver(problem, search, state)
    lanes = np.arange(3)
    driver.start(lanes)
    state.limit[:, LIMIT_STEPS] = 1 << 40

    class Stop(Exception):
        pass

    def tick() -> None:
        raise Stop

    try:
        driver.run(lanes, tick)
    except Stop:
        pass
    else:
        raise AssertionError("what tick raises must come through")
    assert (state.step < 1 << 40).all() and state.step.any()
    before = copied(state)
    hashes = [lane_hash(problem, state, lane) for lane in range(3)]
    driver.refresh(lanes)
    assert [lane_hash(problem, state, lane) for lane in range(3)] == hashes
    assert np.array_equal(state.score, before.score) and np.array_equal(state.feature, before.feature)
    state.limit[:, LIMIT_PAUSE] = state.step + 5
    driver.run(lanes, lambda: None)
    assert np.array_equal(state.step, before.step + 5)
    driver.close()


def phrases_put_in_by_hand_are_scored(make_driver: MakeDriver) -> None:
    """`refresh` after the host has changed phrases gives what the interpreter gives."""
    problem, search, values = CASE.problem()
    state = make_state(problem, np.zeros(3, int), np.array([7, 8, 9]), values)
    driver = make_driver(problem, search, state)
    driver.start(np.arange(3))
    state.option[2], state.length[2] = state.option[0], state.length[0]
    driver.refresh(np.array([2]))
    other = copied(state)
    InterpretedDriver(problem, search, other).refresh(np.array([2]))
    assert state.score[2] == state.score[0] == other.score[2]
    assert np.array_equal(state.feature[2], other.feature[2])
    driver.close()


def a_run_may_end_when_enough_lanes_rest(make_driver: MakeDriver) -> None:
    """Those that rest are where they should be, the others go on in a later run, and no path depends on it."""
    problem, search, values = CASE.problem()
    states = [make_state(problem, np.zeros(3, int), np.arange(3), values) for _ in range(2)]
    for state, enough in zip(states, (2, None), strict=True):
        state.limit[:, LIMIT_STEPS] = 3, 3, 150
        driver = make_driver(problem, search, state)
        driver.start(np.arange(3))
        driver.run(np.arange(3), lambda: None, enough)
        assert state.step[:2].tolist() == [3, 3]
        if driver.name == "cuda" and enough:
            assert state.step[2] < 150
        driver.run(np.array([2]), lambda: None)
        driver.close()
    for lane in range(3):
        assert lane_hash(problem, states[0], lane) == lane_hash(problem, states[1], lane)


def no_lanes_is_no_work(make_driver: MakeDriver) -> None:
    """An empty list of lanes is allowed in every call."""
    problem, search, values = CASE.problem()
    state = make_state(problem, np.zeros(1, int), np.arange(1), values)
    driver = make_driver(problem, search, state)
    before = copied(state)
    none = np.zeros(0, np.int64)
    driver.start(none)
    driver.refresh(none)
    driver.run(none, lambda: None)
    assert all(np.array_equal(mine, old) for mine, old in zip(state, before, strict=True))
    driver.close()


CHECKS = {
    check.__name__: check
    for check in (
        only_listed_lanes_are_touched,
        what_tick_raises_stops_the_run,
        phrases_put_in_by_hand_are_scored,
        a_run_may_end_when_enough_lanes_rest,
        no_lanes_is_no_work,
    )
}
