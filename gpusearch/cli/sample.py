"""`gpusearch sample`: draw translations from the model's distribution."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from gpusearch.cli.interrupt import INTERRUPTED
from gpusearch.cli.options import (
    ConfigPath,
    Device,
    DocIds,
    InputFormat,
    Overrides,
    Quiet,
    SeedOfModel,
    Threads,
    given_keys,
    overrides_of,
)


def command(
    documents: Annotated[
        str, typer.Argument(metavar="[DOCUMENTS]", help="File of documents; - is standard input.")
    ] = "-",
    config: ConfigPath = Path("model.toml"),
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where samples go.")] = Path(
        "samples"
    ),
    chains: Annotated[int | None, typer.Option(min=1, help="Chains a unit.")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Iterations of each chain, burn-in included.")] = None,
    burn_in: Annotated[int | None, typer.Option(min=0, help="Iterations before the first sample.")] = None,
    thin: Annotated[int | None, typer.Option(min=1, help="Iterations from one sample to the next.")] = None,
    scale: Annotated[float | None, typer.Option(help="Factor of all scores; 1 / temperature.")] = None,
    method: Annotated[str | None, typer.Option(help="gibbs, metropolis or tempering.")] = None,
    scan: Annotated[str | None, typer.Option(help="random or sequential (gibbs).")] = None,
    unit: Annotated[str | None, typer.Option(help="What a sample translates: sentence or document.")] = None,
    seed: SeedOfModel = None,
    device: Device = None,
    threads: Threads = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was broken off.")] = False,
    input_format: InputFormat = None,
    docids: DocIds = None,
    overrides: Overrides = None,
    quiet: Quiet = False,
) -> int:
    """Draw translations from the model's distribution by many chains of Gibbs sampling, or of Metropolis'.

    They go into a folder (docs/samples.md) that `gpusearch mbr` reads. A run that was broken off, in whatever way, goes
    on with --resume, and comes to the same samples. Diagnostics go to standard error and into the folder.
    """
    from gpusearch.cli.progress import document_status
    from gpusearch.cli.sample_settings import check_sample_settings
    from gpusearch.decoder import load
    from gpusearch.features.load import crosses_sentences
    from gpusearch.io.documents import read_documents
    from gpusearch.search.sample_report import report
    from gpusearch.search.sample_room import Need
    from gpusearch.search.sampling import sample_documents, superchain
    from gpusearch.timing import Timer

    of_search = {"chains": chains, "seed": seed, "device": device, "threads": threads}
    of_sample = {
        "iterations": iterations,
        "burn_in": burn_in,
        "thin": thin,
        "scale": scale,
        "method": method,
        "scan": scan,
        "unit": unit,
    }
    settings = overrides_of("search", of_search) + overrides_of("sample", of_sample)
    timer = Timer()
    corpus = read_documents(documents, format=input_format, docids=docids)
    decoder = load(config, [*(overrides or []), *settings], timer=timer)
    given = given_keys(overrides, {f"sample.{name}": value for name, value in of_sample.items()})
    check_sample_settings(given, decoder.config, whole=crosses_sentences(decoder.model))
    with timer.measure("text"):
        prepared = decoder.prepare(corpus)

    def announce(need: Need) -> None:
        if not quiet:
            text = f"memory of chains: {need.memory / 2**20:.0f} MiB; samples: {need.disk / 2**20:.1f} MiB"
            print(text, file=sys.stderr)

    try:
        with document_status("sample", len(corpus.documents)) as status, timer.measure("sample"):
            samples = sample_documents(
                decoder.model,
                decoder.config,
                prepared.tokens,
                prepared.plain,
                [document.id for document in corpus.documents],
                output,
                resume=resume,
                constraints=prepared.constraints,
                given=decoder.first_translations(decoder.config, prepared.tokens),
                status=status,
                announce=announce,
                timer=timer,
            )
    except KeyboardInterrupt:
        print(f"broken off; --resume goes on with {output}", file=sys.stderr)
        return INTERRUPTED
    with timer.measure("diagnostics"):
        found = report(samples, superchain(decoder.config.sample, samples.chains))
        found.write(output)
    if not quiet:
        print("\n".join([timer.table(), *found.lines()]), file=sys.stderr)
    if warning := found.warning() or found.note():
        logging.getLogger(__name__).warning(warning)
    return 0
