"""`gpusearch sample`: it ends with diagnostics, `gpusearch mbr` reads its folder, and being killed changes nothing."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpusearch.cli.main import run
from tests.tiny import TINY

LADDERS = ("--set", "search.tempering.levels=3", "--set", "search.tempering.swap_every=4")
TEXT = "la maison bleue\nune maison\n\nle chat\n"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "docs.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def arguments(documents: Path, folder: Path, *more: str) -> list[str]:
    return ["sample", "-c", str(TINY), "--threads", "1", "-o", str(folder), *more, str(documents)]


# Interrupts are not ignored, wherever the tests run.
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from gpusearch.cli.main import main
main()
"""


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_samples_and_decisions(documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "samples"
    assert run(arguments(documents, folder, "--chains", "16", "--iterations", "60", "--burn-in", "10")) == 0
    out, err = capsys.readouterr()
    assert out == ""
    for name in ("memory of chains", "retrans", "merge-split", "reorder", "resegment", "split_r_hat", "nested_r_hat"):
        assert name in err
    report = json.loads((folder / "diagnostics.json").read_text(encoding="utf-8"))
    assert report["rounds"] == 50 and len(report["units"]) == 3
    assert all(0.9 < unit["split_r_hat"] < 1.1 and 0 < unit["agreement"] <= 1 for unit in report["units"])
    for rule in ("mbr", "maxtrans", "maxderiv"):
        assert run(["mbr", str(folder), "--rule", rule, "-q"]) == 0
        assert capsys.readouterr().out == "the blue house\na house\n\nthe chat\n"
    assert run(["mbr", str(folder), "--unit", "document", "-c", str(TINY)]) == 0
    out, err = capsys.readouterr()
    assert out == "the blue house\na house\n\nthe chat\n" and "weights:multiplicity" in err
    assert run(["mbr", str(folder), "--source", str(documents)]) == 2
    assert run(["mbr", str(folder), "--docids", str(documents)]) == 2


def test_chains_that_disagree_are_named(
    documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """At a great scale each chain ends in a local optimum of its own: a warning that names the worst."""
    documents.write_text("la maison bleue une maison " * 6 + "\n", encoding="utf-8")
    more = ("--chains", "16", "--iterations", "20", "--burn-in", "0", "--scale", "40")
    operators = ("--set", "sample.resegment=0", "--set", "sample.reorder=0")
    assert run([*arguments(documents, tmp_path / "s", *more), *operators]) == 0
    assert "the chains disagree in" in caplog.text + capsys.readouterr().err


def test_what_cannot_be_diagnosed_is_told(
    documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """One chain alone, and few samples of it; of four it can be said."""
    for iterations, told in (("1", True), ("4", False)):
        assert run(arguments(documents, tmp_path / iterations, "--chains", "1", "--iterations", iterations,
                             "--burn-in", "0", "-q")) == 0  # fmt: skip
        assert ("whether the chains agree cannot be said of 3 of 3 units" in caplog.text) == told
        caplog.clear()


def test_chains_without_number_are_refused(documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(documents, tmp_path / "s", "--chains", "100000000", "--iterations", "20000")) == 2
    assert "take fewer chains" in capsys.readouterr().err


def test_settings_are_checked(documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more, message in (
        (("--iterations", "5", "--burn-in", "5"), "no sample in 5 iterations"),
        (("--scan", "sideways"), "scan"),
        (("--scale", "0"), "scale"),
    ):
        assert run(arguments(documents, tmp_path / "s", *more)) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def sampled(folder: Path) -> int:
    """Bytes of the samples that are there."""
    return sum(path.stat().st_size for path in folder.glob("unit-*.rounds"))


def moment(kind: str, rng: random.Random, folder: Path, size: int, longest: float) -> Callable[[], bool]:
    """Says, of a run that begins now, whether a random moment of it has come.

    Args:
        kind: ``sampling``: while samples are written; ``files``: as the first files are, half-written ones counted;
            ``clock``: at any time.
        size: bytes of all samples.
        longest: seconds that a run takes.
    """
    if kind == "sampling":
        there = sampled(folder)
        goal = there + 0.8 * rng.random() * (size - there)
        return lambda: sampled(folder) > goal
    if kind == "files":
        seen, enough = set[str](), rng.randint(1, 5)

        def come() -> bool:
            seen.update(path.name for path in folder.glob("*"))
            return len(seen) >= enough

        return come
    end = time.monotonic() + rng.random() * longest
    return lambda: time.monotonic() >= end


@pytest.mark.parametrize(("method", "unit"), [("gibbs", "sentence"), ("tempering", "document")])
def test_a_run_that_is_killed_goes_on(
    documents: Path, tmp_path: Path, repetitions: Callable[[int], int], method: str, unit: str
) -> None:
    """SIGKILL at a random moment, sometimes twice; what --resume comes to is the unbroken run, byte for byte.

    At least half of the trials are broken off in the midst of their samples.
    """
    more = ("--chains", "16", "--iterations", "500", "--burn-in", "50", "--quiet", "--method", method, "--unit", unit,
            *(LADDERS if method == "tempering" else ()))  # fmt: skip
    whole = tmp_path / "whole"
    assert run(arguments(documents, whole, *more)) == 0
    expected, size = content(whole), sampled(whole)
    rng = random.Random(1)
    trials, broken_off, longest = repetitions(20), 0, 0.0
    for trial in range(trials):
        folder, within = tmp_path / f"killed{trial}", False
        kinds = ("sampling", "files", "sampling", "clock")
        for kind in (kinds[trial % 4], *(["sampling"] if trial % 3 == 0 else [])):
            before, began = sampled(folder), time.monotonic()
            come = moment(kind, rng, folder, size, longest)
            command = [sys.executable, "-m", "gpusearch.cli", *arguments(documents, folder, *more, "--resume")]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and not come():
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            within |= process.wait() == -signal.SIGKILL and before < sampled(folder) < size
            longest = max(longest, time.monotonic() - began)
        broken_off += within
        assert run(arguments(documents, folder, *more, "--resume")) == 0
        assert content(folder) == expected
    assert 2 * broken_off >= trials


def test_an_interrupt_can_be_gone_on_with(documents: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    more = ("--chains", "16", "--iterations", "100000", "--thin", "200")
    command = [sys.executable, "-c", INTERRUPTIBLE, *arguments(documents, folder, *more)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not list(folder.glob("*.rounds")):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130 and "--resume goes on" in err
