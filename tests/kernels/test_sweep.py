"""Sweeps end in local optima of the neighbourhood that they name, and look at all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.kernels import reference
from gpusearch.kernels import sweep as kernels
from gpusearch.kernels.document import ceilings
from gpusearch.kernels.judge import judge
from gpusearch.kernels.layouts import groups_of, kind_of, put_layout
from gpusearch.kernels.records import (
    ACCEPTED,
    GIVEN_UP,
    LIMIT_STEPS,
    MOSES_CHECK,
    SENTENCE_WORDS,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Problem,
    Search,
    State,
)
from gpusearch.kernels.reference import is_within_reach
from gpusearch.kernels.reference_neighbours import neighbours
from gpusearch.kernels.step import start_monotone
from gpusearch.kernels.sweep import best_of_group, count_neighbours, groups_of_unit, in_order
from gpusearch.kernels.target import exact
from gpusearch.search.driver import CpuDriver
from gpusearch.search.state import make_scratch, make_state
from tests.feature_forms import SWEPT_FORMS
from tests.paths import Case


def swept(case: Case, steps: int | None = None) -> tuple[Problem, Search, State]:
    """Every unit of a case by its chains, from random translations to the end of the sweep."""
    problem, search, values = case.problem()
    units = np.repeat(np.arange(len(problem.unit)), case.chains)
    state = make_state(problem, units, np.tile(np.arange(case.chains), len(problem.unit)), values)
    if steps is not None:
        state.limit[:, LIMIT_STEPS] = steps
    driver = CpuDriver(problem, search, state, 1)
    lanes = np.arange(len(units))
    driver.start(lanes)
    driver.run(lanes, lambda: None)
    driver.close()
    return problem, search, state


def sentences_of(problem: Problem, state: State, lane: int) -> list[tuple[int, list[int]]]:
    """(number in the problem, phrases) of each sentence of a lane that has words."""
    first = int(problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE])
    numbered = enumerate(reference.translation(problem, state, lane), start=first)
    return [(number, phrases) for number, phrases in numbered if problem.sentence[number, SENTENCE_WORDS]]


def random_case(seed: int) -> Case:
    """Short sentences; always with a reordering model, so that one kernel serves all."""
    rng = np.random.default_rng((seed, 7))
    sentences = tuple(rng.integers(0, 6, int(rng.integers(1, 4))).tolist())
    return replace(Case.random(seed), sweep=True, sentences=sentences, chains=2, reordering=int(rng.integers(1, 3)))


def test_no_neighbour_of_a_certified_translation_scores_higher(repetitions: Callable[[int], int]) -> None:
    """By the readable twin: one full evaluation for each neighbour."""
    certified = improvable = 0
    for seed in range(repetitions(100)):
        *records, state = swept(random_case(seed))
        problem, search = exact(records[0]), exact(records[1])
        assert (state.rejected == GIVEN_UP).all()
        for lane in range(len(state.unit)):
            for sentence, phrases in sentences_of(problem, state, lane):
                score = reference.full(problem, search, [phrases]).score
                for other in neighbours(problem, search, sentence, phrases):
                    if reference.full(problem, search, [other]).score > score:
                        # Moses' second check is the one thing that may stand against it.
                        assert not is_within_reach(problem, search, other), (seed, phrases, other)
                        improvable += 1
                certified += 1
    assert certified > improvable


def gains(case: Case) -> Iterator[tuple[int, int]]:
    """For each sentence of random translations by how much its score rises at most: with the neighbour that the sweep's
    groups come to, and by the twin, one by one."""
    records = swept(case, steps=0)
    problem, search, state, scratch = (exact(record) for record in (*records, make_scratch(records[0])))
    for lane in range(len(records[2].unit)):
        for sentence, phrases in sentences_of(problem, state, lane):

            def score(phrases: list[int]) -> int:
                return reference.full(problem, search, [phrases]).score

            best, found, here = score(phrases), phrases, (problem, search, state, scratch, lane, sentence, len(phrases))
            others = [
                other
                for other in neighbours(problem, search, sentence, phrases)
                if not search.number[MOSES_CHECK] or is_within_reach(problem, search, other)
            ]
            for group in range(groups_of(len(phrases), int(problem.sentence[sentence, SENTENCE_WORDS]))):
                kind = kind_of(len(phrases), group)
                stage, layout, *options = best_of_group(*here, *kind, score(found) - best)
                if stage == ACCEPTED:
                    first, replaced, count, *places = put_layout(*here, *kind, layout)
                    for place, option in zip(places, options, strict=True):
                        if place >= 0:
                            scratch.option[place] = option
                    found = [*phrases[:first], *(scratch.option[k] for k in range(count)), *phrases[first + replaced :]]
            yield score(found) - best, max(map(score, others), default=best) - best


def test_no_ceiling_hides_the_best_neighbour(repetitions: Callable[[int], int]) -> None:
    rises = 0
    for seed in range(repetitions(600)):
        for found, best in gains(random_case(seed)):
            assert found == max(0, best), seed
            rises += best > 0
    assert rises > repetitions(600)


def document_case(seed: int) -> Case:
    """Documents of short sentences and few words, with one or two of these features."""
    rng = np.random.default_rng((seed, 8))
    sentences = tuple(rng.integers(0, 4, int(rng.integers(1, 4))).tolist())
    features = tuple(rng.choice(SWEPT_FORMS, int(rng.integers(1, 3)), replace=False).tolist())
    words = (*range(1, int(rng.integers(2, 8))), 10, 11)
    return replace(random_case(seed), sentences=sentences, units="document", words=words, features=features, chains=1)


def best_of_groups(case: Case) -> Iterator[tuple[int, ...]]:
    """The best neighbour of each group of a random translation, interpreted."""
    problem, search, values = case.problem()
    if not len(problem.unit):
        return
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values)
    arguments = tuple(exact(record) for record in (problem, search, state, make_scratch(problem)))
    start_monotone(*arguments, 0)
    for sentence, phrases in sentences_of(problem, state, 0):
        for group in range(groups_of(len(phrases), int(problem.sentence[sentence, SENTENCE_WORDS]))):
            kind = kind_of(len(phrases), group)
            yield sentence, group, *best_of_group(*arguments, 0, sentence, len(phrases), *kind, 0)


def test_ceilings_of_features_change_nothing_but_the_work(
    repetitions: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each group has the same best neighbour as where every neighbour is judged; fewer than half of them are."""
    judged: Counter[bool] = Counter()

    def count(*arguments: Any) -> tuple[int, int]:
        judged[bool(ceilings.versions)] += 1
        found: tuple[int, int] = judge(*arguments)
        return found

    monkeypatch.setattr(kernels, "judge", count)
    rises = 0
    for seed in range(repetitions(150)):
        case = document_case(seed)
        found = list(best_of_groups(case))
        with monkeypatch.context() as patch:
            for kind in list(ceilings.versions):
                patch.delitem(ceilings.versions, kind)
            assert found == list(best_of_groups(case)), (seed, case.features)
        rises += sum(stage == ACCEPTED for _, _, stage, *_ in found)
    assert rises > repetitions(150)
    assert 2 * judged[True] < judged[False]


def test_the_size_is_that_of_the_neighbourhood(repetitions: Callable[[int], int]) -> None:
    """Counted by the kernel and one by one, on translations on their way as on certified ones."""
    for seed in range(repetitions(60)):
        records = swept(random_case(seed), steps=None if seed % 2 else 5)
        problem, search, state, scratch = (exact(record) for record in (*records, make_scratch(records[0])))
        for lane in range(len(records[2].unit)):
            found = sum(
                sum(1 for _ in neighbours(problem, search, sentence, phrases))
                for sentence, phrases in sentences_of(problem, state, lane)
            )
            assert count_neighbours(problem, search, state, scratch, lane) == found


@given(st.integers(0, 10**6), st.integers(0, 2**40))
def test_a_pass_comes_to_every_group_once(seed: int, step: int) -> None:
    """Whatever the number of groups, and in an order that differs from pass to pass."""
    problem, _, values = random_case(seed).problem()
    if not len(problem.unit):
        return
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values)
    state.length[0, : int(problem.unit[0, UNIT_SENTENCES])] = 1
    problem, state = exact(problem), exact(state)
    groups = groups_of_unit(problem, state, 0)
    for count in (groups, seed % 97 + 1, seed % 1009 + 1):
        found = [in_order(problem, state, 0, step, place, count) for place in range(count)]
        assert sorted(found) == list(range(count))
        if count > 50:
            assert found != [in_order(problem, state, 0, step + 1, place, count) for place in range(count)]


@pytest.mark.parametrize("steps", [1, 7, 30])
def test_a_sweep_that_is_broken_off_goes_on_as_if_it_had_not(steps: int) -> None:
    """The place in a pass is in the counters: a state that is put into a new lane comes to the same end."""
    case = random_case(3)
    whole = swept(case)[2]
    problem, search, state = swept(case, steps)
    values = state.feature.shape[1]
    again = make_state(problem, state.unit, state.chain, values)
    for name in ("option", "length", "step", "rejected"):
        getattr(again, name)[:] = getattr(state, name)
    driver = CpuDriver(problem, search, again, 1)
    lanes = np.arange(len(again.unit))
    driver.refresh(lanes)
    driver.run(lanes, lambda: None)
    driver.close()
    for name in ("option", "length", "step", "rejected", "score"):
        assert (getattr(again, name) == getattr(whole, name)).all(), name
