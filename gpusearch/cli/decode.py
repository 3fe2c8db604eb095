"""`gpusearch decode`: translate documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    check_has_use,
    given_keys,
    overrides_of,
)

if TYPE_CHECKING:
    from gpusearch.decoder import Decoded

LIST_SIZE = 100


def command(
    documents: Annotated[
        str, typer.Argument(metavar="[DOCUMENTS]", help="File of documents; - is standard input.")
    ] = "-",
    config: ConfigPath = Path("model.toml"),
    preset: Annotated[
        str | None, typer.Option(help="fast, or best: settings that find more in some times as long.")
    ] = None,
    chains: Annotated[int | None, typer.Option(min=1, help="Chains a document.")] = None,
    steps: Annotated[int | None, typer.Option(min=0, help="Proposals a chain and document.")] = None,
    max_rejected: Annotated[
        int | None, typer.Option(min=1, help="Stop a chain after so many rejections in a row.")
    ] = None,
    seed: SeedOfModel = None,
    device: Device = None,
    threads: Threads = None,
    time_limit: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    method: Annotated[str | None, typer.Option(help="search, gibbs (annealed), or beam alone.")] = None,
    initial: Annotated[str | None, typer.Option(help="random, best, beam, file or saved.")] = None,
    initial_file: Annotated[Path | None, typer.Option(help="What initial = file or saved starts from.")] = None,
    input_format: InputFormat = None,
    docids: DocIds = None,
    output_format: Annotated[
        str | None, typer.Option("--format", help="As input where not given; trace: words |0-1| words |2-2|.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where not given: standard output.")] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Scores of all chains at powers of two of the steps (JSONL).")
    ] = None,
    score_file: Annotated[Path | None, typer.Option(help="Score of each document (JSONL).")] = None,
    lattice: Annotated[
        Path | None, typer.Option(help="Search graph of each sentence (JSONL); needs --method beam.")
    ] = None,
    save_state: Annotated[Path | None, typer.Option(help="State of all chains, for initial = saved.")] = None,
    nbest: Annotated[
        int,
        typer.Option(
            min=0,
            help="Describe so many chains a document, or derivations a sentence (--method beam); needs --format jsonl.",
        ),
    ] = 0,
    nbest_list: Annotated[
        Path | None, typer.Option(help="The best derivations of each sentence, as Moses lists them, or .jsonl.")
    ] = None,
    nbest_size: Annotated[
        int | None, typer.Option(min=1, help="How many of a sentence are in --nbest-list; 100 where not given.")
    ] = None,
    distinct: Annotated[bool, typer.Option(help="No two of them with the same words.")] = False,
    alignment_file: Annotated[
        Path | None, typer.Option(help="Word alignment of each segment: source-target, from 0.")
    ] = None,
    mark_unknown: Annotated[
        bool, typer.Option("--mark-unknown", help="Put UNK in front of unknown words (text.unknown_prefix).")
    ] = False,
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Leave unknown words out, unless a digit is in them.")
    ] = False,
    xml_input: Annotated[
        str | None, typer.Option(help='<x translation="...">...</x> in the source: inclusive, exclusive or ignore.')
    ] = None,
    trees: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Dependency trees of the source, for cohesion (CoNLL-U; such input has its own).",
        ),
    ] = None,
    candidates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Whole-segment translations of other systems, with scores: JSONL or n-best list."
        ),
    ] = None,
    candidates_alone: Annotated[
        bool, typer.Option("--candidates-alone", help="No phrases for segments that have candidates.")
    ] = False,
    overrides: Overrides = None,
    quiet: Quiet = False,
) -> int:
    """Translate documents by many chains of stochastic search.

    Standard output carries the translation, in the form of the input; progress, the timing table and the signature go
    to standard error.
    """
    from gpusearch.candidates.of_input import frozen_texts
    from gpusearch.cli.decode_settings import check_decode_settings
    from gpusearch.cli.decoded import (
        check_format,
        check_labels,
        check_words,
        lattice_rows,
        output_form,
        report,
        score_rows,
        trace_rows,
        write_decoded,
    )
    from gpusearch.cli.decoded_lists import write_alignment, write_lists
    from gpusearch.cli.progress import document_status
    from gpusearch.cli.trees import tree_settings
    from gpusearch.decoder import load
    from gpusearch.errors import InputError
    from gpusearch.io.candidates import read_candidates
    from gpusearch.io.documents import check_candidates, check_frozen, read_documents
    from gpusearch.io.files import check_outputs, replaced
    from gpusearch.search.saved import save
    from gpusearch.timing import Timer

    check_format(output_format)
    lists = nbest_list is not None
    check_has_use("--nbest-size", nbest_size is not None, lists, "--nbest-list")
    check_has_use("--candidates-alone", candidates_alone, candidates is not None, "--candidates")
    check_has_use("--distinct", distinct, lists or nbest > 0, "--nbest or --nbest-list")
    goes_on = save_state is not None and save_state == initial_file  # a state may take the place of the one before it
    check_outputs(
        (output, trace, score_file, lattice, save_state, nbest_list, alignment_file),
        (documents, config, docids, trees, candidates, None if goes_on else initial_file),
    )
    of_search = {
        "preset": preset,
        "chains": chains,
        "steps": steps,
        "max_rejected": max_rejected,
        "seed": seed,
        "device": device,
        "threads": threads,
        "time_limit": time_limit,
        "initial": initial,
        "initial_file": initial_file,
        "method": method,
    }
    of_text = {"mark_unknown": mark_unknown or None, "drop_unknown": drop_unknown or None, "xml_input": xml_input}
    settings = overrides_of("search", of_search) + overrides_of("text", of_text)
    settings += overrides_of("candidates", {"alone": candidates_alone or None})
    timer = Timer()
    corpus = read_documents(documents, format=input_format, docids=docids)
    form = output_form(corpus, output_format)
    if nbest and form != "jsonl":
        raise InputError("--nbest has no place in this output", found=f"the form {form}", expected="--format jsonl")
    check_labels(corpus, form)
    settings += tree_settings(config, overrides or [], trees, corpus)
    listed = () if candidates is None else read_candidates(candidates)
    if form != "trace":  # which has the tokens
        check_candidates(listed, form)
        check_frozen(corpus, frozen_texts(corpus), form)
    decoder = load(config, [*(overrides or []), *settings], timer=timer)
    check_decode_settings(
        given_keys(overrides, {f"search.{name}": value for name, value in of_search.items()}), decoder.config
    )
    searches = decoder.config.search.method != "beam"
    check_has_use("--trace", trace is not None, searches, "--method search or gibbs, whose chains it follows")
    check_has_use("--lattice", lattice is not None, not searches, "--method beam, which alone has lattices")
    check_words(corpus, decoder.config.text, form, nbest_list)
    with document_status("decode", len(corpus.documents)) as status:
        decoded = decoder.decode(
            corpus,
            candidates=listed,
            n_best=nbest,
            list_size=(nbest_size or LIST_SIZE) if lists else 0,
            distinct=distinct,
            keep_chains=save_state is not None,
            trace=trace is not None,
            lattices=lattice is not None,
            status=status,
        )
    features, faults = decoder.model.features, list[InputError]()

    def write_rows(path: Path, rows: Callable[[Decoded], Iterator[dict[str, Any]]]) -> None:
        with replaced(path) as stream:
            for row in rows(decoded):
                stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")

    writers: list[Callable[[], None]] = [lambda: write_decoded(decoded, features, output, output_format)]
    if nbest_list is not None:
        writers.append(lambda: write_lists(decoded, features, nbest_list))
    if alignment_file is not None:
        writers.append(lambda: write_alignment(decoded, alignment_file))
    scores = partial(score_rows, features=features)
    for path, rows in ((trace, trace_rows), (score_file, scores), (lattice, lattice_rows)):
        if path is not None:
            writers.append(partial(write_rows, path, rows))
    if save_state is not None:
        ids = [document.id for document in corpus.documents]
        writers.append(lambda: save(save_state, ids, decoded.result.documents))
    with timer.measure("output"):
        for write in writers:
            try:
                write()
            except InputError as fault:  # what one form cannot hold must not cost the rest of a long search
                faults.append(fault)
    report(decoded, "" if quiet else timer.table())
    if faults:
        raise faults[0]
    return INTERRUPTED if decoded.result.interrupted else 0
