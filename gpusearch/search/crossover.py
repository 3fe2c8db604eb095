"""Recombination of whole documents: chains exchange sentences, each judged by the score of the whole document.

Every chain is offered the sentences of all others, and those that a lattice makes of each sentence without the features
of the document, until a round of offers brings nothing; the best one is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from gpusearch.config.search import SearchConfig
from gpusearch.cores import usable_cores
from gpusearch.kernels.records import SENTENCE_SLOT, Search, State
from gpusearch.model.problem import Batch
from gpusearch.search.chains import Finals
from gpusearch.search.choose import Derivation
from gpusearch.search.driver import CpuDriver
from gpusearch.search.initial import ContinuedStart
from gpusearch.search.state import make_state


def crossover(
    batch: Batch, search: Search, finals: Finals, config: SearchConfig, others: Derivation, values: int,
    tick: Callable[[int], None] | None = None,
) -> Iterator[tuple[range, Derivation]]:  # fmt: skip
    """Exchange sentences in one unit after the other, of a batch of documents whose sentences depend on each other.

    Args:
        finals: what the chains end with.
        others: for each sentence a derivation that is offered as well.
        values: K, feature values of a state.
        tick: told about ten times a second how many sentences are done; what it raises is raised.

    Yields:
        the sentences of a unit, and the derivation of each.
    """
    done = 0
    for unit in range(len(batch.problem.unit)):
        state = _exchange(batch, search, finals, config, others, values, unit, partial(tick, done) if tick else None)
        best, sentences = int(state.score.argmax()), batch.units.sentences(unit)
        slots = batch.problem.sentence[sentences.start : sentences.stop, SENTENCE_SLOT].tolist()
        lengths = state.length[best, : len(sentences)].tolist()
        yield sentences, [state.option[best, s : s + n].copy() for s, n in zip(slots, lengths, strict=True)]
        done = sentences.stop


def _exchange(
    batch: Batch, search: Search, finals: Finals, config: SearchConfig, others: Derivation, values: int, unit: int,
    tick: Callable[[], None] | None,
) -> State:  # fmt: skip
    """All chains of a unit after their exchange."""
    from gpusearch.kernels.crossover import cross_lanes

    problem, chains = batch.problem, len(finals.option[unit])
    state = make_state(problem, np.full(chains, unit), np.arange(chains), values)
    lanes = np.arange(chains)
    driver = CpuDriver(problem, search, state, config.threads or usable_cores())
    try:
        ContinuedStart(finals)(driver, lanes)
        option = np.concatenate([state.option, np.full((1, state.option.shape[1]), -1, np.int32)])
        length = np.concatenate([state.length, np.zeros((1, state.length.shape[1]), np.int32)])
        for local, sentence in enumerate(batch.units.sentences(unit)):
            slot = int(problem.sentence[sentence, SENTENCE_SLOT])
            option[-1, slot : slot + len(others[sentence])] = others[sentence]
            length[-1, local] = len(others[sentence])
        driver.apply(cross_lanes, lanes, option, length, np.zeros(chains, np.int64), tick=tick)
    finally:
        driver.close()
    return state
