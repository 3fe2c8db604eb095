"""Commands that README.md shows print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gpusearch.cli.main import run


def test_scores(repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The metrics, in their order and with their signatures; of the references themselves, for the page's translation
    is not kept."""
    text = (repository / "README.md").read_text(encoding="utf-8")
    ((command, shown),) = re.findall(r"`gpusearch (eval --ref[^`]*)` then prints\n\n((?: {4}.*\n)+)", text)
    monkeypatch.chdir(repository / "examples" / "laws")
    assert run(shlex.split(command.replace("test.translation.en", "test.en"))) == 0
    printed = [line.split() for line in capsys.readouterr().out.split("\n")[:-1]]
    lines = [line.split() for line in shown.split("\n")[:-1]]
    assert [[name, signature] for name, _, signature in printed[:-1]] == [[name, last] for name, _, last in lines[:-1]]
    assert printed[-1] == lines[-1]
