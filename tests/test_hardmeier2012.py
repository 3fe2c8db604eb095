"""The experiments of configs/hardmeier2012, run small: what they write, and what must hold of it whatever the model."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from configs import experiment
from configs.hardmeier2012 import beam_and_search, rejection_limits, stability
from tests.experiments import check_figure, rows_of, write_test_set
from tests.tiny import TINY


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A command line for the tiny model and three documents."""
    return [str(write_test_set(tmp_path / "toy")), "-c", str(TINY), "-o", str(tmp_path / "out"), "--steps", "3000"]


def scores_of(path: Path, column: str, value: str) -> list[tuple[int, float]]:
    """(step, score) of one curve."""
    rows = [row for row in rows_of(path) if row[column] == value and row["score"]]
    return [(int(row["steps"]), float(row["score"])) for row in rows]


def check_climb(curve: list[tuple[int, float]]) -> None:
    """Steps rise, and hill climbing never loses."""
    steps, scores = zip(*curve, strict=True)
    assert steps[0] == 0
    assert list(steps) == sorted(set(steps))
    assert all(later >= earlier - 1e-6 for earlier, later in pairwise(scores))


def test_stability(arguments: list[str], tmp_path: Path) -> None:
    stability.main([*arguments, "--runs", "2", "--rejected", "200"])
    table = (tmp_path / "out/stability.md").read_text(encoding="utf-8")
    assert "toy: 3 documents, 5 segments, 21 source tokens." in table
    assert all(f"| {row} |" in table for row in ("seed 1", "seed 2", "mean", "standard deviation", "0"))
    curves = [scores_of(tmp_path / "out/stability.csv", "seed", seed) for seed in "12"]
    assert curves[0][0] != curves[1][0]
    for curve, name in zip(curves, ("seed 1", "seed 2"), strict=True):
        check_climb(curve)
        assert f"| {name} | {curve[-1][1]:.1f} |" in table
    check_figure(tmp_path / "out/stability.svg", "toy", "BLEU", "steps of a document")


def test_a_lower_rejection_limit_is_the_beginning_of_a_higher_one(arguments: list[str], tmp_path: Path) -> None:
    rejection_limits.main([*arguments, "--limits", "5", "50", "500"])
    curves = [scores_of(tmp_path / "out/rejection_limits.csv", "limit", limit) for limit in ("5", "50", "500")]
    for lower, higher in pairwise(curves):
        check_climb(higher)
        assert lower[0] == higher[0]
        assert lower[-1][0] < higher[-1][0]
        assert lower[-1][1] <= higher[-1][1] + 1e-6
    table = (tmp_path / "out/rejection_limits.md").read_text(encoding="utf-8")
    assert table.count("\n| 5") == 3
    check_figure(tmp_path / "out/rejection_limits.svg", "toy", "rejection limit", "500")


def test_search_from_the_beam_starts_at_its_score(arguments: list[str], tmp_path: Path) -> None:
    beam_and_search.main([*arguments, "--runs", "2", "--chains", "2"])
    table = (tmp_path / "out/beam_and_search.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")][2:]
    assert [row[0] for row in rows] == [
        "beam",
        "beam, then hill climbing",
        "hill climbing from random starts",
        "2 chains from random starts",
        "2 chains from the beam",
    ]
    assert rows[1][4].endswith("/ 0"), "no sentence ends below the beam"
    assert rows[4][4].endswith("/ 0"), "no sentence ends below the beam"
    curve = scores_of(tmp_path / "out/beam_and_search.csv", "system", "beam, then hill climbing")
    check_climb(curve)
    assert f"{curve[0][1]:.1f}" == rows[0][1]
    check_figure(tmp_path / "out/beam_and_search.svg", "toy", "model score (nats)", "beam")


def test_without_matplotlib_the_table_is_written(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(experiment.importlib.util, "find_spec", lambda name: None)
    rejection_limits.main([*arguments, "--limits", "5", "--documents", "2"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["rejection_limits.csv", "rejection_limits.md"]
    said = capsys.readouterr()
    assert "toy: 2 documents" in said.out
    assert "gpusearch[figures]" in said.err


def test_documents_are_evenly_spread() -> None:
    assert experiment.spread(list(range(10)), 4) == [0, 2, 5, 7]
    assert experiment.spread([1, 2], 5) == [1, 2]
    assert experiment.spread([1, 2], None) == [1, 2]
