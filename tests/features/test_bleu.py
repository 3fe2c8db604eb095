"""BLEU as a feature: sacreBLEU's number, references found by their sources, files that do not do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from gpusearch.errors import InputError
from gpusearch.features.bleu import Bleu, BleuOracle
from gpusearch.features.text import Phrase, Sentence


def document(*pairs: tuple[str, str]) -> list[Sentence]:
    """Sentences by source and translation, one phrase each."""
    return [
        Sentence(tuple(source.split()), [Phrase(0, len(source.split()), tuple(target.split()), ())] if source else [])
        for source, target in pairs
    ]


def split(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize("smooth", [0.0, 0.01, 1.0])
def test_it_is_sacrebleus(smooth: float) -> None:
    """Random texts of few words, one to three references, empty translations and references among them."""
    rng = np.random.default_rng(1)
    metric = BLEU(tokenize="none", smooth_method="add-k" if smooth else "none", smooth_value=smooth or None)
    above = 0
    for _ in range(200):
        many, several = int(rng.integers(1, 12)), int(rng.integers(1, 4))

        def text(longest: int) -> str:
            return " ".join(rng.choice(["a", "b", "c", "d"], int(rng.integers(0, longest))))

        hypotheses = [text(12) for _ in range(many)]
        references = [[text(14) for _ in range(many)] for _ in range(several)]
        of_source = {
            (f"s{k}",): tuple(dict.fromkeys(tuple(reference[k].split()) for reference in references))
            for k in range(many)
        }
        expected = metric.corpus_score(hypotheses, references).score / 100
        found = Bleu(of_source, smooth).value(document(*((f"s{k}", one) for k, one in enumerate(hypotheses))))
        assert found == pytest.approx(expected, abs=1e-12)
        above += found > 0.01
    assert above > 50


def test_worked_by_hand() -> None:
    """5 of 6 words, 3 of 5 pairs, 1 of 4, 0 of 3; the reference has seven words. "the" counts twice at most."""
    reference = tuple(["the", "cat", "is", "on", "the", "mat", "now"])
    text = document(("s", "the cat on the mat the"))
    assert Bleu({("s",): (reference,)}).value(text) == 0
    smoothed = Bleu({("s",): (reference,)}, 1).value(text)
    assert smoothed == pytest.approx((5 / 6 * 4 / 6 * 2 / 5 * 1 / 4) ** 0.25 * np.exp(1 - 7 / 6))
    assert Bleu({("s",): (reference,)}).value(document(("s", " ".join(reference)))) == 1


def test_of_two_references_the_closer_length_counts() -> None:
    """Of equally close ones the shorter: nothing is missing."""
    references = {("s",): (tuple("abcdef"), tuple("abcd"))}
    assert Bleu(references).value(document(("s", "a b c d e"))) == 1
    assert Bleu(references).value(document(("s", "a b c d"), ("", ""))) == 1
    assert Bleu({("s",): (tuple("abcdef"),)}).value(document(("s", "a b c d e"))) == pytest.approx(np.exp(1 - 6 / 5))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_references_come_from_any_form(tmp_path: Path) -> None:
    """Equal sources: several references; raw text becomes tokens as a translation's does."""
    pairs = ("A b", "X y"), ("a B", "x z"), ("", ""), ("a b", "X Y")
    rows = [{"src": source, "ref": reference} for source, reference in pairs]
    path = write(tmp_path / "in.jsonl", json.dumps({"doc_id": "d", "segments": rows}) + "\n")

    def lower(text: str) -> list[str]:
        return text.lower().split()

    made = BleuOracle(path).of_texts(lower, lower)
    assert made.references == {("a", "b"): (("x", "y"), ("x", "z")), (): ((),)}
    sources, lines = write(tmp_path / "source", "a b\n\na c\n"), write(tmp_path / "reference", "x y\n\nz\n")
    made = BleuOracle(lines, sources).of_texts(split, split)
    assert made.references == {("a", "b"): (("x", "y"),), ("a", "c"): (("z",),)}
    table = write(tmp_path / "in.tsv", "doc\t1\ta b\tx y\n")
    assert BleuOracle(table).of_texts(split, split).references == {("a", "b"): (("x", "y"),)}


def test_faults(tmp_path: Path) -> None:
    lines, more = write(tmp_path / "lines", "a b\n"), write(tmp_path / "more", "a\nb\n")
    with pytest.raises(
        InputError, match=r"lines: documents without references; found text without any; expected JSONL"
    ):
        BleuOracle(lines).of_texts(split, split)
    with pytest.raises(
        InputError, match="more: the reference of document 1 has another number of segments; found 2; expected 1"
    ):
        BleuOracle(more, lines).of_texts(split, split)
    made = Bleu({("a", "b"): ((),), ("x",): ((),)}, 0.0, "refs")
    with pytest.raises(
        InputError, match="refs: no reference of a sentence that is translated; found 'a b'; expected 'a c'"
    ):
        made.references_of(["a", "c"])
    unusable: list[Any] = [-1, "x", True, 1 << 20]
    for smooth in unusable:
        with pytest.raises(InputError, match=r"unusable smooth of bleu-oracle; found .*; expected a number from 0"):
            Bleu({}, smooth)


def test_the_fingerprint_is_of_content() -> None:
    one, other = Bleu({("a",): (("x",),)}), Bleu({("a",): (("y",),)})
    assert one.fingerprint() == Bleu({("a",): (("x",),)}, path="elsewhere").fingerprint()
    assert len({one.fingerprint(), other.fingerprint(), Bleu({("a",): (("x",),)}, 1).fingerprint()}) == 3
