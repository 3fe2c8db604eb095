"""`gpusearch doctor` and the checks behind it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gpusearch import environment
from gpusearch.cli.main import run


def test_complete_environment(capsys: pytest.CaptureFixture[str]) -> None:
    """The environment that runs the tests has all that decoding needs; one JSON object a line says so."""
    assert run(["doctor", "--json"]) == 0
    findings = [json.loads(line) for line in capsys.readouterr().out.removesuffix("\n").split("\n")]
    names = [finding["name"] for finding in findings]
    assert len(set(names)) == len(names)
    assert {"python", "torch", "numba", "GPU", "kenlm", "C++ compiler", "cache", "cores", "memory"} <= {*names}
    assert all(finding["state"] in ("ok", "optional") for finding in findings)
    assert all(finding["advice"] for finding in findings if finding["state"] == "optional")


@pytest.mark.complaint(28)
def test_without_kenlm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Complaint 28: without kenlm nothing ends; doctor says what to install and what needs it."""
    monkeypatch.setitem(sys.modules, "kenlm", None)
    assert run(["doctor"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "optional kenlm absent" in out
    assert 'needed for backend = "kenlm"' in out
    assert "pip install ufal.kenlm" in out


@pytest.mark.complaint(28)
def test_a_broken_kenlm_is_told_from_an_absent_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kenlm.py").write_text("raise ImportError('undefined symbol')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "kenlm", raising=False)
    monkeypatch.setitem(sys.modules, "ufal.kenlm", None)
    assert run(["doctor"]) == 0
    assert "optional kenlm does not load (kenlm: undefined symbol)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.complaint(28)
def test_nothing_imports_kenlm_at_its_top(repository: Path) -> None:
    """Complaint 28: no module imports kenlm when it is loaded itself."""
    guilty = [
        str(path)
        for folder in ("gpusearch", "kernels")
        for path in (repository / folder).rglob("*.py")
        for line in path.read_text(encoding="utf-8").split("\n")
        if line.startswith(("import kenlm", "from kenlm"))
    ]
    assert not guilty


def test_without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    (finding,) = (found for found in environment.examine() if found.name == "C++ compiler")
    assert finding.state == "optional"
    assert "apt-get install g++" in finding.advice


def test_missing_requirement_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "conllu", None)
    assert run(["doctor"]) == 1
    lines = capsys.readouterr().out.split("\n")
    (place,) = (i for i, line in enumerate(lines) if line.startswith("missing"))
    assert lines[place].split()[1] == "conllu"
    assert lines[place + 1].strip() == '"pip install conllu"'


def test_cache_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache below a file is reported, with the variable that moves it."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("GPUSEARCH_CACHE", str(tmp_path / "file" / "cache"))
    (finding,) = (found for found in environment.examine() if found.name == "cache")
    assert finding.state == "missing"
    assert "GPUSEARCH_CACHE" in finding.advice
