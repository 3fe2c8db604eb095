"""One search on every target: what the battery of equal paths and the golden hashes run.

Needs no more than numpy, torch and numba, like ``random_problem.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.commit import refresh
from gpusearch.kernels.gibbs import take_step
from gpusearch.kernels.records import (
    LIMIT_PAUSE,
    LIMIT_REJECTED,
    LIMIT_SCORE,
    LIMIT_STEPS,
    LONGEST,
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_OPTION,
    SENTENCE_SPAN,
    UNIT_FIRST_SENTENCE,
    UNIT_FIRST_WORD,
    UNIT_SENTENCES,
    UNIT_WORDS,
    Docent,
    Problem,
    Search,
    State,
)
from gpusearch.kernels.step import resting, start_monotone
from gpusearch.kernels.sweep import sweep
from gpusearch.kernels.target import exact
from gpusearch.search.driver import CpuDriver, Driver, Lanes
from gpusearch.search.gibbs import make_gibbs
from gpusearch.search.hastings import make_hastings
from gpusearch.search.state import UNLIMITED, lane_hash, make_scratch, make_state
from gpusearch.search.temperature import temperature_levels
from gpusearch.search.tempering import Ladder, TemperingDriver
from tests.random_language import random_language
from tests.random_problem import PlainSettings, random_problem, random_settings

MakeDriver = Callable[[Problem, Search, State], Driver]


@dataclass(frozen=True)
class Case:
    """A random search. Every unit is run by chains 0, 1, ...; `pauses` are steps at which all rest for a moment."""

    seed: int
    orders: tuple[int, ...] = (3,)
    weights: tuple[int, ...] = (1 << 19,)
    sentences: tuple[int, ...] = (7, 1, 0, 4)
    units: str = "document"
    words: tuple[int, ...] | None = None
    lengths: tuple[int, ...] = (0, 1, 1, 2, 2, 3, 5)
    chains: int = 2
    steps: int = 60
    max_rejected: int = UNLIMITED
    enough: int = UNLIMITED
    pauses: tuple[int, ...] = ()
    reordering: int = 0
    """Number of lexicalised reordering models."""
    gibbs: str = ""
    """``random`` or ``sequential``: the Gibbs sampler with this scan instead of hill climbing."""
    scales: tuple[float, ...] = (2**-8,)
    """Of the sampler: scores of random problems are hundreds of nats apart."""
    bounded: bool = True
    """Whether the sampler uses bounds."""
    sweep: bool = False
    """All neighbours are looked at, instead of random proposals."""
    temperatures: tuple[float, ...] = ()
    """Of annealing, nats: scores of random problems are hundreds apart; none: hill climbing."""
    features: tuple[str, ...] = ()
    """Features of the document, as `random_features` writes them."""
    metropolis: bool = False
    """Whether thresholds have the ratio of the draw and its inverse."""
    ladders: bool = False
    """Whether chains exchange the temperatures, one each; their number is a multiple of that of the temperatures."""
    docent_draws: int = 0
    """Where it is not 0: proposals are Docent's, and a chain is given up after so many draws that come to nothing."""

    @classmethod
    def random(cls, seed: int) -> Case:
        """One of many: 1 to 3 models of orders 1 to 5, any limits, pauses anywhere."""
        rng = np.random.default_rng((seed, 2))
        models = int(rng.integers(1, 4))
        steps = int(rng.integers(1, 80))
        return cls(
            seed,
            orders=tuple(rng.integers(1, 6, models).tolist()),
            weights=tuple(rng.integers(-(1 << 20), 1 << 20, models).tolist()),
            sentences=tuple(rng.choice([0, 1, 1, 2, 3, 5, 8], int(rng.integers(1, 5))).tolist()),
            units=("document", "sentence")[rng.integers(2)],
            words=(2,) if rng.random() < 0.1 else None,
            steps=steps,
            max_rejected=int(rng.choice([1, 3, 10, UNLIMITED])),
            enough=int(rng.choice([-(1 << 48), 0, UNLIMITED, UNLIMITED])),
            pauses=tuple(sorted(rng.integers(0, steps + 1, int(rng.integers(0, 4))).tolist())),
            reordering=int(rng.choice([0, 1, 2])),
        )

    def problem(self) -> tuple[Problem, Search, int]:
        """Problem, settings and K."""
        language = random_language(self.seed, self.orders, self.weights)
        problem, search, values = random_problem(
            self.seed,
            language,
            sentences=self.sentences,
            units=self.units,
            words=self.words,
            lengths=self.lengths,
            settings=self._settings(),
            reordering=self.reordering,
        )
        if self.features:
            problem, more = _with_features(problem, self.features, self.seed)
            values += more
        if self.docent_draws:
            search = search._replace(docent=Docent(np.array([self.docent_draws])))
        if self.sweep:
            search = search._replace(sweep=sweep())
        if self.temperatures:
            levels = () if self.ladders else self.temperatures
            search = search._replace(temperature=temperature_levels(levels))
        if self.metropolis:
            search = search._replace(hastings=make_hastings(problem, search))
        if self.gibbs:
            longest = int(search.number[LONGEST])
            gibbs = make_gibbs(longest, self.scales, scan=self.gibbs, pairs=2, most_patterns=60, bounded=self.bounded)
            search = search._replace(gibbs=gibbs)
        return problem, search, values

    def alone(self, problem: Problem, unit: int) -> Problem:
        """The problem of one of its units by itself."""
        single = only_unit(problem, unit)
        if not self.features:
            return single
        return _with_features(single, self.features, self.seed)[0]

    def ladder(self, units: int) -> Ladder:
        """Exchanges every 7 steps, temperatures that move in the first half, a climb at the end."""
        one = np.ones(units, np.int64)
        first = np.array(self.temperatures)
        return Ladder(first, 7 * one, self.steps // 2 * one, (self.steps - self.steps // 6) * one)

    def _settings(self) -> PlainSettings:
        settings = random_settings(self.seed)
        if self.docent_draws:  # it lacks two of the operations
            shares = replace(settings.operations, insertion=0, split_and_swap=0)
            settings = replace(settings, operations=shares)
        if self.metropolis:
            settings = replace(settings, operations=replace(settings.operations, move_right=0.3, linearise=0))
        return settings


def _with_features(problem: Problem, written: Sequence[str], seed: int) -> tuple[Problem, int]:
    from tests.random_features import with_features  # it needs what reads configurations

    return with_features(problem, written, seed)


class InterpretedDriver:
    """Python's interpreter with unbounded integers, every store checked."""

    name = "python"

    def __init__(self, problem: Problem, search: Search, state: State) -> None:
        self.state = state
        self._arguments = tuple(exact(record) for record in (problem, search, state, make_scratch(problem)))
        self._gibbs = search.gibbs

    def start(self, lanes: Lanes) -> None:
        for lane in lanes.tolist():
            start_monotone(*self._arguments, lane)

    def refresh(self, lanes: Lanes) -> None:
        for lane in lanes.tolist():
            refresh(*self._arguments, lane)

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        for lane in lanes.tolist():
            while not resting(self._arguments[2], lane):
                take_step(self._gibbs, *self._arguments, lane)
        tick()

    def close(self) -> None:
        pass


def cpu(threads: int) -> MakeDriver:
    """`CpuDriver` with so many threads."""
    return lambda problem, search, state: CpuDriver(problem, search, state, threads)


def final_hashes(
    case: Case, make_driver: MakeDriver, *, alone: bool = False, padding: tuple[int, int] = (0, 0)
) -> list[str]:
    """The hash of each (unit, chain) at its end.

    With `alone` every unit is a problem of its own. `padding`: more slots and word places in each row than it needs.
    """
    problem, search, values = case.problem()
    if not alone:
        return _final_hashes(case, make_driver, problem, search, values, padding)
    return [
        found
        for unit in range(len(problem.unit))
        for found in _final_hashes(case, make_driver, case.alone(problem, unit), search, values, padding)
    ]


def _final_hashes(
    case: Case, make_driver: MakeDriver, problem: Problem, search: Search, values: int, padding: tuple[int, int]
) -> list[str]:
    units = np.repeat(np.arange(len(problem.unit)), case.chains)
    state = pad(make_state(problem, units, np.tile(np.arange(case.chains), len(problem.unit)), values), *padding)
    state.limit[:, LIMIT_STEPS], state.limit[:, LIMIT_REJECTED] = case.steps, case.max_rejected
    state.limit[:, LIMIT_SCORE] = case.enough
    if case.metropolis:
        search = search._replace(hastings=make_hastings(problem, search))
    driver = make_driver(problem, search, state)
    if case.ladders:
        driver = TemperingDriver(driver, problem, case.ladder(len(problem.unit)))
    lanes = np.arange(len(units))
    driver.start(lanes)
    for pause in (*case.pauses, UNLIMITED):
        state.limit[:, LIMIT_PAUSE] = pause
        driver.run(lanes, lambda: None)
    driver.close()
    return [lane_hash(problem, state, lane) for lane in lanes.tolist()]


def pad(state: State, slots: int, places: int) -> State:
    """The state with more room in every row, filled with what no kernel must read."""

    def wider(array: NDArray, columns: int) -> NDArray:
        more = np.full((*array.shape[:-1], columns), 77, array.dtype)
        return np.concatenate((array, more), axis=-1)

    by_slot = {name: wider(getattr(state, name), slots) for name in ("option", "place", "covers", "worth", "slack")}
    by_place = {name: wider(getattr(state, name), places) for name in ("lm_value", "lm_state")}
    return state._replace(**by_slot, **by_place, length=wider(state.length, slots))


def only_unit(problem: Problem, number: int) -> Problem:
    """The problem of one unit by itself."""
    unit = problem.unit[number : number + 1].copy()
    first, count = int(unit[0, UNIT_FIRST_SENTENCE]), int(unit[0, UNIT_SENTENCES])
    word, words = int(unit[0, UNIT_FIRST_WORD]), int(unit[0, UNIT_WORDS])
    sentence = problem.sentence[first : first + count].copy()
    behind = problem.sentence[first + count] if first + count < len(problem.sentence) else None
    spans = slice(
        int(sentence[0, SENTENCE_SPAN]), len(problem.span) - 1 if behind is None else int(behind[SENTENCE_SPAN])
    )
    options = slice(int(problem.span[spans.start]), int(problem.span[spans.stop]))
    place = problem.option_place[options].copy()
    target = slice(int(place[0, OPTION_TARGET]), int(place[-1, OPTION_TARGET] + place[-1, OPTION_WORDS]))
    unit[0, [UNIT_FIRST_SENTENCE, UNIT_FIRST_WORD]] = 0
    sentence[:, SENTENCE_SPAN] -= spans.start
    sentence[:, SENTENCE_OPTION] -= options.start
    place[:, OPTION_TARGET] -= target.start
    if problem.reordering:
        order = problem.reordering
        problem = problem._replace(reordering=order._replace(score=order.score[options], value=order.value[options]))
    return problem._replace(
        unit=unit,
        word=problem.word[word : word + words],
        sentence=sentence,
        span=problem.span[spans.start : spans.stop + 1] - options.start,
        length=problem.length[spans],
        option_place=place,
        option_score=problem.option_score[options],
        option_draw=problem.option_draw[options],
        option_value=problem.option_value[options],
        option_open=np.ascontiguousarray(problem.option_open[:, options]),
        target_word=np.ascontiguousarray(problem.target_word[:, target]),
        word_bound=np.ascontiguousarray(problem.word_bound[:, target]),
    )
