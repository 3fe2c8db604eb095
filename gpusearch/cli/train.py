"""`gpusearch train`: a model from a text and its translation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from gpusearch.cli.options import Quiet, Seed, Threads, check_has_use


def command(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Raw text, a sentence a line.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Its translation, line by line.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the model.")],
    source_language: Annotated[str | None, typer.Option(help="Such as fr; from the file name if not given.")] = None,
    target_language: Annotated[str | None, typer.Option(help="Such as en; from the file name if not given.")] = None,
    tokenizer: Annotated[str, typer.Option(help="moses, sentencepiece, or none for text that is tokenised.")] = "moses",
    truecase: Annotated[
        bool | None, typer.Option(help="Give sentence-initial words their usual case; done with --tokenizer moses.")
    ] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lower-case everything.")] = False,
    sentencepiece_size: Annotated[
        int | None, typer.Option(min=1, help="Pieces, for --tokenizer sentencepiece; 16000 where not given.")
    ] = None,
    max_sentence_length: Annotated[int, typer.Option(help="Longer pairs (tokens) make no phrases.")] = 120,
    aligner: Annotated[str | None, typer.Option(help="eflomal (where not given), hmm or fast_align.")] = None,
    alignment: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Use these word alignments (0-0 1-2) of the tokens.")
    ] = None,
    seed: Seed = 1,
    max_phrase_length: Annotated[int, typer.Option(help="Words of the longest phrases, 1 to 8.")] = 7,
    kneser_ney_phrases: Annotated[
        bool, typer.Option("--kneser-ney-phrases", help="Smooth phrase probabilities by Kneser and Ney.")
    ] = False,
    significance: Annotated[
        str | None,
        typer.Option(
            metavar="THRESHOLD",
            help="Prune pairs by Fisher's test: alpha+epsilon, alpha-epsilon, alpha, or a number (-ln p).",
        ),
    ] = None,
    min_count: Annotated[int, typer.Option(min=1, help="Drop pairs that were extracted fewer times.")] = 1,
    reordering: Annotated[str, typer.Option(help="msd, mslr or none.")] = "msd",
    order: Annotated[int, typer.Option(help="Order of the language model, 2 to 9.")] = 5,
    lm_text: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="More raw text for the language model. May be repeated."),
    ] = None,
    lm_tool: Annotated[str, typer.Option(help="own, or lmplz where that is on the PATH.")] = "own",
    threads: Threads = None,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory for counting; more goes to disk.")] = "3GB",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an output that is there.")] = False,
    quiet: Quiet = False,
) -> None:
    """Train a model: word alignment, phrase table, reordering table, language model, configuration.

    The folder appears when all is done, ready for `gpusearch decode -c FOLDER/model.toml`. A training that was cut
    off goes on where its last stage ended if the same command is given again.
    """
    from gpusearch.cli.progress import terminal_progress
    from gpusearch.errors import InputError
    from gpusearch.train.options import TrainOptions
    from gpusearch.train.pipeline import train
    from gpusearch.train.stages import stage_table

    if tokenizer not in ("moses", "sentencepiece", "none"):
        raise InputError("unknown tokenizer", found=repr(tokenizer), expected="moses | sentencepiece | none")
    check_has_use("--aligner", aligner is not None, alignment is None, "no --alignment, which takes its place")
    pieces = tokenizer == "sentencepiece"
    check_has_use("--sentencepiece-size", sentencepiece_size is not None, pieces, "--tokenizer sentencepiece")
    cased = tokenizer == "moses" and not lowercase
    check_has_use("--truecase", truecase is True, cased, "--tokenizer moses, and no --lowercase")
    options = TrainOptions(
        tokenizer=cast(Literal["none", "moses", "sentencepiece"], tokenizer),
        source_language=source_language,
        target_language=target_language,
        truecase=truecase is not False,
        lowercase=lowercase,
        sentencepiece_size=sentencepiece_size or TrainOptions.sentencepiece_size,
        max_sentence_length=max_sentence_length,
        aligner=aligner or TrainOptions.aligner,
        alignment=alignment,
        seed=seed,
        max_phrase_length=max_phrase_length,
        kneser_ney_phrases=kneser_ney_phrases,
        significance=significance,
        min_count=min_count,
        reordering=None if reordering == "none" else reordering,
        order=order,
        lm_text=tuple(lm_text or ()),
        lm_tool=lm_tool,
    )
    with terminal_progress() as progress:
        records = train(
            source,
            target,
            output,
            options,
            threads=threads,
            memory=memory,
            overwrite=overwrite,
            progress=progress,
        )
    if not quiet:
        typer.echo(stage_table(records), err=True)
