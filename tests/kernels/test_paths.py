"""Equal paths: the interpreter, the CPU, the CUDA simulator and CUDA come to the same states, bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path

import pytest

from gpusearch.search.state import UNLIMITED
from tests.driver_checks import CHECKS
from tests.feature_forms import ALL, ALONG, ALONG_FORMS, FORMS, NGRAMS, SWEPT, USERS
from tests.known_answers import PHILOX
from tests.paths import Case, InterpretedDriver, cpu, final_hashes
from tests.slow import slow_where

CASES = {
    "document": Case(1, chains=3),
    "sentences": Case(2, units="sentence", sentences=(5, 1, 0, 4, 9), chains=2),
    "three language models": Case(3, orders=(5, 1, 2), weights=(1 << 19, -(1 << 19), 1 << 18)),
    "unknown words only": Case(4, words=(2,), sentences=(6,), chains=2),
    "one word": Case(5, sentences=(1,), chains=1, steps=40),
    "rejection limit": Case(6, max_rejected=7, steps=100, chains=4),
    "pauses inside a window": Case(7, pauses=(1, 2, 9, 33, 34), steps=70, chains=3),
    "a score that is enough": Case(8, enough=-(1 << 47), chains=4),
    "no step": Case(9, steps=0),
    "reordering": Case(13, reordering=1, chains=3),
    "two reordering models": Case(14, orders=(5, 1), weights=(1 << 19, -(1 << 19)), reordering=2, units="sentence"),
    "as Docent draws": Case(10, sentences=(7, 1, 0, 4), chains=3, docent_draws=100),
    "as Docent draws, given up": Case(12, sentences=(4, 1, 2), chains=4, docent_draws=2),
    "as Docent draws, nothing": Case(11, sentences=(1,), docent_draws=100),
}
GIBBS_CASES = {
    "Gibbs, sequential scan": Case(21, gibbs="sequential", sentences=(4, 0, 2, 1), chains=1, steps=40),
    "Gibbs, random scan": Case(22, gibbs="random", sentences=(5, 2), reordering=1, chains=1, steps=30, pauses=(7, 8)),
    "Gibbs, two models": Case(
        23,
        gibbs="random",
        orders=(5, 2),
        weights=(1 << 19, -(1 << 18)),
        sentences=(4, 2),
        units="sentence",
        chains=1,
        steps=30,
    ),
    "Gibbs, annealed": Case(
        24, gibbs="sequential", scales=(2**-8, 2**-4, 1.0, 64.0), sentences=(4,), chains=1, steps=40
    ),
    "Gibbs, one word": Case(25, gibbs="sequential", sentences=(1,), chains=1, steps=10),
}
CASES |= GIBBS_CASES
CASES |= {
    "sweep": Case(31, sweep=True, sentences=(4, 0, 2), reordering=1, chains=1, steps=50, pauses=(1, 20)),
    "sweep, certified": Case(32, sweep=True, sentences=(3, 1), reordering=1, units="sentence", chains=1, steps=400),
}
CASES |= {
    "annealing": Case(41, temperatures=(300.0, 100.0, 30.0, 10.0, 3.0, 0.0), chains=3, steps=70),
    "annealing, pauses and limits": Case(
        42, temperatures=(200.0, 50.0, 200.0), units="sentence", max_rejected=9, pauses=(1, 22, 24), steps=66
    ),
}
FEATURE_CASES = {
    "features": Case(31, features=ALL, sentences=(7, 1, 0, 4, 3), chains=3),
    "features, sentences": Case(32, features=FORMS[1], units="sentence", sentences=(5, 1, 0, 4)),
    "features, words": Case(34, features=FORMS[2], sentences=(9, 2, 3), chains=1),
    "features as in Docent": Case(35, features=FORMS[3], sentences=(3, 8, 0, 2), chains=1),
}
# Kernels of their own, which take minutes to be compiled: interpreted, in the simulator, on the CPU under --full.
RARE_FEATURES = {
    "features, Gibbs": Case(33, features=ALL, gibbs="random", sentences=(4, 0, 2), chains=1, steps=30),
    "features along": Case(36, features=ALONG, sentences=(4, 0, 2, 1, 5, 0, 3)),
    "features along, sentences": Case(37, features=ALONG_FORMS[1], units="sentence", sentences=(5, 0, 4), chains=1),
    "features along, inside": Case(38, features=ALONG_FORMS[3], sentences=(3, 2, 6), chains=1),
    "features along, pairs": Case(39, features=ALONG_FORMS[2], sentences=(4, 0, 3, 5), chains=1),
    "features, sweep": Case(48, sweep=True, features=SWEPT, sentences=(3, 0, 2), chains=1, steps=100, pauses=(30,)),
    "features, n-grams": Case(46, features=NGRAMS[0], sentences=(7, 1, 0, 4, 3)),
    "features, n-grams of sentences": Case(47, features=NGRAMS[0], units="sentence", sentences=(8, 0, 5), chains=1),
    "features, n-grams, hard": Case(49, features=NGRAMS[1], sentences=(6, 0, 4), chains=1),
    "features, tempering": Case(
        50, features=ALL, metropolis=True, ladders=True, temperatures=(20.0, 250.0), sentences=(5, 0, 3), steps=80
    ),
}
CASES |= FEATURE_CASES | RARE_FEATURES
# These are not worth a compilation of their own.
SIMULATED_FEATURES = {
    "features, annealing": Case(51, features=FORMS[2], temperatures=(200.0, 20.0, 0.0), sentences=(5, 0, 4), chains=1),
    "features as Docent draws": Case(52, features=ALL, docent_draws=100, sentences=(6, 1, 0, 4), chains=1),
}
OF_USERS = Case(53, features=USERS, sentences=(7, 1, 0, 4, 3))
METROPOLIS_CASES = {
    "metropolis": Case(43, metropolis=True, temperatures=(200.0,), chains=3, steps=70),
    "metropolis, two models": Case(
        44, metropolis=True, orders=(5, 2), weights=(1 << 19, -(1 << 18)), temperatures=(100.0, 0.0), pauses=(5,)
    ),
    "tempering": Case(
        45, metropolis=True, ladders=True, temperatures=(10.0, 50.0, 250.0), chains=6, units="sentence", steps=90
    ),
    "tempering, pauses": Case(
        46, metropolis=True, ladders=True, temperatures=(20.0, 250.0), sentences=(5, 3), pauses=(7, 20, 66), steps=80
    ),
}
CASES |= METROPOLIS_CASES
WIDTHS = (1, 5, 32, 128)
# Wide blocks are slow in the simulator.
NARROW = 32
WIDE_CASES = ("document", "rejection limit", "pauses inside a window", "as Docent draws, given up")
Repetitions = Callable[[int], int]


@cache
def reference(case: Case) -> list[str]:
    return final_hashes(case, InterpretedDriver)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", slow_where(lambda name: name in RARE_FEATURES, CASES))
def test_cpu_is_the_interpreter_with_any_number_of_threads(name: str, threads: int) -> None:
    assert final_hashes(CASES[name], cpu(threads)) == reference(CASES[name])


def test_cpu_is_the_interpreter_on_many_problems(repetitions: Repetitions) -> None:
    for seed in range(repetitions(500)):
        case = Case.random(seed)
        assert final_hashes(case, cpu(1)) == reference(case), case


def test_paths_do_not_depend_on_the_rest_of_the_batch(repetitions: Repetitions) -> None:
    """Each unit as a problem of its own; rows with room to spare; more chains beside it; with and without pauses."""
    for seed in range(repetitions(200)):
        case = replace(Case.random(seed), chains=2)
        expected = final_hashes(case, cpu(1))
        assert final_hashes(case, cpu(1), alone=True) == expected, case
        assert final_hashes(case, cpu(1), padding=(3, 11)) == expected, case
        assert final_hashes(replace(case, pauses=(1, 13)), cpu(1)) == expected, case
        more = final_hashes(replace(case, chains=5), cpu(2))
        assert [more[lane] for lane in range(len(more)) if lane % 5 < 2] == expected, case


@pytest.mark.parametrize("name", FEATURE_CASES | RARE_FEATURES | SIMULATED_FEATURES)
def test_features_of_a_unit_do_not_depend_on_others(name: str) -> None:
    """Interpreted: each unit as a problem of its own."""
    case = (CASES | SIMULATED_FEATURES)[name]
    assert final_hashes(case, InterpretedDriver, alone=True) == reference(case)


@pytest.mark.slow
@pytest.mark.usefixtures("of_users")
def test_features_of_users_have_equal_paths() -> None:
    """Compiled features of users, beside small ones that are built in."""
    expected = reference(OF_USERS)
    for threads in (1, 2, 4):
        assert final_hashes(OF_USERS, cpu(threads)) == expected
    alone = replace(OF_USERS, units="sentence")
    assert final_hashes(alone, cpu(1), alone=True) == reference(alone)


@pytest.mark.parametrize("name", slow_where(lambda name: name in RARE_FEATURES, [*GIBBS_CASES, "features, Gibbs"]))
def test_bounds_change_no_draw(name: str) -> None:
    """Every candidate weighed exactly comes to the same states as those that are given up by their bounds."""
    case = replace(CASES[name], steps=2000)
    assert final_hashes(replace(case, bounded=False), cpu(1)) == final_hashes(case, cpu(1))


def test_bounds_change_no_draw_with_features_interpreted() -> None:
    case = RARE_FEATURES["features, Gibbs"]
    assert final_hashes(replace(case, bounded=False), InterpretedDriver) == reference(case)


def random_gibbs(seed: int) -> Case:
    """One of many cases of the Gibbs sampler."""
    return replace(Case.random(seed), gibbs=("random", "sequential")[seed % 2], enough=UNLIMITED)


def random_metropolis(seed: int) -> Case:
    """One of many cases of metropolis; every other one with chains that exchange temperatures."""
    hot = (200.0, 20.0)[seed % 2]
    case = replace(Case.random(seed), reordering=0, temperatures=(hot / 10, hot), metropolis=True)
    if seed % 4 > 1:
        return replace(case, ladders=True, enough=UNLIMITED, max_rejected=UNLIMITED, chains=4)
    return case


def test_samplers_on_many_problems(repetitions: Repetitions) -> None:
    """Interpreted, compiled, without bounds, each unit by itself."""
    for seed in range(repetitions(200)):
        case = random_gibbs(seed)
        expected = reference(case)
        assert final_hashes(case, cpu(1)) == expected, case
        assert final_hashes(replace(case, bounded=False), cpu(1)) == expected, case
        assert final_hashes(case, cpu(1), alone=True) == expected, case


def test_annealing_on_many_problems(repetitions: Repetitions) -> None:
    """Interpreted and compiled, each unit by itself; where it is hot, much is accepted that lowers the score."""
    for seed in range(repetitions(200)):
        hot = (1e9, 200.0, 20.0)[seed % 3]
        case = replace(Case.random(seed), reordering=0, temperatures=(hot, hot / 10, 0.0)[: 1 + seed % 4])
        expected = reference(case)
        assert final_hashes(case, cpu(1)) == expected, case
        assert final_hashes(case, cpu(1), alone=True) == expected, case


def test_metropolis_on_many_problems(repetitions: Repetitions) -> None:
    """As for annealing."""
    for seed in range(repetitions(200)):
        case = random_metropolis(seed)
        expected = reference(case)
        assert final_hashes(case, cpu(1)) == expected, case
        assert final_hashes(case, cpu(1), alone=True) == expected, case


def test_annealing_at_temperature_0_is_hill_climbing() -> None:
    for seed in range(30):
        case = replace(Case.random(seed), reordering=0)
        assert final_hashes(replace(case, temperatures=(0.0,)), cpu(1)) == final_hashes(case, cpu(1)), case


def test_chains_and_units_differ() -> None:
    """Else the comparisons above would say little."""
    hashes = final_hashes(replace(CASES["sentences"], chains=8), cpu(1))
    assert len(set(hashes)) > len(hashes) // 2


@pytest.mark.parametrize("name", CHECKS)
def test_driver_of_the_cpu(name: str) -> None:
    CHECKS[name](cpu(2))


@pytest.fixture(scope="module")
def simulator(repository: Path, repetitions: Repetitions, full: bool) -> dict:
    """All that runs in the simulator, in one process of its own."""
    slow = RARE_FEATURES | SIMULATED_FEATURES
    tasks = [
        (case if full or width <= NARROW else replace(case, chains=1), width)
        for name, case in (CASES | SIMULATED_FEATURES).items()
        for width in WIDTHS
        if full or (width == 5 if name in slow else width <= NARROW or name in WIDE_CASES)
    ]
    tasks += [(Case.random(seed), (1, 3, 8, 32, None)[seed % 5]) for seed in range(repetitions(300))]
    unlimited = {"enough": UNLIMITED, "max_rejected": UNLIMITED}
    samplers = [replace(random_metropolis(seed), **unlimited) for seed in range(repetitions(40))]
    samplers += [replace(random_gibbs(seed), steps=12, pauses=(5,), **unlimited) for seed in range(repetitions(100))]
    tasks += [(case, width) for case in samplers for width in (1, NARROW)]
    tasks.append((OF_USERS, 5))
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulator_runner"],
        input=json.dumps([(asdict(case), width) for case, width in tasks]),
        capture_output=True,
        text=True,
        cwd=repository,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) | {"tasks": tasks}


@pytest.mark.timeout(3000)  # with every repetition, on a busy machine
def test_simulator_is_the_interpreter_at_any_speculation_width(simulator: dict) -> None:
    for (case, width), hashes in zip(simulator["tasks"][:-1], simulator["hashes"][:-1], strict=True):
        assert hashes == reference(case), (width, case)


@pytest.mark.usefixtures("of_users")
def test_features_of_users_in_the_simulator(simulator: dict) -> None:
    assert simulator["tasks"][-1][0] == OF_USERS
    assert simulator["hashes"][-1] == reference(OF_USERS)


def test_driver_of_cuda_in_the_simulator(simulator: dict) -> None:
    assert simulator["faults"] == dict.fromkeys(CHECKS, "")


def test_known_answers_of_philox_in_the_simulator(simulator: dict) -> None:
    assert [tuple(answer) for answer in simulator["philox"]] == [answer for _, _, answer in PHILOX]


@pytest.mark.gpu
@pytest.mark.parametrize("width", [*WIDTHS, None])
def test_cuda_is_the_interpreter_at_any_speculation_width(width: int | None) -> None:
    from gpusearch.search.cuda import CudaDriver

    for case in (*CASES.values(), *(Case.random(seed) for seed in range(40))):
        assert final_hashes(case, partial(CudaDriver, speculation=width)) == reference(case), case


@pytest.mark.gpu
@pytest.mark.usefixtures("of_users")
def test_cuda_is_the_interpreter_with_features_of_users() -> None:
    from gpusearch.search.cuda import CudaDriver

    assert final_hashes(OF_USERS, CudaDriver) == reference(OF_USERS)


@pytest.mark.gpu
def test_cuda_is_the_interpreter_with_fewer_registers() -> None:
    from gpusearch.search.cuda import CudaDriver

    case = CASES["three language models"]
    assert final_hashes(case, partial(CudaDriver, registers=64)) == reference(case)


@pytest.mark.gpu
@pytest.mark.parametrize("name", CHECKS)
def test_driver_of_cuda(name: str) -> None:
    from gpusearch.search.cuda import CudaDriver

    CHECKS[name](CudaDriver)
