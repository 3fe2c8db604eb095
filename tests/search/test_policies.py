"""Search policies: schedules of temperatures, and searches that find what there is to find."""

from __future__ import annotations

from itertools import pairwise
from math import log

import numpy as np
import pytest

import gpusearch
from gpusearch.config import SearchConfig, load_config
from gpusearch.config.policies import AnnealingConfig
from gpusearch.errors import InputError
from gpusearch.kernels import reference
from gpusearch.kernels.fixed import minus_log_long
from gpusearch.kernels.philox import ACCEPTANCE, MASK, RATIO, philox
from gpusearch.kernels.policies import temperature_of, threshold_of_step
from gpusearch.kernels.records import LIMIT_STEPS, TEMPERATURE_BITS, UNIT_KEY_HIGH, UNIT_KEY_LOW
from gpusearch.kernels.target import exact
from gpusearch.search.hastings import make_hastings
from gpusearch.search.policies import annealing_temperatures
from gpusearch.search.state import make_scratch, make_state
from gpusearch.search.temperature import HOTTEST, temperature_levels
from tests.paths import Case
from tests.tiny import TINY

DOCUMENTS = [["la maison bleue une maison", "", "une maison"], ["le chat la maison"]]


def temperatures(**settings: object) -> list[float]:
    return annealing_temperatures(AnnealingConfig(**settings))  # type: ignore[arg-type]  # checked by pydantic


def test_geometric_and_linear_schedules() -> None:
    geometric = temperatures(start=2.0, end=0.5, levels=5, climb=0.0)
    assert geometric == pytest.approx([2, 2**0.5, 1, 2**-0.5, 0.5], rel=1e-15)
    assert temperatures(schedule="linear", start=2.0, end=0.5, levels=4, climb=0.0) == [2.0, 1.5, 1.0, 0.5]
    assert temperatures(start=0.3, end=0.3, levels=1, climb=0.0) == pytest.approx([0.3])
    assert temperatures(start=0.0, end=0.0, levels=3, climb=0.0) == [0, 0, 0]


def test_the_schedule_of_aarts_and_van_laarhoven() -> None:
    """T / (1 + T ln(1 + delta) / (3 sigma)), sigma the unit of temperatures."""
    found = temperatures(schedule="aarts-laarhoven", start=3.0, end=0.1, delta=0.5, climb=0.0)
    assert found[0] == 3.0 and found[-1] == pytest.approx(0.1)
    for now, after in pairwise(found[:-1]):
        assert after == pytest.approx(now / (1 + now * log(1.5) / 3))
    assert found[-2] > 0.1 >= found[-2] / (1 + found[-2] * log(1.5) / 3)


def test_a_share_of_the_steps_climbs() -> None:
    found = temperatures(levels=9, climb=0.1)
    assert len(found) == 10 and found[-1] == 0 and found[-2] == pytest.approx(0.05)
    assert temperatures(levels=4, climb=0.5)[-4:] == [0, 0, 0, 0]


def test_temperatures_are_those_of_the_model_in_integers() -> None:
    levels = temperature_levels([0.5, 1e9, 0.0]).level
    assert levels.tolist() == [1 << (TEMPERATURE_BITS - 1), int(HOTTEST) << TEMPERATURE_BITS, 0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["search.annealing.end=0.9"], "annealing cools"),
        (["search.annealing.end=0"], "never comes to end = 0"),
        (['search.annealing.schedule="aarts-laarhoven"', "search.annealing.delta=0.01"], "take a larger delta"),
        (['search.policy="annealing"', "search.steps=4503599627370496"], '"annealing" shares .*less than 2\\^52'),
        (['search.method="gibbs"', "search.steps=4503599627370496"], '"gibbs" shares .*less than 2\\^52'),
    ],
)
def test_settings_that_make_no_schedule(settings: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_config(TINY, settings)


def test_searches_without_temperatures_take_any_number_of_steps() -> None:
    for settings in (['search.policy="sweep"'], ['search.method="beam"'], []):
        assert load_config(TINY, ["search.steps=4503599627370496", *settings]).search.steps == 1 << 52


@pytest.mark.parametrize("schedule", ["geometric", "linear", "aarts-laarhoven"])
def test_annealing_finds_what_the_beam_finds(schedule: str) -> None:
    """On sentences whose stacks hold everything; whatever the number of threads and lanes."""
    decoder = gpusearch.load(TINY, [f"search.annealing.schedule={schedule}", "search.annealing.delta=0.3"])
    beam = decoder.decode(DOCUMENTS, method="beam")
    for settings in ({"threads": 1}, {"threads": 2, "max_lanes": 3}):
        found = decoder.decode(DOCUMENTS, policy="annealing", chains=8, steps_per_word=200, **settings)
        assert found.texts == beam.texts and found.score == pytest.approx(beam.score)
        assert "|policy:annealing|" in found.signature and f"annealing.schedule:{schedule}" in found.signature
        assert "temperature:0.434..0.031nat" in found.signature


def test_the_temperature_follows_the_share_of_the_steps() -> None:
    """A unit of few words has as many levels as one of many: a chain of 10 steps passes through 5 levels of 2 each."""
    problem, search, values = Case(1, temperatures=(5.0, 4.0, 3.0, 2.0, 0.0)).problem()
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values)
    for steps in (10, 3, 1):
        state.limit[0, LIMIT_STEPS] = steps
        found = [temperature_of(search.temperature, state, 0, step) >> TEMPERATURE_BITS for step in range(steps)]
        assert found == [[5, 4, 3, 2, 0][5 * step // steps] for step in range(steps)]


def test_thresholds_equal_the_readable_twin() -> None:
    """Of every step: its u, of its own counter; below 0 where nothing but the temperature counts."""
    problem, search, values = Case(1, temperatures=(7.5,)).problem()
    state = make_state(problem, np.zeros(1, int), np.full(1, 5), values)
    state.limit[0, LIMIT_STEPS] = 1 << 40
    scratch = make_scratch(problem)
    records = [exact(record) for record in (problem, search, state, scratch)]
    key = problem.unit[0, [UNIT_KEY_LOW, UNIT_KEY_HIGH]].tolist()
    for step in (0, 1, 77, (1 << 32) + 3):
        high, low, _, _ = philox(step & MASK, step >> 32, 5, ACCEPTANCE, *key)
        expected = reference.threshold(15 << 27, minus_log_long(exact(search.logarithm), high, low))
        assert threshold_of_step(records[1].temperature, *records, 0, step) == expected < 0
    with_ratio = search._replace(hastings=make_hastings(problem, search))
    scratch.random[RATIO] = 3 << 40
    found = threshold_of_step(records[1].temperature, records[0], exact(with_ratio), *records[2:], 0, step)
    assert found == reference.threshold(15 << 27, minus_log_long(exact(search.logarithm), high, low), 3 << 40)


def test_the_best_settings_of_hill_climbing_are_as_they_were() -> None:
    assert SearchConfig().policy == "hill-climbing"
