"""Values that other libraries publish, and their output on random sets where they are installed."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.matrix import utilities
from gpusearch.mbr.ter import Ter
from gpusearch.mbr.utility import Utility

LONG = "Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;"
LONG_REFERENCE = "producţia de zahăr brut se exprimă în zahăr alb;"
FOUR = ["another test", "this is a test", "this is an test", "this is a fest"]
# Four sets of the tests of mbrs (mbrs/decoders/*_test.py): hypotheses and references.
SETS = [
    (FOUR, FOUR),
    (["another test", "this is a fest", "this is a test"], ["this is a test", "ref1 ref2 ref3 ref4"]),
    (["this is a test"], ["this is a test"]),
    ([LONG], [LONG_REFERENCE]),
]


def aggregated(utility: Utility, hypotheses: list[str], references: list[str]) -> NDArray[np.float64]:
    """Scores of hypotheses against the expected counts of the references, repeated ones counted as often."""
    texts = list(dict.fromkeys([*hypotheses, *references]))
    weights = np.array([references.count(text) / len(references) for text in texts])
    rows = np.array([texts.index(text) for text in hypotheses], np.int64)
    return utility.score(utility.prepare(texts, 0).expected(rows, weights, np.zeros(len(rows))))[:, 0].numpy()


@pytest.mark.parametrize(
    ("utility", "best", "values"),
    [
        (Bleu(), [1, 2, 0, 0], [52.697, 50.0, 100.0, 8.493]),
        (Ter(lowercase=True), [1, 2, 0, 0], [-50.0, -50.0, 0.0, -100.0]),
    ],
)
def test_choices_of_mbrs(utility: Utility, best: list[int], values: list[float]) -> None:
    """mbrs/decoders/mbr_test.py (mbrs 0.1.8)."""
    for (hypotheses, references), place, value in zip(SETS, best, values, strict=True):
        expected = utilities(utility, hypotheses, references).mean(axis=1)
        assert int(expected.argmax()) == place and expected[place] == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("utility", "best", "values"),
    [
        (Chrf(), [2, 2, 0, 0], [63.75969, 40.86618, 100.0, 46.16121]),
        (Bleu(), [1, 2, 0, 0], [42.36951, 50.0, 100.0, 8.49310]),
        (Bleu(effective_order=False), [1, 2, 0, 0], [42.36951, 50.0, 100.0, 8.49310]),
    ],
)
def test_aggregated_choices_of_mbrs(utility: Utility, best: list[int], values: list[float]) -> None:
    """mbrs/decoders/aggregate_mbr_test.py (mbrs 0.1.8)."""
    for (hypotheses, references), place, value in zip(SETS, best, values, strict=True):
        expected = aggregated(utility, hypotheses, references)
        assert int(expected.argmax()) == place and expected[place] == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(("effective", "another"), [(True, 18.394), (False, 0.0)])
def test_matrix_of_mbrs(effective: bool, another: float) -> None:
    """mbrs/metrics/bleu_test.py: a matrix of four hypotheses and three references, and aggregation of the same."""
    hypotheses = ["this is a test", "another test", "this is a fest", LONG]
    references = ["ref", "this is a test", LONG_REFERENCE]
    found = utilities(Bleu(effective_order=effective), hypotheses, references)
    expected = [[0, 100, 0], [0, another, 0], [0, 59.460, 0], [0, 0, 8.493]]
    np.testing.assert_allclose(found, expected, atol=5e-4)
    expected_aggregate = [25.96003, 6.44121 if effective else 0.0, 20.31482, 5.13217]
    found = aggregated(Bleu(effective_order=effective), hypotheses, references)
    np.testing.assert_allclose(found, expected_aggregate, atol=5e-5)


def test_aggregation_with_empty_texts_of_mbrs() -> None:
    """mbrs/metrics/{bleu,chrf}_test.py: an empty hypothesis and two empty references."""
    hypotheses = ["thank you", ""]
    references = ["thank you so much", "", "thank you.", "thank you", ""]
    np.testing.assert_allclose(aggregated(Bleu(), hypotheses, references), [60.0, 0.0], atol=5e-5)
    np.testing.assert_allclose(aggregated(Chrf(), hypotheses, references), [68.2679, 0.0], atol=5e-5)


CATS = ["The cat sat on the mat.", "The cat sat on the hat."]
OTHER_CATS = ["The cat sat on the mat.", "The fat cat sat on the mat.", "A cat sat on a mat."]


def test_values_of_fastchrf() -> None:
    """The two matrices of fastChrF's README (fastchrf 0.2.1): all pairs, and aggregated references."""
    found = utilities(Chrf(), CATS, OTHER_CATS)
    np.testing.assert_allclose(found, [[100, 74.6319, 55.7707], [79.6537, 57.1529, 50.7218]], atol=1e-4)
    np.testing.assert_allclose(aggregated(Chrf(), CATS, OTHER_CATS), [78.5639, 63.3719], atol=1e-4)


def random_sets(number: int) -> list[tuple[list[str], list[str]]]:
    """Hypotheses and references: texts of few words, so that n-grams of all orders match; some are empty."""
    generator = random.Random(7)
    words = ["the", "cat", "sat,", "on", "mats", "Été", "a", "aaaa", "3.5"]

    def text() -> str:
        return " ".join(generator.choices(words, k=generator.randrange(9)))

    return [([text() for _ in range(4)], [text() for _ in range(5)]) for _ in range(number)]


def test_fastchrf_on_random_sets() -> None:
    """Last run with fastchrf 0.2.1."""
    fastchrf = pytest.importorskip("fastchrf")
    for hypotheses, references in random_sets(200):
        pairs = np.array(fastchrf.pairwise_chrf([hypotheses], [references])[0])
        np.testing.assert_allclose(utilities(Chrf(), hypotheses, references), pairs, rtol=1e-5, atol=1e-4)
        together = np.array(fastchrf.aggregate_chrf([hypotheses], [references])[0])
        np.testing.assert_allclose(aggregated(Chrf(), hypotheses, references), together, rtol=1e-5, atol=1e-4)


def test_mbrs_on_random_sets() -> None:
    """Expected utilities and those of aggregated references; mbrs has them in float32. Last run with mbrs 0.1.8."""
    metrics = pytest.importorskip("mbrs.metrics")
    ours = {"bleu": Bleu(), "chrf": Chrf()}
    theirs = {name: metrics.get_metric(name)(metrics.get_metric(name).Config()) for name in ours}
    for hypotheses, references in random_sets(200):
        for name, utility in ours.items():
            scores = [[theirs[name].score(one, other) for other in references] for one in hypotheses]
            np.testing.assert_allclose(utilities(utility, hypotheses, references), scores, rtol=1e-9, atol=1e-9)
            together = theirs[name].expected_scores_reference_aggregation(hypotheses, references).numpy()
            np.testing.assert_allclose(aggregated(utility, hypotheses, references), together, rtol=1e-5, atol=1e-4)
