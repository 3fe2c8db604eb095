"""Replica exchange: exchanges as the rule says, temperatures that spread, chains that depend on their ladder alone."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpusearch
from gpusearch.config import load_config
from gpusearch.errors import InputError
from gpusearch.kernels.philox import SWAP, philox
from gpusearch.kernels.records import LIMIT_PAUSE, LIMIT_STEPS, LIMIT_TEMPERATURE, UNIT_KEY_HIGH, UNIT_KEY_LOW
from gpusearch.search.driver import CpuDriver
from gpusearch.search.hastings import make_hastings
from gpusearch.search.state import lane_hash, make_state
from gpusearch.search.tempering import LEAST_REJECTION, Ladder, TemperingDriver, spread_evenly
from tests.paths import Case
from tests.tiny import TINY

DOCUMENTS = [["la maison bleue une maison", "", "une maison"], ["le chat la maison"]]
CASE = Case(45, metropolis=True, ladders=True, temperatures=(10.0, 50.0, 250.0), chains=6, units="sentence", steps=90)


def make_driver(case: Case, ladder: Ladder | None = None) -> TemperingDriver:
    problem, search, values = case.problem()
    search = search._replace(hastings=make_hastings(problem, search))
    units = np.repeat(np.arange(len(problem.unit)), case.chains)
    state = make_state(problem, units, np.tile(np.arange(case.chains), len(problem.unit)), values)
    state.limit[:, LIMIT_STEPS] = state.limit[:, LIMIT_PAUSE] = case.steps
    return TemperingDriver(CpuDriver(problem, search, state, 1), problem, ladder or case.ladder(len(problem.unit)))


def test_exchanges_are_those_of_the_rule() -> None:
    """Every 7 steps, even and odd pairs by turns, by a u of the step, the ladder's first chain and the pair."""
    one = np.ones(3, np.int64)
    nats = np.array([30.0, 60.0, 250.0])
    driver = make_driver(CASE, Ladder(nats, 7 * one, 0 * one, 1000 * one))
    state, problem = driver.state, driver._problem
    lanes = np.arange(len(state.unit))
    driver.start(lanes)
    level = np.tile([0, 1, 2], len(lanes) // 3)
    exchanged = 0
    for step in range(1, 91):
        state.limit[:, LIMIT_PAUSE] = step
        driver.run(lanes, lambda: None)
        assert (state.limit[:, LIMIT_PAUSE] == step).all()
        if step % 7 == 0:
            for first in range(0, len(lanes), 3):
                key = problem.unit[state.unit[first], [UNIT_KEY_LOW, UNIT_KEY_HIGH]].tolist()
                for pair in range((step // 7) % 2, 2, 2):
                    high, low, _, _ = philox(step, 0, int(state.chain[first]), SWAP + pair, *key)
                    cold, hot = (
                        first + int(np.flatnonzero(level[first : first + 3] == k)[0]) for k in (pair, pair + 1)
                    )
                    gain = (1 / nats[pair] - 1 / nats[pair + 1]) * (state.score[hot] - state.score[cold]) / 2**40
                    if log((high * 2**32 + low + 0.5) / 2**64) < gain:
                        level[cold], level[hot] = pair + 1, pair
                        exchanged += 1
        assert np.array_equal(driver.level, level)
    assert exchanged == driver.swaps[1].sum() > 10
    assert driver.swaps[0].tolist() == [len(lanes) // 3 * 6, len(lanes) // 3 * 6]
    driver.close()


def test_lanes_have_the_temperature_of_their_level_and_climb_at_the_end() -> None:
    one = np.ones(3, np.int64)
    driver = make_driver(CASE, Ladder(np.array([10.0, 50.0, 250.0]), 7 * one, 0 * one, 60 * one))
    lanes = np.arange(len(driver.state.unit))
    driver.start(lanes)
    for step in (6, 60, 90):
        level = driver.level.copy()
        driver.state.limit[:, LIMIT_PAUSE] = step
        driver.run(lanes, lambda: None)
        given_last = driver.state.limit[:, LIMIT_TEMPERATURE] / 2**28
        if step == 6:
            assert given_last.tolist() == np.array([10.0, 50.0, 250.0])[level].tolist()
    assert (given_last == 0).all() and np.array_equal(level, driver.level)
    driver.close()


def test_pauses_and_other_ladders_change_nothing() -> None:
    """Whatever else is in the batch, and wherever it pauses: temperatures too, while they move."""
    whole = make_driver(CASE)
    lanes = np.arange(len(whole.state.unit))
    whole.start(lanes)
    whole.run(lanes, lambda: None)
    other = make_driver(CASE)
    half = lanes.reshape(-1, 2, 3)[:, 1].reshape(-1)
    other.start(half)
    for pause in (3, 7, 20, 21, 90):
        other.state.limit[:, LIMIT_PAUSE] = pause
        other.run(half[::-1], lambda: None)
    for lane in half.tolist():
        assert lane_hash(whole._problem, whole.state, lane) == lane_hash(other._problem, other.state, lane)
    assert np.array_equal(whole.level[half], other.level[half])
    assert np.array_equal(whole.temperature[half[::3]], other.temperature[half[::3]])
    whole.close()
    other.close()


@given(st.lists(st.floats(LEAST_REJECTION, 1.0), min_size=1, max_size=9))
def test_temperatures_spread(rejected: list[float]) -> None:
    """Ends stay; in between they rise, and each gap has an equal part of the rejections, even in 1 / T in a gap."""
    nats = np.geomspace(0.1, 3.0, len(rejected) + 1)
    found = spread_evenly(nats, np.array(rejected))
    assert found[0] == nats[0] and found[-1] == nats[-1] and (np.diff(found) > 0).all()
    passed = np.interp(1 / found[::-1], 1 / nats[::-1], np.cumsum([0.0, *rejected])[::-1])[::-1]
    assert np.diff(passed) == pytest.approx(sum(rejected) / len(rejected), rel=1e-6)


def test_temperatures_move_in_the_burn_in_only() -> None:
    case = Case(47, metropolis=True, temperatures=(1.0, 2.0, 250.0), ladders=True, sentences=(6,), chains=3, steps=4000)
    one = np.ones(1, np.int64)
    driver = make_driver(case, Ladder(np.array(case.temperatures), 10 * one, 2000 * one, 4000 * one))
    lanes = np.arange(3)
    driver.start(lanes)
    seen = []
    for pause in (150, 160, 320, 1270, 1280, 1290, 4000):
        driver.state.limit[:, LIMIT_PAUSE] = pause
        driver.run(lanes, lambda: None)
        seen.append(driver.temperature[0].tolist())
    first, moved, again, before, last, after, end = seen
    assert first == [1.0, 2.0, 250.0] and moved != first and again != moved and before != last
    assert last == after == end and last[1] > 2.0
    driver.close()


@pytest.mark.parametrize("policy", ["metropolis", "tempering"])
def test_it_finds_what_the_beam_finds(policy: str) -> None:
    """On sentences whose stacks hold everything; whatever the number of threads and lanes."""
    decoder = gpusearch.load(TINY, ["search.tempering.levels=4", "search.metropolis.temperature=0.3"])
    beam = decoder.decode(DOCUMENTS, method="beam")
    for settings in ({"threads": 1}, {"threads": 2, "max_lanes": 5}):
        found = decoder.decode(DOCUMENTS, policy=policy, chains=8, steps_per_word=200, trace=True, **settings)
        assert found.texts == beam.texts and found.score == pytest.approx(beam.score)
        assert f"|policy:{policy}|" in found.signature and f"{policy}.climb:0.1" in found.signature
        assert [len(swaps) for swaps in found.result.swaps] == [2] * (policy == "tempering")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["search.chains=12"], "multiple of search.tempering.levels"),
        (["search.max_rejected=5"], "end together"),
        (["search.operations.linearise=1"], "without an inverse"),
        (["search.operations.move=1", "search.operations.move_right=1"], "move blocks back"),
        (["search.tempering.hot=0.01"], "is not above cold"),
        (['search.initial="saved"', 'search.initial_file="x"'], "has no temperatures"),
    ],
)
def test_settings_that_make_no_ladders(settings: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_config(TINY, ['search.policy="tempering"', *settings])


def test_a_ladder_that_finds_no_room() -> None:
    with pytest.raises(InputError, match="no room for them"):
        gpusearch.load(TINY).decode([["la maison"]], policy="tempering", chains=8, max_lanes=3)
