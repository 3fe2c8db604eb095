"""`decode --method gibbs`: annealed chains end in their best state, and find the best derivations of few words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import gpusearch
from gpusearch.config import load_config
from gpusearch.errors import InputError
from gpusearch.kernels.gibbs import temperature_of
from gpusearch.kernels.records import LIMIT_PAUSE, LIMIT_STEPS, TEMPERATURE_BITS, State
from gpusearch.search.annealed import TEMPERATURES, BestDriver, annealing_scales
from gpusearch.search.driver import CpuDriver
from gpusearch.search.gibbs import iteration_steps
from gpusearch.search.limits import Limits
from gpusearch.search.state import UNLIMITED, lane_hash, make_state
from gpusearch.search.temperature import geometric
from tests.paths import Case
from tests.tiny import TINY

DOCUMENTS = [["la maison bleue une maison", "", "une maison"], ["le chat la maison"]]
CASE = Case(31, gibbs="random", sentences=(6, 3), units="sentence", scales=(2**-8, 2**-6), chains=4)
ITERATIONS = 12


def run(pauses: tuple[int, ...], *, stop_after: int | None = None) -> tuple[State, BestDriver, list[NDArray[np.int64]]]:
    """Four chains on two units; the scores of all lanes after each call of the inner driver."""
    problem, search, values = CASE.problem()
    state = make_state(problem, np.repeat([0, 1], 4), np.tile(np.arange(4), 2), values)
    assert search.gibbs
    steps = iteration_steps(problem, search.gibbs)
    unlimited = np.full(2, UNLIMITED)
    limits = Limits(steps * ITERATIONS, unlimited, unlimited, problem.unit[:, 2], problem.unit[:, 2])
    for lane in range(8):
        limits.set(state, lane, int(state.unit[lane]))
    inner = CpuDriver(problem, search, state, 1)
    seen: list[NDArray[np.int64]] = []

    plain_run = inner.run

    def noted_run(lanes: NDArray[np.int64], tick: object, enough: int | None = None) -> None:
        plain_run(lanes, tick, enough)  # type: ignore[arg-type]  # it is a function
        seen.append(state.score.copy())
        if stop_after is not None and len(seen) == stop_after:
            raise KeyboardInterrupt

    inner.run = noted_run  # type: ignore[method-assign, assignment]  # to look at what happens in between
    driver = BestDriver(inner, problem, search, limits)
    lanes = np.arange(8)
    driver.start(lanes)
    seen.append(state.score.copy())
    try:
        for share in (*pauses, 1 << 40):
            state.limit[:, LIMIT_PAUSE] = np.minimum(share, state.limit[:, LIMIT_STEPS])
            driver.run(lanes, lambda: None)
    except KeyboardInterrupt:
        pass
    return state, driver, seen


def test_chains_end_in_their_best_state() -> None:
    """The greatest score at the end of any iteration, with the phrases that have it."""
    state, driver, seen = run(())
    assert len(seen) == ITERATIONS + 1
    assert state.score.tolist() == np.max(seen, axis=0).tolist()
    assert (np.max(seen, axis=0) > seen[-1]).any()
    before = state.score.copy()
    driver.refresh(np.arange(8))
    assert np.array_equal(state.score, before)
    driver.close()


def test_an_interrupt_leaves_the_best_so_far() -> None:
    state, driver, seen = run((), stop_after=4)
    assert state.score.tolist() == np.max(seen, axis=0).tolist()
    driver.close()


def test_pauses_change_nothing() -> None:
    """Not even within an iteration."""
    problem, _, _ = CASE.problem()
    state, driver, seen = run((3, 40, 41))
    assert len(seen) > ITERATIONS + 1
    other, other_driver, _ = run(())
    for lane in range(8):
        assert lane_hash(problem, state, lane) == lane_hash(problem, other, lane)
    driver.close()
    other_driver.close()


def test_temperatures_fall_geometrically() -> None:
    decoder = gpusearch.load(TINY, ["sample.anneal_first=2.0", "sample.anneal_last=0.5"])
    scales = annealing_scales(decoder.config, decoder.model)
    assert len(scales) == TEMPERATURES
    assert scales[0] == pytest.approx(1 / decoder.model.temperature(2.0))
    assert scales[-1] == pytest.approx(1 / decoder.model.temperature(0.5))
    assert np.diff(np.log(scales)) == pytest.approx(np.log(4) / (TEMPERATURES - 1))
    nats = [decoder.model.temperature(relative) for relative in geometric(2.0, 0.5, TEMPERATURES)]
    assert scales.tolist() == [1 / value for value in nats]  # to the last bit, from decimals


def test_the_temperature_follows_the_share_of_the_steps() -> None:
    """Each temperature has its share, give or take a step, and the last step the last one, however few there are for
    each; where there are fewer steps than temperatures, they are passed through evenly."""
    scales = tuple(2.0**-k for k in range(7))
    problem, search, values = replace(CASE, scales=scales).problem()
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values)
    for steps in (1, 3, 7, 8, 13, 30, 300):
        state.limit[0, LIMIT_STEPS] = steps
        found = [temperature_of(search, state, 0, step) >> TEMPERATURE_BITS for step in range(steps)]
        assert found == [1 << 7 * step // steps for step in range(steps)]
        assert steps < 7 or found[-1] == 1 << 6
        assert steps < 7 or np.ptp(np.unique(found, return_counts=True)[1]) <= 1


def test_it_finds_what_the_beam_finds() -> None:
    """On sentences whose stacks hold everything; whatever the number of threads and lanes."""
    decoder = gpusearch.load(TINY)
    beam = decoder.decode(DOCUMENTS, method="beam")
    for settings in ({"threads": 1}, {"threads": 2, "max_lanes": 3}):
        found = decoder.decode(DOCUMENTS, method="gibbs", chains=8, steps_per_word=400, **settings)
        assert found.texts == beam.texts and found.score == pytest.approx(beam.score)
        assert "method:gibbs" in found.signature and "policy" not in found.signature
        assert found.result.tally[4:].sum() == 0


def test_docent_draws_no_blocks() -> None:
    with pytest.raises(InputError, match="draws proposals"):
        load_config(TINY, ['search.compat="docent"', 'search.method="gibbs"'])
