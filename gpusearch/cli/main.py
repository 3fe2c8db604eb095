"""The command `gpusearch`: its commands, and what becomes of an error.

Exit codes: 0 done; 1 a fault of ours, something that `doctor` misses, or nobody left who reads standard output; 2
unusable arguments or input; 130 interrupted. A command imports what takes time inside its function, so that
`gpusearch --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import gpusearch
from gpusearch.cli import (
    bench,
    convert,
    decode,
    doctor,
    evaluate,
    features,
    mbr,
    sample,
    score,
    train,
    train_lm,
    train_lsa,
    warmup,
)
from gpusearch.cli.interrupt import INTERRUPTED
from gpusearch.errors import NO_ROOM, GpusearchError

#: typer carries a copy of click; of its errors one is public, whose base is any misuse of the command line.
_UsageError: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="gpusearch",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gpusearch {gpusearch.__version__}")
        raise typer.Exit


@app.callback()
def _gpusearch(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Document-level decoding for phrase-based machine translation by many stochastic search chains."""


app.command("bench")(bench.command)
app.command("convert")(convert.command)
app.command("decode")(decode.command)
app.command("doctor")(doctor.command)
app.command("eval")(evaluate.command)
app.command("features")(features.command)
app.command("mbr")(mbr.command)
app.command("sample")(sample.command)
app.command("score")(score.command)
app.command("train")(train.command)
app.command("train-lm")(train_lm.command)
app.command("train-lsa")(train_lsa.command)
app.command("warmup")(warmup.command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; messages go to standard error."""
    try:
        code = app(args=arguments, prog_name="gpusearch", standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as error:
        error.show()
        return 2
    except GpusearchError as error:
        print(f"gpusearch: error: {error}", file=sys.stderr)
        return error.exit_code
    except MemoryError as error:
        print(f"gpusearch: error: not enough memory{f' ({error})' if str(error) else ''}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`gpusearch ... | head`): nobody is left to tell. Python would
        # complain once more when it flushes standard output at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        print(f"gpusearch: error: cannot write ({error.strerror})", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    if code == INTERRUPTED:  # typer answers an interrupt in a command with this code as well
        print("gpusearch: interrupted", file=sys.stderr)
    return code if isinstance(code, int) else 0


def main() -> None:
    """Entry point of the script `gpusearch`."""
    sys.exit(run())
