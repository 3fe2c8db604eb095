"""`gpusearch bench`: how fast chains run on a model and documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from gpusearch.cli.options import ConfigPath, Device, Overrides, Threads, overrides_of


def command(
    documents: Annotated[
        str, typer.Argument(metavar="[DOCUMENTS]", help="What to translate; - is standard input.")
    ] = "-",
    config: ConfigPath = Path("model.toml"),
    chains: Annotated[int | None, typer.Option(min=1, help="Chains a document.")] = None,
    device: Device = None,
    threads: Threads = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="About so long for each measurement.")] = 2.0,
    units: Annotated[
        str | None,
        typer.Option(help="sentence or document: what is searched by itself; by default what the features ask for."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line instead of a table.")] = False,
    overrides: Overrides = None,
) -> None:
    """Measure proposals that change something, by second and by CPU second.

    Rising numbers of lanes, then without the bound, then each operation by itself; from random starts, each lane in the
    second half of its way.
    """
    from gpusearch.decoder import load
    from gpusearch.errors import InputError
    from gpusearch.features.load import crosses_sentences, with_document
    from gpusearch.io.documents import read_documents
    from gpusearch.model.problem import build_problem
    from gpusearch.search.bench import measure_all
    from gpusearch.search.judged import on_host

    settings = overrides_of("search", {"chains": chains, "device": device, "threads": threads})
    corpus = read_documents(documents)
    decoder = load(config, [*(overrides or []), *settings])
    searched = on_host(decoder.model, decoder.config)
    names = [document.id for document in corpus.documents]
    prepared = decoder.prepare(corpus)
    batch = build_problem(
        decoder.model,
        prepared.tokens,
        names,
        searched.search,
        units=units or ("document" if crosses_sentences(decoder.model) else "sentence"),
        constraints=prepared.constraints,
    )
    if not len(batch.problem.unit):
        raise InputError("nothing to translate", path=documents, found="no words")
    for number, speed in enumerate(measure_all(with_document(batch), searched, decoder.model, seconds)):
        if not as_json and number == 0:
            header = ("operation", "bound", "lanes", "proposals/s", "a CPU second", "bound %", "score %", "accepted %")
            print("{:16}{:>6}{:>7}{:>15}{:>15}{:>9}{:>9}{:>12}".format(*header))
        if as_json:
            print(json.dumps(speed.row()))
        else:
            print(
                f"{speed.operation:16}{'yes' if speed.bound else 'no':>6}{speed.lanes:7}"
                f"{speed.proposals_per_second:15,.0f}{speed.proposals_per_cpu_second:15,.0f}"
                f"{100 * speed.rejected_by_bound:9.1f}{100 * speed.rejected_by_score:9.1f}{100 * speed.accepted:12.2f}"
            )
        sys.stdout.flush()
