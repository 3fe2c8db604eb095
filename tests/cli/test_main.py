"""The command line as a whole: exit codes, what goes where, and that it starts quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

import gpusearch
from gpusearch.cli import main
from gpusearch.errors import GpusearchError, InputError


def raising(error: BaseException) -> typer.Typer:
    """A command line with one command, which fails with this error."""
    failing = typer.Typer(pretty_exceptions_enable=False)

    @failing.command()
    def command() -> None:
        print("result")
        raise error

    return failing


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("odd", path="f.txt", line=3), 2, "gpusearch: error: f.txt:3: odd\n"),
        (GpusearchError("ours"), 1, "gpusearch: error: ours\n"),
        (MemoryError(), 2, "gpusearch: error: not enough memory\n"),
        (
            MemoryError("Unable to allocate 1 TiB"),
            2,
            "gpusearch: error: not enough memory (Unable to allocate 1 TiB)\n",
        ),
        (KeyboardInterrupt(), 130, "gpusearch: interrupted\n"),
        (typer.Exit(1), 1, ""),
    ],
)
def test_errors_and_exit_codes(
    error: BaseException,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A known error is one line on standard error and its exit code; standard output has the result alone."""
    monkeypatch.setattr(main, "app", raising(error))
    assert main.run([]) == code
    captured = capsys.readouterr()
    assert captured.out == "result\n"
    assert captured.err.lstrip("\n") == message


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody foresaw is not dressed up: Python shows it and ends with exit code 1."""
    monkeypatch.setattr(main, "app", raising(ZeroDivisionError("unforeseen")))
    with pytest.raises(ZeroDivisionError):
        main.run([])


@pytest.mark.parametrize("arguments", [["no-such-command"], ["doctor", "--no-such-option"], []])
def test_misuse_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Usage: gpusearch" in captured.err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out == f"gpusearch {gpusearch.__version__}\n"


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Each command has a help text whose options all say what they do."""
    commands = typer.main.get_command(main.app).commands  # type: ignore[attr-defined]  # a group, by its callback
    for name, command in commands.items():
        assert main.run([name, "--help"]) == 0
        assert f"gpusearch {name}" in capsys.readouterr().out
        assert command.help, name
        silent = [p.name for p in command.params if p.param_type_name == "option" and not p.help]
        assert not silent, f"{name}: options without help"


def test_help_needs_no_heavy_import() -> None:
    """`gpusearch --help`, and `import gpusearch`, load none of the libraries that take their time."""
    heavy = ["torch", "numba", "numpy", "scipy", "polars", "duckdb", "thot", "kenlm", "pydantic", "sacrebleu"]
    code = (
        "import sys, gpusearch\n"
        "from gpusearch.cli.main import run\n"
        "assert run(['--help']) == 0\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_decoding_on_the_cpu_needs_no_torch() -> None:
    """What translates imports neither torch nor lxml nor any model's library before they are needed."""
    code = (
        "import sys, gpusearch.decoder, gpusearch.search.device\n"
        "from gpusearch.search.device import resolve_device\n"
        "assert resolve_device('cpu') == 'cpu'\n"
        "print([name for name in ('torch', 'kenlm', 'sacremoses', 'lxml') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_reader_that_goes_away_is_no_traceback() -> None:
    """`gpusearch ... | head -1`: no complaint about a broken pipe."""
    script = f"{sys.executable} -m gpusearch.cli doctor --json | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
def test_standard_output_on_a_full_disk() -> None:
    """A message, not a traceback, and no second complaint when Python ends."""
    code = "import sys\nfrom gpusearch.cli.main import main\nsys.argv = ['gpusearch', '--help']\nmain()"
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "gpusearch: error: cannot write (No space left on device)\n")
