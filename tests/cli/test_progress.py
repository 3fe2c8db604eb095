"""Progress goes to a terminal on standard error, and nowhere else."""

from __future__ import annotations

import io
import sys

import pytest

from gpusearch.cli.progress import terminal_progress
from gpusearch.progress import SILENT


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work() -> None:
    with terminal_progress() as progress, progress.task("align", 300, "pairs") as task:
        for _ in range(3):
            task.advance(100)
        task.status("best -12.5")


def test_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    work()
    captured = capsys.readouterr()
    assert (captured.out, captured.err.strip()) == ("", "")


def test_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", terminal)
    work()
    shown = terminal.getvalue()
    assert "align" in shown
    assert "300/300" in shown
    assert capsys.readouterr().out == ""


def test_nobody_looks() -> None:
    """Work that reports to nobody needs no question whether anyone listens."""
    with SILENT.task("align", 10) as task:
        task.advance(10)
        task.status("best")
