"""`gpusearch bench` and `gpusearch warmup`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gpusearch.cli import main, warmup
from gpusearch.decoder import load
from gpusearch.kernels.records import ACCEPTED, BELOW_BOUND, EMPTY
from gpusearch.model.problem import build_problem
from gpusearch.search import device
from gpusearch.search.bench import without_bound
from gpusearch.search.device import make_driver
from gpusearch.search.run import search_settings
from gpusearch.search.state import lane_hash
from tests.tiny import TINY


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The model that `warmup` makes; making it runs every driver."""
    warmup.warm_up(tmp_path, ["search"])
    return tmp_path / "model.toml"


def test_bench_prints_a_row_for_each_measurement(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lanes are swept, the bound is switched off once, each operation runs by itself; shares add up."""
    text = tmp_path / "text"
    text.write_text("a b a\nb\n")
    code = main.run(
        ["bench", "-c", str(model), "--json", "--chains", "8", "--seconds", "0.01", "--device", "cpu", str(text)]
    )
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert code == 0
    assert [row["lanes"] for row in rows if row["operation"] == "all" and row["bound"]] == [1, 8, 16]
    assert sum(not row["bound"] for row in rows) == 1
    assert {row["operation"] for row in rows} >= {"change", "swap", "resegment", "insertion"}
    for row in rows:
        assert row["device"] == "cpu"
        shares = row["too_far"] + row["rejected_by_bound"] + row["rejected_by_score"] + row["accepted"]
        assert shares == pytest.approx(1) or row["empty"] == 1
        if not row["bound"]:
            assert row["rejected_by_bound"] == 0
        assert row["proposals_per_second"] > 0


COUNTED = """
class Counted:
    scope = "document"
    looks = 0

    def full(self, state):
        Counted.looks += len(state)
        return [0] * len(state)
"""


def test_bench_asks_the_features(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Documents are searched as wholes, and a feature in Python is asked about what they become."""
    (tmp_path / "counted.py").write_text(COUNTED)
    (tmp_path / "text").write_text("a b a\nb\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "counted", raising=False)
    command = ["bench", "-c", str(model), "--json", "--chains", "2", "--seconds", "0.01", "text"]
    assert main.run([*command, "--set", "features.counted=counted:Counted"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["lanes"] for row in rows if row["operation"] == "all" and row["bound"]] == [1, 2]
    assert sys.modules["counted"].Counted.looks > 100


def test_the_bound_never_changes_a_path(model: Path) -> None:
    """Chains with and without it end in the same states; without it nothing is rejected by it."""
    decoder = load(model)
    batch = build_problem(
        decoder.model, [[["a", "b", "a", "b"], ["b", "a"]]], None, decoder.config.search, units="document"
    )
    search = search_settings(decoder.config, decoder.model, batch)
    hashes, tallies = [], []
    for problem in (batch.problem, without_bound(batch.problem)):
        driver = make_driver(problem, search, 4, len(decoder.model.features.names), decoder.config.search)
        driver.state.chain[:] = np.arange(4)
        lanes = np.arange(4)
        driver.start(lanes)
        driver.state.limit[:, 0] = driver.state.limit[:, 3] = 400
        driver.run(lanes, lambda: None)
        tallies.append(driver.state.tally.sum(axis=(0, 1)))
        driver.state.tally[:] = 0  # how far proposals came is what differs
        hashes.append([lane_hash(problem, driver.state, lane) for lane in lanes])
        driver.close()
    assert hashes[0] == hashes[1]
    assert tallies[1][BELOW_BOUND] == 0 < tallies[0][BELOW_BOUND]
    assert tallies[0][[EMPTY, ACCEPTED]].tolist() == tallies[1][[EMPTY, ACCEPTED]].tolist()


def test_warmup_says_where_kernels_go(capsys: pytest.CaptureFixture[str]) -> None:
    """It ends with a line on standard error; standard output stays empty."""
    assert main.run(["warmup", "--only", "search", "--only", "beam"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "compiling kernels into" in captured.err and "done in" in captured.err


def test_warmup_knows_what_there_is_to_compile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["warmup", "--only", "serach"]) == 2
    assert "serach" in capsys.readouterr().err
    assert {"search", "beam-reordering", "sweep", "gibbs"} <= set(warmup.NAMES)


@pytest.mark.slow
def test_all_kernels_are_compiled(tmp_path: Path) -> None:
    warmup.warm_up(tmp_path, warmup.NAMES)


def test_without_a_gpu_nothing_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(device, "_has_cuda_driver", lambda: False)
    (tmp_path / "text").write_text("la maison\n")
    assert main.run(["bench", "-c", str(TINY), "--device", "cuda", str(tmp_path / "text")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "there is no GPU that can be used" in err
