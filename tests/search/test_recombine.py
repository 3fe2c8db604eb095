"""Recombination by lattice: never worse than the chains, better where their pieces fit, exact on what it was given."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.config import SearchConfig
from gpusearch.config.beam import BeamConfig
from gpusearch.kernels.beam_records import BEAM_WIDTH
from gpusearch.kernels.records import SENTENCE_LONGEST, SENTENCE_SPAN, SENTENCE_WORDS, Problem, State
from gpusearch.model.model import Model
from gpusearch.search.beam import BeamDecoder, BeamDerivations
from gpusearch.search.chains import Finals, OutOfTime, empty_finals
from gpusearch.search.enumeration import derivations
from gpusearch.search.force import score_segmented
from gpusearch.search.recombine import ROUNDING, only_options, union_of_chains
from gpusearch.search.result import DocumentResult
from gpusearch.search.saved import Given
from tests.parity_model import newstest_documents
from tests.random_language import random_language
from tests.random_problem import PlainSettings, random_problem
from tests.search.runs import Documents, outcome, search


@pytest.fixture(scope="module")
def documents(parity: Path) -> Documents:
    whole = newstest_documents(parity)
    return [whole[0], [], [[], *whole[4], []]]


def phrases(found: DocumentResult) -> list[list[tuple[int, int, list[str]]]]:
    return [[(p.start, p.stop, list(p.words)) for p in sentence.phrases] for sentence in found.best.sentences]


@pytest.mark.parametrize("units", ["sentence", "document"])
@pytest.mark.parametrize("model", ["newstest_model", "newstest_reordering_model"])
def test_no_sentence_is_worse_and_some_are_better(
    model: str, units: str, documents: Documents, request: pytest.FixtureRequest
) -> None:
    loaded: Model = request.getfixturevalue(model)
    more = {"units": units}
    before = search(loaded, documents, more=more)
    after = search(loaded, documents, recombine="lattice", more=more)
    for document, old, new in zip(documents, before.documents, after.documents, strict=True):
        assert old.chains == new.chains
        assert (old.chain_scores == new.chain_scores).all()
        gains = [n.score - o.score for o, n in zip(old.best.sentences, new.best.sentences, strict=True)]
        assert all(gain >= 0 for gain in gains)
        assert not document or sum(gain > 0.01 for gain in gains) > len(document) / 4
        # What is said to be its score is the score of what is said.
        forced = score_segmented(loaded, SearchConfig(), [document], Given([[phrases(new)]]))[0]
        assert [one.score for one in forced] == pytest.approx([one.score for one in new.best.sentences], abs=1e-9)


def test_threads_do_not_matter(newstest_model: Model, documents: Documents) -> None:
    one, four = (outcome(search(newstest_model, documents, recombine="lattice", threads=n)) for n in (1, 4))
    assert one == four


def test_lists_begin_with_what_is_printed(newstest_model: Model, documents: Documents) -> None:
    for distinct in (False, True):
        more = {"list_size": 4, "distinct": distinct}
        result = search(newstest_model, documents, recombine="lattice", more=more)
        for found in result.documents:
            for listed, printed in zip(found.lists, found.best.sentences, strict=True):
                assert listed[0].score == pytest.approx(printed.score, abs=1e-9)
                assert listed[0].words == printed.words
                assert all(a.score >= b.score - 1e-9 for a, b in pairwise(listed))


@pytest.mark.parametrize("model", ["newstest_model", "newstest_reordering_model"])
def test_what_cannot_be_above_the_best_chain_is_pruned(
    model: str, documents: Documents, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So less is evaluated, and no sentence is worse for it; a chain that nothing can be above stands."""
    loaded: Model = request.getfixturevalue(model)
    evaluated: list[int] = []

    class Counted(BeamDecoder):
        def decode(self, *args: Any, **named: Any) -> BeamDerivations:
            found = super().decode(*args, **named)
            evaluated.append(int(found.evaluated.sum()))
            return found

    def run(rounding: float) -> NDArray[np.float64]:
        monkeypatch.setattr("gpusearch.search.recombine.ROUNDING", rounding)
        result = search(loaded, documents, recombine="lattice")
        return np.array([sentence.score for found in result.documents for sentence in found.best.sentences])

    monkeypatch.setattr("gpusearch.search.recombine.BeamDecoder", Counted)
    pruned, whole, never = run(ROUNDING), run(1e6), run(-1e6)
    assert evaluated[0] < 0.9 * evaluated[1]
    assert (pruned >= whole - 1e-9).all()
    assert evaluated[2] == 0
    before = [sentence.score for found in search(loaded, documents).documents for sentence in found.best.sentences]
    assert never.tolist() == before


def test_what_is_offered_to_chains_is_not_pruned_by_scores_that_the_beam_does_not_know(
    newstest_model: Model, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With features that it cannot hold the chain's score may be above all of its own: then nothing was offered."""
    offered: list[list[int]] = []

    def offer(_batch: Any, _search: Any, _finals: Any, _config: Any, others: Any, *_: Any) -> Iterator[Any]:
        offered.extend(options.tolist() for options in others)
        return iter(())

    def run(rounding: float) -> list[list[int]]:
        monkeypatch.setattr("gpusearch.search.recombine.ROUNDING", rounding)
        offered.clear()
        search(newstest_model, documents, recombine="lattice")
        return offered.copy()

    monkeypatch.setattr("gpusearch.search.recombine.no_sums_over_steps", lambda model: ("another",))
    monkeypatch.setattr("gpusearch.search.recombine.crossover", offer)
    assert run(-1e6) == run(1e6) != []


def test_what_ends_it_early_leaves_the_best_units(
    newstest_model: Model, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(_decoder: Any, tick: Any = None) -> Any:
        return decode(_decoder, tick=lambda _done: (_ for _ in ()).throw(OutOfTime))

    decode = BeamDecoder.decode
    before = search(newstest_model, documents)
    monkeypatch.setattr(BeamDecoder, "decode", late)
    after = search(newstest_model, documents, recombine="lattice")
    assert not after.complete
    assert not after.interrupted
    for old, new in zip(before.documents, after.documents, strict=True):
        assert all(n.score >= o.score for o, n in zip(old.best.sentences, new.best.sentences, strict=True))


@pytest.mark.parametrize("reason", [KeyboardInterrupt, OutOfTime])
def test_an_exchange_of_sentences_is_broken_off_while_it_lasts(
    newstest_model: Model, documents: Documents, monkeypatch: pytest.MonkeyPatch, reason: type[BaseException]
) -> None:
    """In a long document too: those before it have what was exchanged, it has what was chosen."""
    exchanges = 0

    def exchange(problem: Problem, search_numbers: Any, state: State, scratch: Any, lanes: Any, *rest: Any) -> None:
        """The first document takes all sentences of the lattice; the next comes to no end."""
        nonlocal exchanges
        exchanges += 1
        option, length, _, stop = rest
        state.option[lanes], state.length[lanes] = option[-1], length[-1]
        deadline = time.monotonic() + 60
        while exchanges > 1 and not stop[0]:
            assert time.monotonic() < deadline, "it is told to stop"
            time.sleep(0.001)

    def status(_done: int, _text: str) -> None:
        if exchanges > 1:
            raise reason

    threads = threading.active_count()
    monkeypatch.setattr("gpusearch.search.recombine.no_sums_over_steps", lambda _: ("one of the document",))
    monkeypatch.setattr("gpusearch.kernels.crossover.cross_lanes", exchange)
    more = {"units": "document", "status": status}
    found = search(newstest_model, documents, chains=1, recombine="lattice", more=more)
    assert exchanges == 2 and not found.complete and found.interrupted == (reason is KeyboardInterrupt)
    assert threading.active_count() == threads
    first, _, last = found.documents
    assert first.best.score > first.chain_scores.max() + 0.01
    assert last.best.score == pytest.approx(last.chain_scores.max(), abs=0.01)


def chains_on(problem: Problem, chains: int, seed: int) -> Finals:
    """Chains that end with random options in source order, some words of a sentence left out at times."""
    rng = np.random.default_rng(seed)
    finals = empty_finals(problem, chains)
    for unit, (words, longest) in enumerate(problem.sentence[:, [SENTENCE_WORDS, SENTENCE_LONGEST]].tolist()):
        for chain in range(chains):
            start, slot = 0, 0
            while start < words:
                length = int(rng.integers(1, longest + 1))
                row = int(problem.sentence[unit, SENTENCE_SPAN]) + start * longest + length - 1
                if start + length <= words and problem.span[row] < problem.span[row + 1]:
                    finals.option[unit][chain, slot] = rng.integers(problem.span[row], problem.span[row + 1])
                    slot, start = slot + 1, start + length
            finals.length[unit][chain, 0] = slot
    return finals


def union_plainly(problem: Problem, finals: Finals, best: int) -> set[int]:
    """`union_of_chains` word for word."""
    result: set[int] = set()
    for unit, (words, longest) in enumerate(problem.sentence[:, [SENTENCE_WORDS, SENTENCE_LONGEST]].tolist()):
        first = int(problem.sentence[unit, SENTENCE_SPAN])
        inside = {
            (start, start + length): range(*problem.span[[row, row + 1]].tolist())
            for start in range(words)
            for length in range(1, min(longest, words - start) + 1)
            for row in [first + start * longest + length - 1]
        }
        span_of = {option: span for span, options in inside.items() for option in options}
        around = {(word, word + 1) for word in range(words)}
        for row in finals.option[unit].tolist():
            chain = [option for option in row if option >= 0]
            result |= set(chain)
            around |= {span_of[option] for option in chain}
            for left, right in pairwise(chain):
                (start, middle), (other, stop) = span_of[left], span_of[right]
                if middle == other and stop - start <= longest:
                    around.add((start, stop))
        for (start, stop), options in inside.items():
            if any(left <= start and stop <= right for left, right in around):
                result |= set(options[:best])
    return result


@pytest.mark.parametrize("best", [1, 2, 9])
@pytest.mark.parametrize("seed", range(4))
def test_the_union_is_what_it_is_said_to_be(seed: int, best: int) -> None:
    problem, _, _ = random_problem(
        seed, random_language(0), sentences=(6, 1, 9), units="sentence", settings=PlainSettings()
    )
    finals = chains_on(problem, 2, seed)
    found = union_of_chains(problem, finals, best)
    assert set(np.flatnonzero(found).tolist()) == union_plainly(problem, finals, best)


@pytest.mark.parametrize("reordering", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_best_of_the_union(seed: int, reordering: int) -> None:
    """Stacks without a limit find it, both of Moses' checks kept; by enumeration of all derivations."""
    problem, search_numbers, _ = random_problem(
        seed,
        random_language(0),
        sentences=(4, 3),
        units="sentence",
        most_options=4,
        reordering=reordering,
        settings=PlainSettings(distortion_limit=2, distortion_check="moses"),
    )
    finals = chains_on(problem, 2, seed)
    chosen = np.flatnonzero(union_of_chains(problem, finals, 2))
    beam = BeamDecoder(only_options(problem, chosen), search_numbers, BeamConfig(stack_size=100_000), threads=1)
    beam.beam.number[BEAM_WIDTH] = 1 << 60
    found = beam.decode()
    allowed = set(chosen.tolist())
    for sentence in range(2):
        all_scores = {way: score for score, way in derivations(problem, search_numbers, sentence)}
        inside = [score for way, score in all_scores.items() if set(way) <= allowed]
        assert len(inside) < len(all_scores)
        way = tuple(chosen[found.options[sentence]].tolist())
        assert all_scores[way] == found.score[sentence] == max(inside)


@pytest.mark.slow
def test_by_default_it_is_the_best_of_the_union_on_short_sentences(
    newstest_model: Model, parity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never below the chains, above them at times, and where stacks 200 times as large without a threshold end."""
    short = [[one for one in document if 1 < len(one) <= 8] for document in newstest_documents(parity)]
    chains = search(newstest_model, short)
    default = search(newstest_model, short, recombine="lattice")
    monkeypatch.setattr(
        "gpusearch.search.recombine.BeamConfig",
        lambda stack_size: BeamConfig(stack_size=200 * stack_size, beam_threshold=1e-300),
    )
    whole = search(newstest_model, short, recombine="lattice")
    before, found, best = (
        np.array([sentence.score for document in result.documents for sentence in document.best.sentences])
        for result in (chains, default, whole)
    )
    assert len(found) == 36
    assert (found >= before).all()
    assert (found > before + 1e-6).mean() > 0.1
    np.testing.assert_allclose(found, best, rtol=0, atol=1e-9)
