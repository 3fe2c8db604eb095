"""The beam: unpruned it finds the best of all derivations, on every target the same; threads change nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.config import BeamConfig
from gpusearch.kernels import beam as kernels
from gpusearch.kernels import beam_options, reference
from gpusearch.kernels.beam_records import BEAM_WIDTH, BEAM_WINDOW
from gpusearch.kernels.records import DISTORTION_LIMIT, DISTORTION_WEIGHT, SENTENCE_WORDS, Problem, Search
from gpusearch.kernels.target import exact
from gpusearch.search.beam import BeamDecoder
from gpusearch.search.beam_arrays import make_beam, make_result, make_work
from gpusearch.search.enumeration import derivations
from tests.random_language import random_language
from tests.random_problem import random_problem

UNIT = 1 << 20
LANGUAGES = [
    random_language(1, (3,), (UNIT // 2,)),
    random_language(2, (2, 4), (UNIT // 3, -UNIT // 5)),
    random_language(3, (1,), (UNIT,)),
    random_language(4, (5,), (UNIT * 3 // 4,)),
]


def small_problem(seed: int) -> tuple[Problem, Search]:
    """Sentences of 1 to 6 words with few options, any distortion limit and either convention of the first jump; no
    reordering model, one, or two."""
    rng = np.random.default_rng((seed, 7))
    sentences = (int(rng.integers(1, 5)), 0, int(rng.integers(1, 7)))
    options = 3 if max(sentences) < 5 else 2
    problem, search, _ = random_problem(
        seed,
        LANGUAGES[seed % len(LANGUAGES)],
        sentences=sentences,
        most_options=options,
        lengths=(0, 1, 1, 2, 3),
        reordering=seed // len(LANGUAGES) % 3,
    )
    return problem, search


def unpruned(
    problem: Problem, search: Search, *, pop_limit: int = 0, goal: NDArray[np.int64] | None = None
) -> BeamDecoder:
    """Stacks that hold all there is."""
    decoder = BeamDecoder(problem, search, BeamConfig(stack_size=2000, pop_limit=pop_limit), threads=1, goal=goal)
    decoder.beam.number[BEAM_WIDTH] = 1 << 60
    return decoder


def test_unpruned_finds_the_best_of_all_derivations(repetitions: Callable[[int], int]) -> None:
    """Its score in integers, on 1,000 random models; so does cube pruning without an end."""
    for seed in range(repetitions(1000)):
        problem, search = small_problem(seed)
        found = unpruned(problem, search).decode()
        cubes = unpruned(problem, search, pop_limit=100_000).decode()
        for sentence in np.flatnonzero(problem.sentence[:, SENTENCE_WORDS]):
            best, _ = max(derivations(problem, search, sentence))
            assert found.score[sentence] == best, (seed, sentence)
            assert cubes.score[sentence] == best, (seed, sentence)


@pytest.mark.parametrize("pop_limit", [0, 100_000])
@pytest.mark.parametrize("sign", [1, -1], ids=["jumps cost", "jumps are rewarded"])
def test_a_goal_hides_nothing_that_is_above_it(sign: int, pop_limit: int, repetitions: Callable[[int], int]) -> None:
    """Just below the best derivation that is found, from less than without; at its score there is none."""
    evaluated = {"without": 0, "with": 0}
    for seed in range(repetitions(1000)):
        problem, search = small_problem(seed)
        search.number[DISTORTION_WEIGHT] *= sign
        usual = unpruned(problem, search, pop_limit=pop_limit).decode()
        below = unpruned(problem, search, pop_limit=pop_limit, goal=usual.score - 1).decode()
        at = unpruned(problem, search, pop_limit=pop_limit, goal=usual.score).decode()
        words = problem.sentence[:, SENTENCE_WORDS] > 0
        assert (below.score == usual.score)[words].all(), seed
        assert not any(map(len, at.options)) and at.done.all(), seed
        assert (below.evaluated <= usual.evaluated).all() and (at.evaluated <= below.evaluated).all()
        evaluated["without"] += int(usual.evaluated.sum())
        evaluated["with"] += int(below.evaluated.sum())
    assert evaluated["with"] < 0.9 * evaluated["without"]


@pytest.mark.parametrize("stack_size", [1, 3, 20])
@pytest.mark.parametrize("pop_limit", [0, 5])
def test_what_is_found_is_a_derivation_with_its_score(stack_size: int, pop_limit: int) -> None:
    """However small the stacks, every sentence is covered within the limit, and the score is that of the twin."""
    for seed in range(40):
        problem, search = small_problem(seed)
        config = BeamConfig(stack_size=stack_size, pop_limit=pop_limit)
        found = BeamDecoder(problem, search, config, threads=1).decode()
        assert found.done.all()
        for sentence, options in enumerate(found.options):
            words = int(problem.sentence[sentence, SENTENCE_WORDS])
            assert reference.is_complete(problem, options.tolist(), words)
            if words == 0:
                continue
            assert reference.full(exact(problem), search, [options.tolist()]).score == found.score[sentence]
            assert reference.is_within_reach(problem, search, options.tolist())
            assert max(reference.jumps(problem, search, options.tolist())) <= search.number[DISTORTION_LIMIT]


@pytest.mark.parametrize("pop_limit", [0, 12])
@pytest.mark.parametrize("stack_size", [2, 30])
@pytest.mark.parametrize("goal", [False, True])
def test_interpreted_and_compiled_are_the_same(pop_limit: int, stack_size: int, goal: bool) -> None:
    """Interpreted, integers are unbounded and every store is checked."""
    for seed in range(6):
        problem, search = small_problem(seed)
        config = BeamConfig(stack_size=stack_size, pop_limit=pop_limit)
        decoder = BeamDecoder(problem, search, config, threads=1)
        if goal:
            decoder = BeamDecoder(problem, search, config, threads=1, goal=decoder.decode().score - 1)
        compiled = decoder.decode()
        beam = make_beam(problem, decoder.beam.number)._replace(goal=decoder.beam.goal)
        work = make_work(
            problem, search, stack=stack_size, pops=pop_limit, window=int(decoder.beam.number[BEAM_WINDOW])
        )
        result = make_result(problem)
        arguments = [exact(record) for record in (problem, search, beam, work, result)]
        for option in range(len(problem.option_place)):
            beam_options.view_option(arguments[0], arguments[2], option)
        for row in range(len(problem.span) - 1):
            beam_options.rank_options(arguments[0], arguments[2], row)
            beam_options.note_best(arguments[0], arguments[2], row)
        for one, other in zip(beam, decoder.beam, strict=True):
            np.testing.assert_array_equal(one, other)
        for sentence in np.flatnonzero(problem.sentence[:, SENTENCE_WORDS]).tolist():
            kernels.search_sentence(*arguments, sentence)
            assert result.option[sentence, : result.length[sentence]].tolist() == compiled.options[sentence].tolist()
            assert result.score[sentence] == compiled.score[sentence]
            assert result.evaluated[sentence] == compiled.evaluated[sentence]


def test_threads_and_company_change_nothing() -> None:
    """The same derivation for a sentence alone and among others, on one thread and on three."""
    problem, search, _ = random_problem(5, LANGUAGES[0], sentences=tuple(range(1, 30)), units="sentence")
    config = BeamConfig(stack_size=10)
    usual = BeamDecoder(problem, search, config, threads=1).decode()
    shared = BeamDecoder(problem, search, config, threads=3).decode()
    for sentence, options in enumerate(usual.options):
        assert shared.options[sentence].tolist() == options.tolist()
        alone = BeamDecoder(problem, search, config, threads=1).decode(np.array([sentence]))
        assert alone.options[sentence].tolist() == options.tolist()
        assert alone.done.sum() == 1


def test_a_larger_stack_evaluates_more_and_a_threshold_less() -> None:
    problem, search, _ = random_problem(6, LANGUAGES[0], sentences=(20,))

    def evaluated(**settings: float) -> int:
        return int(BeamDecoder(problem, search, BeamConfig(**settings), threads=1).decode().evaluated.sum())  # type: ignore[arg-type]

    assert evaluated(stack_size=5) < evaluated(stack_size=50)
    assert evaluated(stack_size=50, beam_threshold=0.5) < evaluated(stack_size=50)
    assert evaluated(stack_size=50, pop_limit=1) < evaluated(stack_size=50, pop_limit=100)
