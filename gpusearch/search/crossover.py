"""Recombination of whole documents: chains exchange sentences, each judged by the score of the whole document.

Every chain is offered the sentences of all others, and those that a lattice makes of each sentence without the features
of the document, until a round of offers brings nothing; the best one is taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from gpusearch.config.search import SearchConfig
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
) -> Derivation:  # fmt: skip
    """The derivation of each sentence of a batch of documents whose sentences depend on each other.

    Args:
        finals: what the chains end with.
        others: for each sentence a derivation that is offered as well.
        values: K, feature values of a state.
        tick: told the number of units that are done; what it raises is raised.
    """
    found: Derivation = [np.empty(0, np.int32)] * len(others)
    for unit in range(len(batch.problem.unit)):
        state = _exchange(batch, search, finals, config, others, values, unit)
        best = int(state.score.argmax())
        for local, sentence in enumerate(batch.units.sentences(unit)):
            slots = int(batch.problem.sentence[sentence, SENTENCE_SLOT])
            found[sentence] = state.option[best, slots : slots + int(state.length[best, local])].copy()
        if tick is not None:
            tick(unit + 1)
    return found


def _exchange(
    batch: Batch, search: Search, finals: Finals, config: SearchConfig, others: Derivation, values: int, unit: int
) -> State:
    """All chains of a unit after their exchange."""
    from gpusearch.kernels.crossover import cross_lanes

    problem, chains = batch.problem, len(finals.option[unit])
    state = make_state(problem, np.full(chains, unit), np.arange(chains), values)
    lanes = np.arange(chains)
    driver = CpuDriver(problem, search, state, config.threads or os.cpu_count() or 1)
    ContinuedStart(finals)(driver, lanes)
    option = np.concatenate([state.option, np.full((1, state.option.shape[1]), -1, np.int32)])
    length = np.concatenate([state.length, np.zeros((1, state.length.shape[1]), np.int32)])
    for local, sentence in enumerate(batch.units.sentences(unit)):
        slot = int(problem.sentence[sentence, SENTENCE_SLOT])
        option[-1, slot : slot + len(others[sentence])] = others[sentence]
        length[-1, local] = len(others[sentence])
    driver.apply(cross_lanes, lanes, option, length, np.zeros(chains, np.int64))
    driver.close()
    return state
