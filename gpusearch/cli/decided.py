"""What `gpusearch mbr` makes of candidates and writes: decisions, lists of the best, utilities, the signature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import gpusearch
from gpusearch.candidates.lists import Listed
from gpusearch.io.arrays import Save
from gpusearch.io.corpus import Corpus, Document, Segment
from gpusearch.io.documents import write_documents
from gpusearch.io.files import replaced, split_blank
from gpusearch.io.nbest import NBestEntry, format_n_best
from gpusearch.mbr.run import Options, Outcome, Ranked, decide_document, decide_segment
from gpusearch.mbr.utility import Utility
from gpusearch.progress import Progress


def decisions(
    listed: Listed, utility: Utility, options: Options, progress: Progress, save: Save | None
) -> list[list[Outcome]]:
    """Outcomes of each document: one a segment, or one for the whole document (none where it has no segments)."""
    found: list[list[Outcome]] = []
    first = 0
    with progress.task("decide", len(listed.draws), "documents") as task:
        for number, document in enumerate(listed.draws):
            if options.unit == "document":
                segments = bool(document.segments)
                found.append([decide_document(document, utility, first, number, options, save)] if segments else [])
            else:
                found.append(
                    [
                        decide_segment(draws, utility, first + place, options, save)
                        for place, draws in enumerate(document.segments)
                    ]
                )
            first += len(document.segments)
            task.advance()
    return found


def write_decisions(
    corpus: Corpus,
    outcomes: Sequence[Sequence[Outcome]],
    options: Options,
    destination: Path | None,
    form: str,
    listed: bool,
) -> None:
    """Write texts, Moses' lists or JSONL; None: to standard output.

    Args:
        outcomes: of each document, see :func:`decisions`.
        listed: the best several are wanted.
    """
    where = destination if destination is not None else "-"
    if form == "text" and listed:
        with replaced(where) as stream:
            for number, outcome in enumerate(one for document in outcomes for one in document):
                for ranked in outcome.best:
                    stream.write(_moses_row(number, ranked, options).encode() + b"\n")
        return
    texts = [[text for one in document for text in one.best[0].texts] for document in outcomes]
    if form == "jsonl":
        for document, found in zip(corpus.documents, outcomes, strict=True):
            targets: Sequence[Document | Segment] = [document] if options.unit == "document" else document.segments
            for target, outcome in zip(targets, found, strict=False):
                target.attributes.update(_described(outcome, options, listed))
    write_documents(Corpus(corpus.documents, form, corpus.path), texts, where, form)


def _name(options: Options) -> str:
    return "utility" if options.rule == "mbr" else "probability"


def _moses_row(number: int, ranked: Ranked, options: Options) -> str:
    values = [(_name(options), (ranked.value,)), ("weight", (ranked.weight,))]
    if not math.isnan(ranked.score):
        values.append(("score", (ranked.score,)))
    return format_n_best(NBestEntry(number, tuple(split_blank(ranked.texts[0])), tuple(values), ranked.value))


def _described(outcome: Outcome, options: Options, listed: bool) -> dict[str, Any]:
    row = _ranked(outcome.best[0], options)
    row |= {"candidates": outcome.candidates, "entries": outcome.entries, "effective": outcome.effective}
    if outcome.interval is not None:
        row["bootstrap"] = asdict(outcome.interval)
    if outcome.starts:
        row["starts"] = {
            name: {"start": one.start, "utility": one.utility, "sweeps": one.sweeps}
            for name, one in outcome.starts.items()
        }
    if listed:
        row["nbest"] = [{**_texts(ranked, options), **_ranked(ranked, options)} for ranked in outcome.best]
    return row


def _texts(ranked: Ranked, options: Options) -> dict[str, Any]:
    if options.unit == "document":
        return {"segments": [{"hyp": text} for text in ranked.texts]}
    return {"hyp": ranked.texts[0]}


def _ranked(ranked: Ranked, options: Options) -> dict[str, Any]:
    score = None if math.isnan(ranked.score) else ranked.score
    return {_name(options): ranked.value, "weight": ranked.weight, "score": score}


def signature(utility: Utility, options: Options, outcomes: Sequence[Sequence[Outcome]], select: str) -> str:
    """One line that names all that shaped the decisions; n and ess are means of the units."""
    every = [one for document in outcomes for one in document]
    entries = np.mean([one.entries for one in every]) if every else 0.0
    effective = np.mean([one.effective for one in every]) if every else 0.0
    weights = f"score@{options.scale:g}" if options.weights == "score" else options.weights
    parts = [f"rule:{options.rule}", f"unit:{options.unit}", f"weights:{weights}"]
    if options.rule == "mbr":
        loo = "yes" if options.settings.leave_one_out else "no"
        parts = [parts[0], f"util:{utility.signature}", *parts[1:], f"loo:{loo}", f"sel:{select}"]
    drawn = options.unit == "document" and options.rule == "mbr"
    if select.startswith("prune") or drawn or options.settings.resamples:
        parts.append(f"seed:{options.settings.seed}")
    parts += [f"n:{entries:.6g}", f"ess:{effective:.4g}"]
    return "|".join([f"gpusearch:{gpusearch.__version__}", "mbr", *parts])
