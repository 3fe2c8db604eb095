"""Recombination every so many steps: the worst chains go on from what has been made of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import SENTENCE_SLOT, UNIT_WORDS
from gpusearch.model.problem import Batch
from gpusearch.search.chains import Ended, Finals, Start, run_chains
from gpusearch.search.choose import Derivation
from gpusearch.search.driver import Driver
from gpusearch.search.initial import ContinuedStart
from gpusearch.search.limits import Limits

Join = Callable[[Finals], Derivation]
"""The derivation of each sentence of a batch that is made of all chains."""


def run_rounds(
    batch: Batch,
    driver: Driver,
    limits: Limits,
    start: Start,
    tick: Callable[[Finals, int], None],
    chains: int,
    *,
    every: float,
    replaced: float,
    join: Join,
    start_all: bool = False,
    ended: Ended | None = None,
) -> Finals:
    """`run_chains`, with chains taken out after every so many proposals a source word.

    Chains that are not replaced come to the same end as without rounds.

    Args:
        every: proposals a source word.
        replaced: part of a unit's chains that go on from what `join` makes, those with the lowest scores.
    """
    finals: Finals | None = None
    for stop in _stops(batch, limits, every):
        if finals is not None:
            _replace_worst(batch, finals, join(finals), int(chains * replaced))
            start = ContinuedStart(finals)
        now = run_chains(
            batch.problem, driver, replace(limits, stop=stop), start, tick, chains,
            start_all=start_all or bool(finals), ended=ended,
        )  # fmt: skip
        finals = now if finals is None else _together(finals, now, limits)
        if not finals.complete:
            break
    assert finals is not None
    return finals


def _stops(batch: Batch, limits: Limits, every: float) -> Iterator[NDArray[np.int64]]:
    """Steps of each unit at which a round ends; the last ends with the chains."""
    words = batch.problem.unit[:, UNIT_WORDS]
    for turn in count(1):
        stop = np.ceil(every * turn * words).astype(np.int64)
        if (stop >= limits.steps).all():
            yield limits.steps
            return
        yield np.minimum(stop, limits.steps)


def _replace_worst(batch: Batch, finals: Finals, derivation: Derivation, many: int) -> None:
    """Give the worst chains of each unit, of equal ones the last, another translation to go on from."""
    for unit in range(len(batch.problem.unit)):
        worst = np.lexsort((-np.arange(len(finals.score[unit])), finals.score[unit]))[:many]
        finals.rejected[unit, worst] = 0
        for local, sentence in enumerate(batch.units.sentences(unit)):
            slots = int(batch.problem.sentence[sentence, SENTENCE_SLOT])
            options = derivation[sentence]
            room = slice(slots, slots + int(batch.units.words[sentence]) + 1)
            finals.option[unit][worst, room] = -1
            finals.option[unit][worst, slots : slots + len(options)] = options
            finals.length[unit][worst, local] = len(options)


def _together(before: Finals, now: Finals, limits: Limits) -> Finals:
    """What two rounds have done; scores of the trace are those of the round that came to the step."""
    trace = {}
    for look, scores in now.trace.items():
        units = range(len(scores))
        old = np.array([limits.share(unit, look) <= int(before.step[unit].max()) for unit in units])
        trace[look] = np.where(old[:, None], before.trace[look], scores)
    return replace(now, tally=before.tally + now.tally, trace=trace)
