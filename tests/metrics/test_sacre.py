"""BLEU, chrF and TER: sums of our statistics give sacreBLEU's own scores and signatures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER

from gpusearch.errors import InputError
from gpusearch.metrics import make_metric
from gpusearch.metrics.base import Metric

ORACLES: list[tuple[str, Callable[..., Any], dict[str, Any], dict[str, Any]]] = [
    ("bleu", BLEU, {}, {"lowercase": True}),
    ("chrf", CHRF, {}, {"lowercase": True}),
    ("ter", TER, {"case_sensitive": True}, {"case_sensitive": False}),
]

HYPOTHESES = ["The cat sat on the mat.", "There is a cat", "", "guess", "« Oui » !", "a b c d e f g a b"]
REFERENCES = ["The cat sat on a mat.", "there is a dog here.", "empty", "", "« Oui » !", "a b c x e f g b a"]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize(("name", "oracle", "mixed", "lower"), ORACLES)
def test_equals_sacrebleu(
    name: str, oracle: Callable[..., Any], mixed: dict[str, Any], lower: dict[str, Any], lowercase: bool
) -> None:
    """The corpus, each segment, and any part of it."""
    metric = make_metric(name, lowercase=lowercase)
    own = oracle(**(lower if lowercase else mixed))
    rows = metric.statistics(HYPOTHESES, REFERENCES)
    assert metric.score(rows.sum(axis=0)) == own.corpus_score(HYPOTHESES, [REFERENCES]).score
    assert metric.signature == str(own.get_signature())
    for start in range(len(HYPOTHESES)):
        expected = own.corpus_score(HYPOTHESES[start : start + 2], [REFERENCES[start : start + 2]]).score
        assert metric.score(rows[start : start + 2].sum(axis=0)) == expected


@pytest.mark.parametrize(("name", "oracle", "mixed", "lower"), ORACLES)
def test_several_references(
    name: str, oracle: Callable[..., Any], mixed: dict[str, Any], lower: dict[str, Any]
) -> None:
    others = [text + " indeed" for text in HYPOTHESES]
    metric = make_metric(name, reference_count=2)
    rows = metric.statistics(HYPOTHESES, list(zip(REFERENCES, others, strict=True)))
    own = oracle(**mixed)
    assert metric.score(rows.sum(axis=0)) == own.corpus_score(HYPOTHESES, [REFERENCES, others]).score
    assert metric.signature == str(own.get_signature())
    assert "nrefs:2" in metric.signature


def test_equals_sacrebleu_on_real_text(parity: Path) -> None:
    """Output of a real system, 300 segments: the functions that sacreBLEU's command line uses."""
    folder = parity / "laws100k.fr-en"
    hypotheses = (folder / "moses.stack200.txt").read_text(encoding="utf-8").split("\n")[:300]
    references = (folder / "test.en").read_text(encoding="utf-8").split("\n")[:300]
    bleu, chrf = make_metric("bleu"), make_metric("chrf")
    expected = sacrebleu.corpus_bleu(hypotheses, [references], force=True).score
    assert bleu.score(bleu.statistics(hypotheses, references).sum(axis=0)) == expected
    expected = sacrebleu.corpus_chrf(hypotheses, [references]).score
    assert chrf.score(chrf.statistics(hypotheses, references).sum(axis=0)) == expected
    ter = make_metric("ter")
    short = slice(0, 60)
    expected = sacrebleu.corpus_ter(hypotheses[short], [references[short]], case_sensitive=True).score
    assert ter.score(ter.statistics(hypotheses[short], references[short]).sum(axis=0)) == expected


ALL = ["bleu", "chrf", "ter", "nist", "dbleu"]


@pytest.fixture(params=ALL)
def metric(request: pytest.FixtureRequest) -> Metric:
    made: Metric = make_metric(request.param)
    return made


def test_perfect_translation_is_best(metric: Metric) -> None:
    texts = ["The quick brown fox jumps.", "over the lazy dog."]
    best = metric.score(metric.statistics(texts, texts).sum(axis=0))
    worse = metric.score(metric.statistics([texts[0], "over a dog"], texts).sum(axis=0))
    assert best > worse if metric.higher_is_better else best < worse
    if metric.name != "NIST":
        assert best == pytest.approx(100.0 if metric.higher_is_better else 0.0)


@pytest.mark.complaint(9)
def test_empty_texts(metric: Metric) -> None:
    """Complaint 9: empty hypotheses and references are segments like others; empty sets have no rows."""
    rows = metric.statistics(["", "a b", ""], ["a b", "", ""])
    assert rows.shape[0] == 3 and np.isfinite(metric.score(rows.sum(axis=0)))
    assert np.isfinite([metric.score(row) for row in rows]).all()
    assert metric.statistics([], []).shape == (0, rows.shape[1])
    assert metric.score(np.zeros(rows.shape[1], rows.dtype)) == 0.0


def test_statistics_add_up(metric: Metric) -> None:
    """A row depends on its unit alone (NIST: and on the references that its weights come from)."""
    rows = metric.statistics(HYPOTHESES, REFERENCES)
    order = [3, 0, 5, 1, 4, 2]
    shuffled = metric.statistics([HYPOTHESES[i] for i in order], [REFERENCES[i] for i in order])
    np.testing.assert_array_equal(shuffled, rows[order])


def test_counts_that_differ(metric: Metric) -> None:
    with pytest.raises(InputError) as error:
        metric.statistics(["a", "b"], ["a"])
    assert str(error.value) == "not one reference for every hypothesis; found 1 references; expected 2"
    with pytest.raises(InputError) as error:
        metric.statistics(["a", "b"], [("a",), ("a", "b")])
    assert str(error.value) == "references of unit 2; found 2; expected 1 for each unit"
