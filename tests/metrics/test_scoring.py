"""The way in for programs: names, documents, faults."""

from __future__ import annotations

import pytest
from sacrebleu.metrics import BLEU

from gpusearch.errors import InputError
from gpusearch.metrics import METRICS, evaluate
from gpusearch.metrics.scoring import document_starts

HYPOTHESES = ["the cat sat on the mat", "a dog ran", "so it is here now", "and there it was"]
REFERENCES = ["the cat sat on a mat", "the dog ran away", "so it is now here", "and it was there"]


def test_all_metrics_in_the_order_asked_for() -> None:
    names = list(METRICS)[::-1]
    results = evaluate(HYPOTHESES, REFERENCES, ["x", "x", "y", "y"], names)
    assert [result.name for result in results] == ["d-BLEU", "NIST", "TER", "chrF2", "BLEU"]
    assert [result.higher_is_better for result in results] == [True, True, False, True, True]


def test_document_bleu_is_bleu_of_joined_documents() -> None:
    """Labelled `unit:doc`, so that nobody takes it for BLEU of sentences."""
    hypotheses = [" ".join(HYPOTHESES[:3]), HYPOTHESES[3]]
    references = [" ".join(REFERENCES[:3]), REFERENCES[3]]
    (result,) = evaluate(HYPOTHESES, REFERENCES, ["x", "x", "x", "y"], ["dbleu"])
    assert result.score == BLEU(force=True).corpus_score(hypotheses, [references]).score
    assert result.signature.endswith("|unit:doc")
    (sentences,) = evaluate(HYPOTHESES, REFERENCES, metrics=["bleu"])
    assert "unit" not in sentences.signature and result.score != sentences.score


def test_documents_do_not_change_metrics_of_segments() -> None:
    names = [name for name in METRICS if name != "dbleu"]
    alone = evaluate(HYPOTHESES, REFERENCES, metrics=names)
    grouped = evaluate(HYPOTHESES, REFERENCES, ["x", "y", "y", "z"], metrics=names)
    assert [result.score for result in alone] == pytest.approx([result.score for result in grouped])


def test_several_references() -> None:
    both = list(zip(REFERENCES, HYPOTHESES, strict=True))
    for result in evaluate(HYPOTHESES, both, ["x", "x", "y", "y"], list(METRICS)):
        assert "nrefs:2" in result.signature
        if result.name in ("BLEU", "chrF2", "d-BLEU"):
            assert result.score == pytest.approx(100)


def test_lowercase() -> None:
    for result in evaluate(["THE CAT SAT ON"], ["the cat sat on"], ["x"], list(METRICS), lowercase=True):
        assert "|case:lc|" in result.signature
        assert result.score == pytest.approx({"TER": 0, "NIST": 2}.get(result.name, 100))
    for result in evaluate(["THE CAT SAT ON"], ["the cat sat on"], ["x"], list(METRICS)):
        assert "|case:mixed|" in result.signature
        assert result.score == pytest.approx({"TER": 100}.get(result.name, 0), abs=0.01)


FAULTS = [
    ({"metrics": ["meteor"]}, "unknown metric; found 'meteor'; expected bleu, chrf, ter, nist, dbleu"),
    ({"metrics": ["dbleu"]}, "d-BLEU without documents; give the document id of each segment"),
    ({"documents": ["x"]}, "not one document id for every segment; found 1; expected 4"),
    ({"documents": ["x", "y", "x", "x"]}, "the segments of document 'x' do not stand together"),
]


@pytest.mark.parametrize(("options", "message"), FAULTS)
def test_faults(options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InputError) as error:
        evaluate(HYPOTHESES, REFERENCES, **options)
    assert str(error.value) == message


def test_nothing_to_score() -> None:
    with pytest.raises(InputError, match="no segment to score"):
        evaluate([], [])


def test_document_starts() -> None:
    assert document_starts(["x", "x", "y", "z", "z"], 5) == [0, 2, 3]
    assert document_starts([], 0) == []
