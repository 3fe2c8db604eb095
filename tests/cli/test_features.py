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
        "class Two:\n    scope = 'document'\n    names = ('a', 'b')\n    def __init__(self, steps=3): ...\n"
        "    def full(self, state): ...\n"
        "class Changing(Two):\n    names = ()\n    def delta(self, state, proposal): ...\n"
        "class Compiled:\n    scope = 'sentence'\n    compiled = True\n    def value(self, document): ...\n"
        "    def full(my, problem, search, state, scratch, lane): ...\n"
        "    def delta(my, problem, search, state, scratch, lane, change): ...\n"
        "object = Two()\n",
        encoding="utf-8",
    )
    settings = ["features.two={use='mine_to_list:Two', weights=[1, 2]}", "features.ttr=type-token-ratio"]
    settings += [f"features.{name.lower()}=mine_to_list:{name}" for name in ("Changing", "Compiled")]
    settings += ["features.made={use='mine_to_list:object', weights=[1, 2]}"]
    assert run(["features", "-c", str(TINY), *(f"--set={setting}" for setting in settings)]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.split("\n\n")[1].split("\n")]
    assert rows[1:] == [
        "two document a, b 1, 2 mine_to_list:Two Python steps = 3 its full, on the host",
        "ttr document ttr 1 type-token-ratio built in form = 'paper' the words that change",
        "changing document changing 1 mine_to_list:Changing Python steps = 3 its delta, on the host",
        "compiled sentence compiled 1 mine_to_list:Compiled compiled - its delta, in kernels",
        "made document a, b 1, 2 mine_to_list:object Python - its full, on the host",
        "",
    ]


def test_settings_belong_to_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["features", "--set", "features.ttr=type-token-ratio"]) == 2
    assert "--set would have no effect; expected --config" in capsys.readouterr().err
