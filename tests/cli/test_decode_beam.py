"""`gpusearch decode --method beam`: lists and lattices."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.cli.test_decode import JSONL, TARGETS, TEXT, decode, decoded


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.complaint(13)
@pytest.mark.complaint(15)
def test_beam_with_n_best_and_lattices(capsys: pytest.CaptureFixture[str]) -> None:
    """Distinct derivations of each sentence, best first, with all that the best one has; and its search graph."""
    Path("in").write_text(JSONL, encoding="utf-8")
    arguments = ["in", "--method", "beam", "--nbest", "7", "--distinct", "--lattice", "lattice"]
    rows = [json.loads(line) for line in decoded(capsys, *arguments).splitlines()]
    lattices = [json.loads(line) for line in Path("lattice").read_text(encoding="utf-8").splitlines()]
    assert [(row["doc"], row["segment"]) for row in lattices] == [("a", 0), ("a", 1), ("b", 0), ("b", 2)]
    for document, targets in zip(rows, TARGETS, strict=True):
        assert "nbest" not in document
        for segment, target in zip(document["segments"], targets, strict=True):
            several = segment["nbest"]
            assert several[0].keys() == {"hyp", "score", "features", "phrases", "alignment"}
            assert several[0]["hyp"] == target and several[0]["score"] == pytest.approx(segment["score"], abs=1e-9)
            assert several[0]["phrases"] == segment["phrases"] and several[0]["alignment"] == segment["alignment"]
            texts = [one["hyp"] for one in several]
            assert len(set(texts)) == len(texts) and len(texts) <= 7
            scores = [one["score"] for one in several]
            assert scores == sorted(scores, reverse=True)
    assert len(rows[0]["segments"][0]["nbest"]) == 7
    for row in lattices:
        best = [0.0] + [-math.inf] * (len(row["covered"]) - 1)
        for source, target, phrase, gain in row["arcs"]:
            first, last, _ = row["phrases"][phrase]
            assert row["covered"][target] - row["covered"][source] == last + 1 - first
            best[target] = max(best[target], best[source] + gain)
        assert best[-1] == pytest.approx(row["score"], abs=1e-9)
        assert row["covered"][-1] == len(row["source"])


def test_lattices_are_of_the_beam(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_text(TEXT, encoding="utf-8")
    assert decode("in", "--lattice", "lattice") == 2
    assert "--lattice would have no effect; expected --method beam" in capsys.readouterr().err
    assert not Path("lattice").exists()


def test_lattices_within_a_width(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_text("la maison bleue .\n", encoding="utf-8")
    sizes = []
    for width in ("5.0", "0.5", "0.0"):
        decoded(capsys, "in", "--method", "beam", "--lattice", "lattice", "--set", f"search.beam.lattice_width={width}")
        sizes.append(len(json.loads(Path("lattice").read_text(encoding="utf-8"))["arcs"]))
    assert sizes[0] > sizes[1] >= sizes[2] >= 1
