"""`gpusearch features`: what is built in, and what a model names."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusearch.cli.main import run
from gpusearch.features.builtin import BUILT_IN, COSTS
from tests.tiny import TINY


def test_all_that_is_built_in_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its scope, its parameters, and what it looks at."""
    assert run(["features"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line.split()[0] for line in lines[1:-1]] == sorted(BUILT_IN) == sorted(COSTS)
    (row,) = (line for line in lines if line.startswith("q-value-words"))
    assert row.split("  ", 1)[1].split() == ["document", "form", "=", "'paper'", *COSTS["q-value-words"][1].split()]


def test_those_of_a_model_are_listed_as_well(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine_to_list.py").write_text(
        "class Two:\n    scope = 'document'\n    names = ('a', 'b')\n    def full(self, state): ...\n", encoding="utf-8"
    )
    settings = ["features.two={use='mine_to_list:Two', weights=[1, 2]}", "features.ttr=type-token-ratio"]
    assert run(["features", "-c", str(TINY), *(f"--set={setting}" for setting in settings)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.split("\n\n")[1].split("\n")]
    assert rows[1] == ["two", "document", "a,", "b", "1,", "2", "mine_to_list:Two"]
    assert rows[2] == ["ttr", "document", "ttr", "1", "type-token-ratio"]


def test_settings_belong_to_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["features", "--set", "features.ttr=type-token-ratio"]) == 2
    assert "--set changes a model" in capsys.readouterr().err
