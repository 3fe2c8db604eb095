"""Ctrl-C during a long search: the best translation so far is written, the exit code is 130."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpusearch.cli.interrupt import noted_interrupt
from gpusearch.cli.main import run
from gpusearch.search.driver import CpuDriver, Lanes
from tests.tiny import TINY

LINES = ["le petit chien ne dort pas dans la maison .", "", "une maison bleue", "xyz"] * 5
# Says when the search begins; interrupts are not ignored, wherever the tests run.
PROGRAM = """
import signal, sys
from gpusearch.search.driver import CpuDriver
run = CpuDriver.run
def announced(self, *arguments):
    print("searching", file=sys.stderr, flush=True)
    run(self, *arguments)
CpuDriver.run = announced
signal.signal(signal.SIGINT, signal.default_int_handler)
from gpusearch.cli.main import main
main()
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    Path("ids").write_text("a\n" * 10 + "b\n" * 10)


ENDLESS = ["decode", "-c", str(TINY), "in", "--docids", "ids", "--chains", "4", "--threads", "1"]
ENDLESS += ["--steps", str(1 << 60), "--device", "cpu"]


def test_the_command_writes_what_it_has(repository: Path) -> None:
    """A real signal to a real process: all lines are there, the files too, and the line that says why."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *ENDLESS, "--save-state", "state", "--score-file", "scores"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(repository)},
    ) as process:
        assert process.stderr is not None
        assert any(line == "searching\n" for line in process.stderr)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    lines = out.split("\n")[:-1]
    assert len(lines) == len(LINES)
    assert [not line for line in lines] == [not line for line in LINES]
    assert err.endswith("gpusearch: interrupted\n") and "|time-limited" in err and "Traceback" not in err
    assert [json.loads(row)["doc"] for row in Path("scores").read_text().split("\n")[:-1]] == ["a", "b"]
    assert Path("state").read_text().count("\n") == 2


@pytest.mark.parametrize("module", ["typer", "gpusearch.cli.evaluate", "gpusearch.decoder", "numpy"])
def test_an_interrupt_while_the_program_is_loaded(repository: Path, module: str) -> None:
    """Before there is anything to write: one line, and the same exit code."""
    program = f"""
import signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, signal.default_int_handler)
from gpusearch.cli.__main__ import main
main()
"""
    command = [sys.executable, "-c", program, "decode", "-c", str(TINY), "in"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(repository)})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "gpusearch: interrupted\n")


@pytest.fixture
def default_handler() -> Iterator[None]:
    """Python's own answer to Ctrl-C, wherever the tests run."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_with_a_time_limit_is_an_interrupt(
    default_handler: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 130 as well; a time limit that is met is no interrupt: 0."""
    assert run([*ENDLESS, "--time-limit", "0.2"]) == 0
    assert capsys.readouterr().out.count("\n") == len(LINES)
    plain = CpuDriver.run

    def interrupted(self: CpuDriver, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        signal.raise_signal(signal.SIGINT)
        plain(self, lanes, tick, enough)

    monkeypatch.setattr(CpuDriver, "run", interrupted)
    assert run([*ENDLESS, "--time-limit", "1000"]) == 130
    assert capsys.readouterr().out.count("\n") == len(LINES)


def test_the_first_interrupt_is_noted_the_second_interrupts(default_handler: None) -> None:
    with noted_interrupt() as check:
        check()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_interrupts_that_are_ignored_stay_so(default_handler: None) -> None:
    """As in a script's background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with noted_interrupt() as check:
        signal.raise_signal(signal.SIGINT)
        check()
