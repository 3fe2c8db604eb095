"""Recombination of chains: the best derivation of a sentence among what all chains have found out about it.

A dynamic program over the phrases of all chains: the beam (`beam.py`), given no options but those that a chain ends
with, the best others of their spans, of the parts of these, and of two neighbours together. So it joins the pieces that
each chain has right, in any order that the distortion limit allows, with phrases split and parts exchanged; and it is
short, for there is little to choose from. Where it finds nothing better than the best chain, that stands.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.config.beam import BeamConfig
from gpusearch.config.search import SearchConfig
from gpusearch.features.load import no_sums_over_steps
from gpusearch.kernels.records import (
    OPTION_LENGTH,
    OPTION_START,
    SENTENCE_LONGEST,
    SENTENCE_SPAN,
    SENTENCE_WORDS,
    Problem,
    Search,
)
from gpusearch.memory import free_bytes
from gpusearch.model.entries import ranges
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.beam import BeamDecoder, Tick, features_left_out, problem_of_beam
from gpusearch.search.chains import Finals, OutOfTime
from gpusearch.search.choose import Derivation
from gpusearch.search.crossover import crossover
from gpusearch.search.translation import scores

# Nats by which scores in integers and those from the models' own numbers may differ.
ROUNDING = 1e-3

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class RecombinedBatch:
    """What has become of the derivations of all sentences."""

    derivation: Derivation
    complete: bool = True
    """False where a time limit or an interrupt ended it early: some sentences are as they were chosen."""
    interrupted: bool = False


def recombine(
    batch: Batch, search: Search, finals: Finals, config: SearchConfig, chosen: Derivation, tick: Tick | None = None
) -> RecombinedBatch:
    """The best derivation of each sentence of a batch: over the phrases of all chains, or the one that was chosen.

    Where features of the document tie sentences together, what the phrases of all chains make is offered to the chains
    beside each other's sentences (`crossover`).

    Args:
        finals: what the chains end with.
        chosen: for each sentence options in target order, of some chain.
        tick: see `BeamDecoder.decode`.

    Raises:
        InputError: see `BeamDecoder`.
    """
    model = batch.options.model
    if not can_recombine(model):
        return RecombinedBatch(chosen)
    # Known where the beam holds all features; else what it finds is offered, whatever its own score.
    worth = None if no_sums_over_steps(model) else scores(batch, chosen, config.first_jump)
    joined = np.flatnonzero(union_of_chains(batch.problem, finals, config.lattice.options))
    decoder = BeamDecoder(
        only_options(problem_of_beam(batch.problem, model), joined),
        search,
        BeamConfig(stack_size=config.lattice.stack_size),
        threads=config.threads,
        free=free_bytes(),
        goal=None if worth is None else np.floor((worth - ROUNDING) * SCORE_UNITS).astype(np.int64),
    )
    found = decoder.decode(tick=tick)
    others = [
        joined[options].astype(np.int32) if len(options) else before
        for options, before in zip(found.options, chosen, strict=True)
    ]
    if worth is not None:
        better = scores(batch, others, config.first_jump) > worth
        best = [other if yes else before for other, yes, before in zip(others, better, chosen, strict=True)]
        return RecombinedBatch(best, found.complete, found.interrupted)
    best = list(chosen)
    if not found.complete:
        return RecombinedBatch(best, False, found.interrupted)
    try:
        for sentences, crossed in crossover(batch, search, finals, config, others, len(model.features.names), tick):
            best[sentences.start : sentences.stop] = crossed
    except (KeyboardInterrupt, OutOfTime) as reason:
        return RecombinedBatch(best, False, isinstance(reason, KeyboardInterrupt))
    return RecombinedBatch(best)


def can_recombine(model: Model) -> bool:
    """Whether the dynamic program can hold the language models; those that it cannot are named in the log."""
    left_out = [name for name in features_left_out(model) if name not in model.features.document]
    if left_out:
        logger.info("chains are not recombined by lattice, which cannot hold %s", ", ".join(left_out))
    return not left_out


def union_of_chains(problem: Problem, finals: Finals, best: int) -> NDArray[np.bool_]:
    """``[O]``: the options that chains end with, and the `best` ones of each span around them.

    These are the spans of the chains' phrases, of two that follow one another on both sides, of single words, and all
    that lie inside one of them.
    """
    counts = np.diff(problem.span)
    row = np.repeat(np.arange(len(counts)), counts)
    used = np.zeros(len(row), np.bool_)
    spans = np.zeros(len(counts), np.bool_)
    start, length = problem.option_place[:, OPTION_START], problem.option_place[:, OPTION_LENGTH]
    words, longest = problem.sentence[:, SENTENCE_WORDS], problem.sentence[:, SENTENCE_LONGEST]
    most = longest[np.repeat(np.arange(len(words)), words * longest)[row]]  # of each option, in its sentence
    for options in finals.option:
        used[options[options >= 0]] = True
        both = (options[:, :-1] >= 0) & (options[:, 1:] >= 0)
        left, right = options[:, :-1][both], options[:, 1:][both]
        together = (start[left] + length[left] == start[right]) & (length[left] + length[right] <= most[left])
        spans[(row[left] + length[right])[together]] = True
    spans[row[used]] = True
    for lengths in np.unique(longest).tolist():
        alike = longest == lengths
        rows = ranges(problem.sentence[alike, SENTENCE_SPAN], words[alike] * lengths).reshape(-1, lengths)
        spans[rows] = _with_all_inside(spans[rows])
    place = np.arange(len(row)) - problem.span[row]
    return used | (spans[row] & (place < best))


def _with_all_inside(spans: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Those spans (``[word, length - 1]``), all that lie inside of one, and all single words."""
    spans[:, 0] = True
    # What lies inside a span begins where it does, or is inside what begins a word later.
    spans = np.logical_or.accumulate(spans[:, ::-1], axis=1)[:, ::-1]
    for _ in range(spans.shape[1] - 1):
        spans[1:, :-1] |= spans[:-1, 1:]
    return spans


def only_options(problem: Problem, chosen: NDArray[np.integer]) -> Problem:
    """A problem of some of its options (int[*], ascending), for the beam; options have new numbers."""
    before = np.zeros(len(problem.option_place) + 1, np.int32)
    before[chosen + 1] = 1
    reordering = problem.reordering
    if reordering:
        reordering = reordering._replace(score=reordering.score[chosen], value=reordering.value[chosen])
    return problem._replace(
        span=np.cumsum(before, dtype=np.int32)[problem.span],
        option_place=problem.option_place[chosen],
        option_score=problem.option_score[chosen],
        option_value=problem.option_value[chosen],
        option_open=np.ascontiguousarray(problem.option_open[:, chosen]),
        reordering=reordering,
    )
