"""The main path: candidates of documents to decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Literal

import numpy as np

from gpusearch.candidates.draws import DocumentDraws, Draws
from gpusearch.candidates.pool import (
    Candidates,
    DocumentCandidates,
    Pool,
    candidates,
    document_candidates,
    effective_documents,
)
from gpusearch.candidates.weights import Weighting
from gpusearch.errors import InputError
from gpusearch.io.arrays import Save
from gpusearch.mbr.bootstrap import Bootstrap
from gpusearch.mbr.decide import Decision, Rule, Settings, minimum_risk, most_probable
from gpusearch.mbr.documents import DocumentPairs
from gpusearch.mbr.joined import joined
from gpusearch.mbr.matrix import all_pairs
from gpusearch.mbr.recombine import Recombination, Recombined
from gpusearch.mbr.utility import Index, Pairs, Utility

Unit = Literal["sentence", "document"]


@dataclass(frozen=True)
class Options:
    """What a decision is made by."""

    rule: Rule = "mbr"
    unit: Unit = "sentence"
    weights: Weighting = "score"
    scale: float = 1.0
    """Of weights by score, per nat."""
    draws: int = 256
    """Documents that are drawn where the segments' candidates are independent of each other."""
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True)
class Ranked:
    """A candidate in its place."""

    texts: list[str]
    """One for each segment."""
    value: float
    """Expected utility; for the other rules a probability."""
    weight: float
    score: float
    """In nats; NaN where unknown."""


@dataclass(frozen=True)
class Outcome:
    """The decision on a segment or a document."""

    best: list[Ranked]
    """As many as are asked for and compared; the first is the decision."""
    candidates: int
    """Different ones; of all segments where documents are joined of theirs. 0 where a list had no entry."""
    entries: int
    """Samples or entries of the list; of all segments where documents are joined of theirs."""
    effective: float
    """Independent samples that they are worth."""
    interval: Bootstrap | None = None
    starts: dict[str, Recombined] = field(default_factory=dict)
    """Of recombination, by what it was begun with: ``sample`` the best single one, ``sentences`` the decisions sentence
    by sentence."""


def check(options: Options) -> None:
    """Refuse what contradicts itself.

    Raises:
        InputError: which options do.
    """
    settings = options.settings
    unused = {
        f"--select {settings.select}": settings.select != "exact",
        "--leave-one-out": settings.leave_one_out,
        "--bootstrap": settings.resamples > 0,
    }
    if options.rule != "mbr" and any(unused.values()):
        named = ", ".join(name for name, given in unused.items() if given)
        raise InputError(f"--rule {options.rule} looks at no references", found=named, expected="--rule mbr")
    if settings.select == "recombine" and options.unit != "document":
        raise InputError("recombination of sentences", found="--unit sentence", expected="--unit document")
    if settings.select == "recombine" and (settings.leave_one_out or settings.resamples or settings.keep > 1):
        raise InputError(
            "what is recombined is none of the samples", expected="no leave-one-out, no bootstrap, no n-best list"
        )
    if settings.select == "aggregate" and settings.resamples:
        raise InputError("a bootstrap needs utilities of pairs", found="--select aggregate", hint="fine:K")


def decide_segment(draws: Draws, utility: Utility, number: int, options: Options, save: Save | None = None) -> Outcome:
    """The decision on one segment.

    Args:
        number: of the segment in the input, from 0.
        save: is given different texts, weights and all utilities.
    """
    found = candidates(draws, options.weights, options.scale)
    pairs = _prepare(utility, found, number, options, save)
    decision = _decide(utility, pairs, found.pool, options)
    if save is not None and pairs is not None:
        save(f"{number}.texts", np.array(found.texts))
        _save_utilities(utility, pairs, found.pool, str(number), options, save)
    outcome = _outcome(decision, found.pool, options, lambda place: [found.texts[place]])
    return _of_none(outcome) if draws.missing else outcome


def decide_document(
    document: DocumentDraws, utility: Utility, first: int, number: int, options: Options, save: Save | None = None
) -> Outcome:
    """The decision on a document as a whole; it has one segment or more.

    Args:
        first: number of its first segment in the input, from 0.
        number: of the document, from 0.
        save: is given the texts of segments, rows, weights and all utilities.
    """
    outcome = _decide_document(document, utility, first, number, options, save)
    return _of_none(outcome) if all(one.missing for one in document.segments) else outcome


def _of_none(outcome: Outcome) -> Outcome:
    """The same where a list had no entry."""
    return replace(outcome, candidates=0, entries=0, effective=0.0)


def _decide_document(
    document: DocumentDraws, utility: Utility, first: int, number: int, options: Options, save: Save | None
) -> Outcome:
    """See :func:`decide_document`; segments without entries have one candidate, the empty one."""
    settings = options.settings
    apart = document.scores is None and options.rule != "mbr"
    if apart and save is None:
        return _joined(document, options)
    found = document_candidates(document, options.weights, options.scale, draws=options.draws, seed=settings.seed)

    def texts(row: Index) -> list[str]:
        return [one.texts[place] for one, place in zip(found.segments, row.tolist(), strict=True)]

    if options.rule != "mbr" and save is None:
        decision = _decide(utility, None, found.pool, options)
        return _outcome(decision, found.pool, options, lambda place: texts(found.rows[place]))
    segments = [utility.prepare(one.texts, first + place) for place, one in enumerate(found.segments)]
    sizes = [len(one.texts) for one in found.segments]
    pairs = DocumentPairs(segments, sizes, found.rows)
    if save is not None:
        for place, one in enumerate(found.segments):
            save(f"{number}.{place}.texts", np.array(one.texts))
        save(f"{number}.rows", found.rows)
        _save_utilities(utility, pairs, found.pool, str(number), options, save)
    if settings.select == "recombine" and options.rule == "mbr":
        return _recombined(utility, segments, sizes, pairs, found, options, texts)
    if apart:
        return _joined(document, options)
    decision = _decide(utility, pairs, found.pool, options)
    return _outcome(decision, found.pool, options, lambda place: texts(found.rows[place]))


def _joined(document: DocumentDraws, options: Options) -> Outcome:
    """The most probable document of segments that are independent of each other."""
    segments = [candidates(one, options.weights, options.scale) for one in document.segments]
    found = joined(segments, "maxderiv" if options.rule == "maxderiv" else "maxtrans", options.settings.keep)
    best = [
        Ranked([one.texts[place] for one, place in zip(segments, row, strict=True)], exp(value), exp(weight), score)
        for row, value, score, weight in zip(
            *(part.tolist() for part in (found.rows, found.log_values, found.scores, found.log_weights)), strict=True
        )
    ]
    pools = [one.pool for one, draws in zip(segments, document.segments, strict=True) if not draws.missing]
    entries = sum(len(one.place) for one in pools)
    return Outcome(best, sum(len(one.weights) for one in pools), entries, effective_documents(pools))


def _prepare(utility: Utility, found: Candidates, number: int, options: Options, save: Save | None) -> Pairs | None:
    return utility.prepare(found.texts, number) if options.rule == "mbr" or save is not None else None


def _decide(utility: Utility, pairs: Pairs | None, pool: Pool, options: Options) -> Decision:
    if options.rule != "mbr" or pairs is None:
        return most_probable(pool, "maxderiv" if options.rule == "maxderiv" else "maxtrans")
    return minimum_risk(utility, pairs, pool, options.settings)


def _outcome(decision: Decision, pool: Pool, options: Options, texts: Callable[[int], list[str]]) -> Outcome:
    best = [
        Ranked(texts(place), float(decision.values[place]), float(pool.weights[place]), float(pool.scores[place]))
        for place in decision.ranking[: options.settings.keep].tolist()
    ]
    return Outcome(best, len(pool.weights), len(pool.place), pool.effective, decision.interval)


def _recombined(
    utility: Utility,
    segments: Sequence[Pairs],
    sizes: Sequence[int],
    pairs: DocumentPairs,
    found: DocumentCandidates,
    options: Options,
    texts: Callable[[Index], list[str]],
) -> Outcome:
    settings = replace(options.settings, select="exact")
    whole = minimum_risk(utility, pairs, found.pool, settings).best
    alone = [
        minimum_risk(utility, one, part.pool, settings).best for one, part in zip(segments, found.segments, strict=True)
    ]
    walk = Recombination(utility, segments, sizes, found.rows, found.pool.weights, settings.memory)
    starts = {
        "sample": walk.improve(found.rows[whole]),
        "sentences": walk.improve(np.array(alone, np.int64)),
    }
    best = max(starts.values(), key=lambda one: one.utility)
    same = np.flatnonzero((found.rows == best.rows).all(axis=1))
    weight = float(found.pool.weights[same].sum())
    score = float(found.pool.scores[same[0]]) if len(same) else float("nan")
    ranked = Ranked(texts(best.rows), best.utility, weight, score)
    pool = found.pool
    return Outcome([ranked], len(pool.weights), len(pool.place), pool.effective, starts=starts)


def _save_utilities(utility: Utility, pairs: Pairs, pool: Pool, name: str, options: Options, save: Save) -> None:
    everyone = np.arange(len(pool.weights))
    save(f"{name}.weights", pool.weights)
    save(f"{name}.utilities", all_pairs(utility, pairs, everyone, everyone, options.settings.memory))
