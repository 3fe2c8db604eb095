"""`gpusearch mbr`: choose among the candidates of lists or samples."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from gpusearch.cli.options import Quiet, Threads, check_has_use

if TYPE_CHECKING:
    from gpusearch.candidates.read import ToText
    from gpusearch.mbr.decide import Selection


def command(
    lists: Annotated[
        str,
        typer.Argument(
            metavar="[LISTS]",
            help="Folder of samples, Moses' n-best list, the same as JSONL, or decode's JSONL with nbest.",
        ),
    ] = "-",
    rule: Annotated[str, typer.Option(help="mbr, maxtrans (derivations of a translation summed) or maxderiv.")] = "mbr",
    utility: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[@WEIGHT]",
            help="bleu, bleu-add (0.01 added for n > 1), chrf, chrf++, ter (slow), module:function, or a file of "
            "scores (.npz, .tsv). Several: their mean. bleu where not given.",
        ),
    ] = None,
    unit: Annotated[str, typer.Option(help="sentence or document.")] = "sentence",
    select: Annotated[
        str,
        typer.Option(help="exact, aggregate, fine:K, prune:CONFIDENCE, or recombine (with --unit document)."),
    ] = "exact",
    weights: Annotated[
        str | None,
        typer.Option(
            help="score: derivations by exp(scale * score); uniform: translations alike; multiplicity: entries alike; "
            "ess: chains by their effective sample size. Where not given: multiplicity of samples, score of lists."
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(min=0, help="Of --weights score: flatter below 1, more peaked above. 1 where not given."),
    ] = None,
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="A candidate is no reference for itself.")
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1, help="Documents drawn for --unit document where the input has sentences only. 256 where not given."
        ),
    ] = None,
    nbest: Annotated[int, typer.Option(min=0, help="Give the best N with their utilities; 0: the best alone.")] = 0,
    bootstrap: Annotated[
        int,
        typer.Option(
            min=0,
            help="Resamples of the references, as many each as samples are worth (docs/samples.md), for an "
            "interval; needs --format jsonl.",
        ),
    ] = 0,
    save_matrix: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="All utilities, texts and weights (npz); of sentences --utility reads them."),
    ] = None,
    tokenize: Annotated[
        str | None, typer.Option(help="sacreBLEU's tokenizer for BLEU: none for tokens, 13a for text, where not given.")
    ] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Utilities ignore case.")] = False,
    docids: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The document id of each sentence of a list.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="FILE", help="Make raw text of tokens as this model does (TOML)."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The sources of a list: texts made by --config get no capital where these have none."
        ),
    ] = None,
    output_format: Annotated[str, typer.Option("--format", help="text (with --nbest: Moses' list) or jsonl.")] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where not given: standard output.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    memory: Annotated[
        int | None, typer.Option(min=1, help="Megabytes that pairs of texts may take at a time. 1024 where not given.")
    ] = None,
    threads: Threads = None,
    seed: Annotated[int | None, typer.Option(min=0, help="All randomness follows from it. 1 where not given.")] = None,
    quiet: Quiet = False,
) -> None:
    """Choose a translation of each sentence or document: most probable, or of greatest expected utility.

    Standard output carries the decisions, a line a segment in the order of the input; the timing table and the
    signature go to standard error.
    """
    from gpusearch.candidates.read import read_candidates, usual_weighting
    from gpusearch.candidates.samples import sample_files
    from gpusearch.candidates.weights import Weighting
    from gpusearch.cli.decided import decisions, signature, write_decisions
    from gpusearch.cli.progress import terminal_progress
    from gpusearch.errors import InputError
    from gpusearch.io.arrays import array_file
    from gpusearch.io.files import check_outputs
    from gpusearch.mbr.decide import Rule, Settings
    from gpusearch.mbr.matrix import MEMORY
    from gpusearch.mbr.named import BY_COUNTS, NAMED, TOKENIZED, TextSettings, make_utility, split_weight
    from gpusearch.mbr.run import Options, Unit, check
    from gpusearch.search.device import resolve_device
    from gpusearch.timing import Timer

    weights = weights or usual_weighting(lists)
    for name, value, kind in (("--rule", rule, Rule), ("--unit", unit, Unit), ("--weights", weights, Weighting)):
        if value not in get_args(kind):
            raise InputError(f"unknown value of {name}", found=repr(value), expected=", ".join(get_args(kind)))
    if output_format not in ("text", "jsonl"):
        raise InputError("unusable output format", found=output_format, expected="text or jsonl")
    if output_format == "text" and (bootstrap or (nbest and unit == "document")):
        wanted = "--bootstrap" if bootstrap else "--nbest of documents"
        raise InputError(f"{wanted} has no place in text", expected="--format jsonl")
    if rule != "mbr" and save_matrix is None:
        unused = {
            "--utility": bool(utility),
            "--tokenize": bool(tokenize),
            "--lowercase": lowercase,
            "--memory": memory is not None,
            "--device cuda": device == "cuda",
        }
        if any(unused.values()):
            named = ", ".join(name for name, given in unused.items() if given)
            raise InputError(f"--rule {rule} asks no utility", found=named, expected="--rule mbr or --save-matrix")
    if scale is not None and weights != "score":
        raise InputError(f"weights by {weights} have no scale", found="--scale", expected="--weights score")
    asked = {split_weight(name)[0] for name in utility or ["bleu"]}
    check_has_use("--tokenize", tokenize is not None, bool(asked & {*TOKENIZED}), f"--utility {' or '.join(TOKENIZED)}")
    check_has_use("--lowercase", lowercase, bool(asked & {*NAMED}), f"--utility {' or '.join(NAMED)}")
    counted = bool(asked & {*BY_COUNTS})
    check_has_use("--device cuda", device == "cuda", counted, f"--utility {' or '.join(BY_COUNTS)}")
    files = [name for name in asked if name not in NAMED and ":" not in name]
    check_outputs((output, save_matrix), (lists, docids, config, source, *files, *sample_files(lists)))
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    method, finalists, confidence = _selection(select)
    settings = Settings(
        select=method,
        finalists=finalists,
        confidence=confidence,
        leave_one_out=leave_one_out,
        resamples=bootstrap,
        keep=max(1, nbest),
        seed=1 if seed is None else seed,
        memory=MEMORY if memory is None else memory << 20,
    )
    scale = 1.0 if scale is None else scale
    many = 256 if draws is None else draws
    options = Options(cast(Rule, rule), cast(Unit, unit), cast(Weighting, weights), scale, many, settings)
    check(options)
    timer = Timer()
    with timer.measure("load"):
        listed = read_candidates(lists, docids, source, None if config is None else _detokeniser(config))
        drawn = unit == "document" and (rule == "mbr" or save_matrix is not None)
        whole = listed.draws and all(document.scores is not None for document in listed.draws)
        where = "documents that are decided with a utility, of sentences that are independent of each other"
        check_has_use("--draws", draws is not None, drawn and not whole, where)
        random = (drawn and not whole) or method == "prune" or bootstrap > 0
        check_has_use("--seed", seed is not None, random, f"--select prune, --bootstrap, or {where}")
        how = TextSettings(tokenize or ("none" if listed.tokenised else "13a"), lowercase, resolve_device(device))
        function = make_utility(utility or ["bleu"], how)
    matrix = nullcontext(None) if save_matrix is None else array_file(save_matrix)
    with terminal_progress() as progress, timer.measure("decision") as stage, matrix as save:
        outcomes = decisions(listed, function, options, progress, save)
        stage.add(sum(len(document.segments) for document in listed.corpus.documents), "segments")
    with timer.measure("output"):
        write_decisions(listed.corpus, outcomes, options, output, output_format, nbest > 0)
    if not quiet:
        print(timer.table(), file=sys.stderr)
    print(signature(function, options, outcomes, select), file=sys.stderr)


def _detokeniser(config: Path) -> ToText:
    """What makes raw text of a candidate's tokens, as decode does."""
    from gpusearch.config import load_config
    from gpusearch.text.processor import make_processor

    return make_processor(load_config(config).text, "target").to_text


def _selection(text: str) -> tuple[Selection, int, float]:
    """Method, finalists and confidence of ``--select``.

    Raises:
        InputError: an unknown method, a number that does not fit.
    """
    from gpusearch.errors import InputError

    name, _, number = text.partition(":")
    if name in ("exact", "aggregate", "recombine") and not number:
        return cast("Selection", name), 0, 0.0
    try:
        if name == "fine" and int(number) > 0:
            return "fine", int(number), 0.0
        if name == "prune" and 0 < float(number) <= 1:
            return "prune", 0, float(number)
    except ValueError:
        pass
    expected = "exact, aggregate, recombine, fine:K (K > 0) or prune:CONFIDENCE (above 0, at most 1)"
    raise InputError("unknown value of --select", found=repr(text), expected=expected)
