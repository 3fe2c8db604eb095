"""Documents: their utilities are sacreBLEU's corpus scores, and recombination climbs them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.candidates.draws import DocumentDraws, Draws
from gpusearch.candidates.pool import DocumentCandidates, document_candidates
from gpusearch.errors import InputError
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.decide import Settings, minimum_risk
from gpusearch.mbr.documents import DocumentPairs
from gpusearch.mbr.expected import aggregate
from gpusearch.mbr.named import make_utility
from gpusearch.mbr.recombine import Recombination
from gpusearch.mbr.run import Options, check, decide_document
from gpusearch.mbr.utility import Pairs, Utility
from tests.mbr.oracles import UTILITIES

TEXT = st.lists(st.sampled_from(["ab", "abc", "b", "c", "."]), max_size=5).map(" ".join)


@st.composite
def documents(draw: st.DrawFn, least: int = 1) -> DocumentDraws:
    """Samples of a document of up to three segments."""
    samples, segments = draw(st.integers(least, 5)), draw(st.integers(1, 3))
    texts = [draw(st.lists(TEXT, min_size=samples, max_size=samples)) for _ in range(segments)]
    number = np.arange(samples)
    return DocumentDraws([Draws(one, np.zeros(samples), number) for one in texts], np.zeros(samples))


def prepared(utility: Utility, found: DocumentCandidates) -> tuple[list[Pairs], list[int], DocumentPairs]:
    segments = [utility.prepare(one.texts, place) for place, one in enumerate(found.segments)]
    sizes = [len(one.texts) for one in found.segments]
    return segments, sizes, DocumentPairs(segments, sizes, found.rows)


def whole(found: DocumentCandidates) -> list[list[str]]:
    """The texts of each different document."""
    return [[one.texts[place] for one, place in zip(found.segments, row, strict=True)] for row in found.rows.tolist()]


def corpus_score(metric: Any, sign: int, hypothesis: list[str], reference: list[str]) -> float:
    value: float = sign * metric.corpus_score(hypothesis, [reference]).score
    return value


@pytest.mark.parametrize("name", list(UTILITIES))
@given(document=documents())
def test_equals_corpus_scores(name: str, document: DocumentDraws) -> None:
    """Each pair of documents as a corpus of its segments."""
    utility, metric, sign = UTILITIES[name]
    found = document_candidates(document, "multiplicity")
    rows = np.arange(len(found.rows))
    values = utility.score(prepared(utility, found)[2].statistics(rows, rows))
    texts = whole(found)
    expected = [[corpus_score(metric, sign, one, other) for other in texts] for one in texts]
    np.testing.assert_allclose(values.numpy(), expected, rtol=1e-9, atol=1e-12)


@given(document=documents(least=2), utility=st.sampled_from(["chrf", "bleu", "ter"]))
def test_recombination(document: DocumentDraws, utility: str) -> None:
    """No segment of the result can be improved; it is worth what it says, at least as much as its start; whether
    tables fit into memory or not."""
    function = make_utility([utility])
    metric, sign = UTILITIES[utility][1:]
    found = document_candidates(document, "multiplicity")
    segments, sizes, _ = prepared(function, found)
    texts = whole(found)

    def worth(rows: tuple[int, ...]) -> float:
        hypothesis = [one.texts[place] for one, place in zip(found.segments, rows, strict=True)]
        values = [corpus_score(metric, sign, hypothesis, other) for other in texts]
        return float(np.dot(values, found.pool.weights))

    best = max(worth(rows) for rows in product(*map(range, sizes)))
    results = []
    for memory in (1 << 30, 1):
        walk = Recombination(function, segments, sizes, found.rows, found.pool.weights, memory)
        results.append(walk.improve(found.rows[0]))
    assert results[0].rows.tolist() == results[1].rows.tolist() and results[0].sweeps == results[1].sweeps
    end = results[0]
    assert end.start == pytest.approx(worth(tuple(found.rows[0])), abs=1e-8)
    assert end.utility == pytest.approx(worth(tuple(end.rows)), abs=1e-8)
    assert end.start <= end.utility <= best + 1e-8
    for segment, size in enumerate(sizes):
        for other in range(size):
            changed = [*end.rows[:segment], other, *end.rows[segment + 1 :]]
            assert worth(tuple(changed)) <= end.utility + 1e-8


@given(document=documents(least=2))
def test_recombined_is_better_than_every_sample(document: DocumentDraws) -> None:
    """The decision, from both starts; the first start is the decision without recombination."""
    utility = Chrf()
    single = decide_document(document, utility, 0, 0, Options(unit="document", weights="multiplicity"))
    options = Options(unit="document", weights="multiplicity", settings=Settings("recombine"))
    outcome = decide_document(document, utility, 0, 0, options)
    assert outcome.starts["sample"].start == pytest.approx(single.best[0].value)
    assert set(outcome.starts) == {"sample", "sentences"}
    assert outcome.best[0].value == max(one.utility for one in outcome.starts.values())
    assert outcome.best[0].value >= single.best[0].value - 1e-9


@given(document=documents(least=2), leave_one_out=st.booleans())
def test_one_segment_is_decided_like_a_sentence(document: DocumentDraws, leave_one_out: bool) -> None:
    """Documents of one segment: all pairs and aggregated references."""
    one = DocumentDraws(document.segments[:1], document.scores)
    found = document_candidates(one, "multiplicity")
    segments, _, pairs = prepared(Chrf(), found)
    alone = found.segments[0].pool
    settings = Settings(leave_one_out=leave_one_out)
    first, second = (
        minimum_risk(Chrf(), pairs, found.pool, settings),
        minimum_risk(Chrf(), segments[0], alone, settings),
    )
    np.testing.assert_allclose(first.values, second.values[found.rows[:, 0]])
    everyone = np.arange(len(found.rows))
    aggregated = [
        aggregate(Chrf(), of, pool, everyone, leave_one_out=leave_one_out)
        for of, pool in ((pairs, found.pool), (segments[0], alone))
    ]
    np.testing.assert_allclose(aggregated[0], aggregated[1][found.rows[:, 0]])


def test_documents_are_drawn_from_independent_sentences() -> None:
    """As often as the product of the sentences' probabilities says; scores are sums."""
    two = Draws(["a", "b"], np.log([0.75, 0.25]), np.arange(2))
    found = document_candidates(DocumentDraws([two, two]), "score", draws=4000, seed=2)
    weights = {tuple(texts): weight for texts, weight in zip(whole(found), found.pool.weights, strict=True)}
    for first, second in product("ab", repeat=2):
        expected = (0.75 if first == "a" else 0.25) * (0.75 if second == "a" else 0.25)
        assert weights[first, second] == pytest.approx(expected, abs=0.03)
    best = found.rows.tolist().index([0, 0])
    assert found.pool.scores[best] == pytest.approx(2 * np.log(0.75))
    again = document_candidates(DocumentDraws([two, two]), "score", draws=4000, seed=2)
    np.testing.assert_array_equal(again.pool.weights, found.pool.weights)


def test_drawn_documents_are_worth_what_the_sentences_are() -> None:
    """However many are drawn; a sentence counts by how unsure its text is."""
    sure, even = Draws(["a"] * 9, np.zeros(9), np.arange(9)), Draws(["a", "b"] * 2, np.zeros(4), np.arange(4))

    def effective(*segments: Draws, draws: int = 1 << 16) -> float:
        return document_candidates(DocumentDraws(segments), "multiplicity", draws=draws).pool.effective

    assert effective(even, even, sure) == pytest.approx(4, rel=1e-3)
    assert effective(even, draws=4) == pytest.approx(2)  # as much again is unsure by the drawing
    assert effective(sure, sure) == pytest.approx(9, rel=1e-3)
    more = Draws(["a", "b"] * 50, np.zeros(100), np.arange(100))
    assert effective(even, more) == pytest.approx(2 / (1 / 4 + 1 / 100), rel=1e-3)


@pytest.mark.parametrize("draws", [500, 4000])
def test_intervals_of_drawn_documents_are_those_of_the_sentences(draws: int) -> None:
    """As if each sentence's samples were resampled, and all their products taken."""
    samples = [["a b c", "a b d", "a b c d", "x b c", "a c"], ["e f", "e g", "e f g", "f g", "e f"]]
    document = DocumentDraws([Draws(one, np.zeros(5), np.arange(5)) for one in samples])
    options = Options(unit="document", weights="multiplicity", draws=draws, settings=Settings(resamples=1000))
    outcome = decide_document(document, Chrf(), 0, 0, options)
    assert outcome.interval is not None and outcome.effective == pytest.approx(1 / (1 / 5 + 1 / draws))
    found = document_candidates(document, "multiplicity", draws=4000)
    texts, pairs = whole(found), prepared(Chrf(), found)[2]
    best = np.array([texts.index(outcome.best[0].texts)])
    values = Chrf().score(pairs.statistics(best, np.arange(len(texts))))[0].numpy()
    assert len(texts) == 5 * 4  # all the products there are
    generator = np.random.default_rng(1)
    means = []
    for _ in range(1000):
        drawn = [[one[place] for place in generator.integers(5, size=5)] for one in samples]
        means.append(np.mean([values[texts.index([first, second])] for first, second in product(*drawn)]))
    low, high = np.quantile(means, [0.025, 0.975])
    width = outcome.interval.utility[1] - outcome.interval.utility[0]
    assert 0.75 < width / (high - low) < 1.33


def test_whole_documents_have_weights_of_their_own() -> None:
    """By the score of the document; a segment's candidates have the weights of the documents that say them."""
    first, second = (
        Draws(["a", "a", "b"], np.zeros(3), np.array([0, 0, 1])),
        Draws(["x", "y", "y"], np.zeros(3), np.arange(3)),
    )
    found = document_candidates(DocumentDraws([first, second], np.log([0.5, 0.2, 0.3])), "score")
    assert whole(found) == [["a", "x"], ["a", "y"], ["b", "y"]]
    np.testing.assert_allclose(found.pool.weights, [0.5, 0.2, 0.3])
    np.testing.assert_allclose(found.segments[0].pool.weights, [0.7, 0.3])
    np.testing.assert_allclose(found.segments[1].pool.weights, [0.5, 0.5])


@pytest.mark.parametrize(
    "settings",
    [Settings("recombine", leave_one_out=True), Settings("recombine", resamples=9), Settings("recombine", keep=2)],
)
def test_what_contradicts_itself(settings: Settings) -> None:
    with pytest.raises(InputError, match="none of the samples"):
        check(Options(unit="document", settings=settings))
    with pytest.raises(InputError, match="recombination of sentences"):
        check(Options(settings=settings))
    with pytest.raises(InputError, match="a bootstrap needs utilities of pairs"):
        check(Options(settings=Settings("aggregate", resamples=9)))
