"""Threads are as many as the process may have cores, not as many as the machine has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpusearch.cores import usable_cores

CODE = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from gpusearch.cores import usable_cores
print(usable_cores())
"""


def test_a_process_that_is_bound_to_one_core_has_one(repository: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=repository, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_systems_without_affinities_tell_what_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert usable_cores() == 7


def test_nothing_counts_cores_in_another_way(repository: Path) -> None:
    files = [file for file in (repository / "gpusearch").rglob("*.py") if file.name != "cores.py"]
    assert len(files) > 100
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "cpu_count" not in text and "sched_getaffinity" not in text, file
