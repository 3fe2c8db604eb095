"""What runs on a machine with a GPU needs few libraries, and is known to run before one is at hand."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpusearch.config import OperationsConfig
from gpusearch.kernels import judge
from profiling import carried, device_check, gibbs
from profiling.synthetic import DEFAULT_MIX
from tests.paths import Case, cpu

ABSENT = (
    "pydantic", "tomlkit", "kenlm", "thot", "sacremoses", "conllu", "sentencepiece", "polars", "duckdb", "sacrebleu",
    "typer", "rich", "lxml",
)  # fmt: skip


def test_device_check_imports_none_of_the_libraries_that_may_be_absent(repository: Path) -> None:
    """Nor do the tests that it runs."""
    program = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {ABSENT!r}:
            raise ImportError(f"{{name}} is absent")
sys.meta_path.insert(0, Absent())
import profiling.device_check, tests.kernels.test_paths, tests.kernels.test_philox, tests.golden.test_golden
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_device_check_without_a_gpu_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if device_check.cuda_available():
        pytest.skip("there is a GPU")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["device_check", str(tmp_path / "results.csv")])
        assert device_check.main() == 2
    assert "no GPU" in capsys.readouterr().err
    assert not (tmp_path / "results.csv").exists()


def test_device_check_writes_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the CPU in the GPU's place, on a small problem carried in a file."""
    case = Case(1, sentences=(5, 4), units="sentence")
    carried.save_problem(tmp_path / "small.npz", *case.problem())
    results = tmp_path / "results.csv"
    for name, value in {
        "CudaDriver": lambda problem, search, state, **_: cpu(1)(problem, search, state),
        "cuda_available": lambda: True,
        "lanes_that_fit": lambda problem, values: 100,
        "memory_baselines": lambda results: None,
        "synthetic_problem": case.problem,
        "LANES": (4, 1000),
        "WIDTHS": (None, 32),
        "REGISTERS": (96,),
        "TIMING": 0.01,
    }.items():
        monkeypatch.setattr(device_check, name, value)
    monkeypatch.setattr(device_check.torch.cuda, "get_device_name", lambda: "no card, really")
    monkeypatch.setenv("GPUSEARCH_COMMIT", "abc1234")
    arguments = [str(results), "--problem", str(tmp_path / "small.npz"), "--seconds", "1e9"]  # however busy the machine
    monkeypatch.setattr(sys, "argv", ["device_check", *arguments])
    assert device_check.main() == 0
    rows = [line.split(",") for line in results.read_text(encoding="utf-8").splitlines()]
    assert tuple(rows[0]) == device_check.COLUMNS
    assert {row[1] for row in rows[1:]} == {"abc1234"}
    text = results.read_text(encoding="utf-8")
    assert text.count("golden hashes equal") == 4 * len(device_check.ENTRIES)  # widths
    for what in ("synthetic: 4 lanes, width 32", "small: 4 lanes, width chosen, at most 96 registers"):
        assert what in text
    assert "1000 lanes" not in text


def test_synthetic_problems_are_searched_by_the_default_mix() -> None:
    """They state it themselves: machines with a GPU may lack what reads configurations."""
    assert asdict(DEFAULT_MIX) == OperationsConfig().model_dump()


@pytest.mark.parametrize("reordering", [0, 2])
def test_a_carried_problem_is_the_same(tmp_path: Path, reordering: int) -> None:
    problem, search, values = Case(2, orders=(3, 2), weights=(5, -7), reordering=reordering).problem()
    carried.save_problem(tmp_path / "problem.npz", problem, search, values)
    again = carried.load_problem(tmp_path / "problem.npz")
    assert again[2] == values
    for mine, other in zip(_arrays((problem, search, values)), _arrays(again), strict=True):
        assert np.array_equal(mine, other)


def _arrays(found: tuple) -> tuple:
    problem, search, _ = found
    return (*problem.language, *problem.reordering, *problem[:-4], *search[:3])


def test_a_problem_with_models_on_the_host_cannot_be_carried(tmp_path: Path) -> None:
    problem, search, values = Case(2).problem()
    with pytest.raises(ValueError, match="can be carried"):
        carried.save_problem(tmp_path / "x.npz", problem._replace(host=SimpleNamespace()), search, values)


def test_look_ups_that_the_bound_saves_are_those_of_settled_chains_of_several_sentences() -> None:
    """The figure says what it was counted on; counting leaves the kernels as they are."""
    problem, search, values = Case(5, gibbs="random", sentences=(6, 2, 9, 4), units="sentence").problem()
    plain = judge.recall
    share, sample = gibbs.avoided(problem, search, values, sentences=2, settled=3)
    assert judge.recall is plain
    assert 0 < share < 1
    assert sample.endswith("look-ups, 2 sentences of 4 to 9 words, iteration 4")
    more, every = gibbs.avoided(problem, search, values, sentences=4, settled=3)
    assert more != share and "4 sentences of 2 to 9 words" in every
    assert int(every.split()[0].replace(",", "")) > int(sample.split()[0].replace(",", ""))
