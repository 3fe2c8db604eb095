"""The beam's search graph: its k best derivations are those of an enumeration; what it prunes, and what it writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest

from gpusearch.config import BeamConfig
from gpusearch.kernels import reference
from gpusearch.kernels.beam_records import BEAM_WIDTH
from gpusearch.kernels.records import SENTENCE_WORDS, Problem, Search
from gpusearch.kernels.target import exact
from gpusearch.search import beam
from gpusearch.search.beam import BeamDecoder
from gpusearch.search.enumeration import derivations
from gpusearch.search.graph import SearchGraph
from tests.random_problem import random_problem
from tests.search.test_beam import LANGUAGES, small_problem


def graphs(problem: Problem, search: Search, width: int | None = 1 << 60, **settings: int) -> dict[int, SearchGraph]:
    """By sentence; unpruned where nothing else is said."""
    config = BeamConfig(**({"stack_size": 2000} | settings))  # type: ignore[arg-type]
    decoder = BeamDecoder(problem, search, config, threads=1, graph=True)
    if width is not None:
        decoder.beam.number[BEAM_WIDTH] = width
    kept: dict[int, SearchGraph] = {}
    found = decoder.decode(keep=lambda graph: kept.setdefault(graph.sentence, graph))
    for sentence, graph in kept.items():
        assert graph.best == found.score[sentence]
        assert graph.k_best(1)[0][0] == graph.best
    assert sorted(kept) == np.flatnonzero(problem.sentence[:, SENTENCE_WORDS]).tolist()
    return kept


def check_consistent(graph: SearchGraph) -> None:
    """Arcs lead on, and the score of each node is that of the best arc into it."""
    assert (graph.source < graph.target).all() and (np.diff(graph.target) >= 0).all()
    assert (graph.covered[graph.source] < graph.covered[graph.target]).all()
    best = np.full(len(graph.score), np.iinfo(np.int64).min)
    best[0] = 0
    np.maximum.at(best, graph.target, graph.score[graph.source] + graph.gain)
    np.testing.assert_array_equal(best, graph.score)


@pytest.mark.parametrize("pop_limit", [0, 100_000])
def test_k_best_is_exact(repetitions: Callable[[int], int], pop_limit: int) -> None:
    """An unpruned graph holds each derivation once, and yields them in the order of their scores."""
    for seed in range(repetitions(300)):
        problem, search = small_problem(seed)
        for sentence, graph in graphs(problem, search, pop_limit=pop_limit).items():
            check_consistent(graph)
            expected = sorted(derivations(problem, search, sentence), reverse=True)
            found = list(islice(graph.derivations(), 2000))
            assert [score for score, _ in found] == [score for score, _ in expected[:2000]]
            assert len({way for _, way in found}) == len(found)
            assert set(found) <= set(expected)
            assert graph.k_best(3) == found[:3]


@pytest.mark.parametrize(("stack_size", "pop_limit"), [(1, 0), (5, 0), (20, 0), (5, 10), (20, 30)])
def test_a_pruned_graph_holds_derivations_with_their_scores(stack_size: int, pop_limit: int) -> None:
    """Each is complete, and worth what the twin says; none comes twice."""
    for seed in range(20):
        problem, search = small_problem(seed)
        for graph in graphs(problem, search, None, stack_size=stack_size, pop_limit=pop_limit).values():
            check_consistent(graph)
            found = list(islice(graph.derivations(), 50))
            assert len(set(found)) == len(found)
            for score, options in found:
                assert reference.full(exact(problem), search, [options]).score == score


def test_pruning_by_width() -> None:
    """What is left are the arcs of derivations within the width, with all of those derivations."""
    for seed in range(20):
        problem, search = small_problem(seed)
        for sentence, graph in graphs(problem, search).items():
            scores = sorted({score for score, _ in derivations(problem, search, sentence)})
            width = (scores[-1] - scores[0]) // 3
            pruned = graph.pruned(width)
            check_consistent(pruned)
            within = [way for way in derivations(problem, search, sentence) if way[0] >= graph.best - width]
            found = pruned.k_best(len(within))
            assert sorted(found) == sorted(within)
            through: dict[int, int] = defaultdict(int)
            for score, options in pruned.derivations():
                for option in options:
                    through[option] = max(through.get(option, score), score)
            assert all(score >= graph.best - width for score in through.values())
    assert len(graph.pruned(0).source) < len(graph.source)


def test_arcs_that_outgrow_their_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence is searched again with more room: the graph is the same."""
    problem, search, _ = random_problem(3, LANGUAGES[0], sentences=(9, 4))
    usual = graphs(problem, search, None, stack_size=30)
    monkeypatch.setattr(beam, "ARCS", 3)
    for sentence, graph in graphs(problem, search, None, stack_size=30).items():
        assert len(graph.source) > 3
        assert graph.k_best(20) == usual[sentence].k_best(20)
        np.testing.assert_array_equal(graph.gain, usual[sentence].gain)


def test_keeping_the_graph_does_not_change_what_is_found() -> None:
    problem, search, _ = random_problem(4, LANGUAGES[1], sentences=(14, 9))
    config = BeamConfig(stack_size=15)
    plain = BeamDecoder(problem, search, config, threads=1).decode()
    kept = BeamDecoder(problem, search, config, threads=1, graph=True).decode(keep=lambda graph: None)
    for one, other in zip(plain.options, kept.options, strict=True):
        assert one.tolist() == other.tolist()


def test_distinct_derivations_are_the_best_of_each_text(repetitions: Callable[[int], int]) -> None:
    """Words drawn from few, so that many derivations say the same."""
    for seed in range(repetitions(200)):
        rng = np.random.default_rng(seed)
        problem, search, _ = random_problem(
            seed,
            LANGUAGES[seed % len(LANGUAGES)],
            sentences=(int(rng.integers(1, 5)),),
            most_options=3,
            words=(3, 4),
            lengths=(0, 1, 1, 2),
        )
        texts: dict[tuple[int, ...], int] = {}
        for score, way in derivations(problem, search, 0):
            text = tuple(reference.target_words(problem, 0, way))
            texts[text] = max(texts.get(text, score), score)
        words = {
            option: [str(word) for word in reference.target_words(problem, 0, [option])]
            for option in range(len(problem.option_place))
        }
        graph = graphs(problem, search)[0]
        found = list(graph.derivations(words))
        assert [score for score, _ in found] == sorted(texts.values(), reverse=True)
        assert {tuple(reference.target_words(problem, 0, way)): score for score, way in found} == texts
        assert list(graph.derivations(words, most_steps=1)) in ([], found[:1])
