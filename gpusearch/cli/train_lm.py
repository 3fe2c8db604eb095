"""`gpusearch train-lm`: a language model from tokenised text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpusearch.cli.options import Quiet, Threads

if TYPE_CHECKING:
    from gpusearch.train.language_model import LanguageModelReport


def command(
    texts: Annotated[
        list[Path],
        typer.Argument(metavar="TEXT", help="Tokenised text, a sentence a line; - for standard input."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="ARPA; compressed where it ends in .gz, .bz2 or .xz; - for standard output.",
        ),
    ],
    order: Annotated[int, typer.Option(help="Words of the longest n-grams, 1 to 9.")] = 5,
    prune: Annotated[
        str,
        typer.Option(
            metavar='"N N ..."',
            help='Drop n-grams that occur so often or less, for orders 1, 2, ...: "0 0 1" drops those of three and '
            "more words that occur once.",
        ),
    ] = "",
    vocabulary: Annotated[
        Path | None, typer.Option("--vocab", metavar="FILE", help="The words that the model may have.")
    ] = None,
    skip_symbols: Annotated[
        bool, typer.Option("--skip-symbols", help="Read <s>, </s> and <unk> in the text as blanks; else: an error.")
    ] = False,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Read sentences from their ends: a model for the feature reverse-lm.")
    ] = False,
    discount_fallback: Annotated[
        bool, typer.Option(help="Take discounts 0.5 1 1.5 where the text is too small for its own; else: an error.")
    ] = True,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory for counting; more goes to disk.")] = "3GB",
    lm_tool: Annotated[str, typer.Option(help="own, or lmplz where that is on the PATH.")] = "own",
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Train a language model: interpolated modified Kneser-Ney, as KenLM's lmplz estimates it.

    Words are separated by blanks, tabs, carriage returns and NULs only, as in KenLM. Figures in the ARPA file are
    log10, as always in such files; times 2.302585 they are the natural logarithms of all other output.
    """
    from gpusearch.cli.progress import terminal_progress
    from gpusearch.io.files import check_outputs
    from gpusearch.train.language_model import train_language_model
    from gpusearch.train.ngram_settings import FALLBACK

    check_outputs([output], [*texts, vocabulary])
    with terminal_progress() as progress:
        report = train_language_model(
            texts,
            order,
            output,
            prune=_numbers(prune),
            vocabulary=vocabulary,
            skip_symbols=skip_symbols,
            reverse=reverse,
            discount_fallback=FALLBACK if discount_fallback else None,
            threads=threads,
            memory=memory,
            tool=lm_tool,
            progress=progress,
        )
    if not quiet:
        typer.echo("\n".join(_table(report)), err=True)


def _numbers(text: str) -> Sequence[int]:
    from gpusearch.errors import InputError
    from gpusearch.io.files import split_blank

    try:
        return [int(word) for word in split_blank(text.replace(",", " "))]
    except ValueError:
        expected = 'numbers, such as "0 0 1"'
        raise InputError("unusable pruning thresholds", found=repr(text), expected=expected) from None


def _table(report: LanguageModelReport) -> list[str]:
    """N-grams and discounts of each order, and the time."""
    lines = [f"{'order':>5}  {'n-grams':>13}  {'D1':>8}  {'D2':>8}  {'D3+':>8}"]
    for n, (count, discounts) in enumerate(zip(report.counts, report.discounts, strict=True), 1):
        lines.append(f"{n:>5}  {count:>13,}  " + "  ".join(f"{discount:8.6f}" for discount in discounts))
    times = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in report.seconds.items())
    return [*lines, f"{report.tokens:,} tokens; {times}"]
