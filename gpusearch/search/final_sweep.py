"""The last step of a search: sweeps until the translation is a local optimum, with a certificate that it is one.

Its neighbourhood is that of `gpusearch.kernels.layouts`; the weights are those of the run's signature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.config.search import SearchConfig
from gpusearch.kernels.layouts import PARTS, WORDS
from gpusearch.kernels.records import GIVEN_UP, Problem, Search
from gpusearch.kernels.sweep import sweep
from gpusearch.model.problem import Batch
from gpusearch.search.chains import Finals, run_chains
from gpusearch.search.choose import Derivation, choose_all
from gpusearch.search.compiling import note_compiled
from gpusearch.search.device import batch_lanes, make_driver
from gpusearch.search.initial import GivenStart
from gpusearch.search.limits import make_limits
from gpusearch.search.state import make_scratch, make_state

NEIGHBOURHOOD = (
    f"blocks of up to {PARTS} phrases and {WORDS} source words cut anew, exchanges of neighbouring blocks, swaps of "
    "two phrases, insertions of a span, within the distortion limit"
)
"""In the words of a certificate."""


@dataclass(frozen=True, eq=False)
class Swept:
    """What has become of the derivations of a batch."""

    derivation: Derivation
    neighbours: NDArray[np.int64]
    """``[U]``: size of the neighbourhood in which nothing scores higher; 0 where that is not certain."""
    finals: Finals


def sweep_to_the_end(
    batch: Batch,
    search: Search,
    config: SearchConfig,
    chosen: Derivation,
    values: int,
    tick: Callable[[Finals, int], None],
) -> Swept:
    """Improve the derivation of each sentence of a batch until none of its neighbours scores higher.

    Args:
        search: settings of the search; its policy does not matter.
        chosen: for each sentence options in target order.
        values: K, feature values of a state.
        tick: see `run_chains`.
    """
    problem, search = batch.problem, search._replace(sweep=sweep(), gibbs=(), docent=())
    alone = config.model_copy(update={"chains": 1})
    limits = make_limits(batch, alone).without_end()
    driver = make_driver(
        problem, search, batch_lanes(batch, alone, values), values, alone, batch.options.model.language_models
    )
    try:
        finals = run_chains(problem, driver, limits, GivenStart(problem, chosen), tick, 1)
    finally:
        driver.close()
    note_compiled("sweep", problem)
    best = choose_all(finals, batch, "best-unit")
    certified = finals.rejected[:, 0] == GIVEN_UP
    return Swept(best, np.where(certified, neighbourhood_sizes(problem, search, finals), 0), finals)


def neighbourhood_sizes(problem: Problem, search: Search, finals: Finals) -> NDArray[np.int64]:
    """``[U]``: neighbours of what the first chain of each unit ends with, itself left out."""
    from gpusearch.kernels import cpu

    units = np.arange(len(problem.unit))
    sizes = np.zeros(len(units), np.int64)
    state = make_state(problem, np.zeros(1, np.int64), np.zeros(1, np.int64), 1)
    scratch = make_scratch(problem, memo=1)
    for unit in units:
        state.unit[0] = unit
        state.option[0] = -1
        option, length = finals.option[unit][0], finals.length[unit][0]
        state.option[0, : len(option)], state.length[0, : len(length)] = option, length
        cpu.measure_lanes(problem, search, state, scratch, np.zeros(1, np.int64), sizes[unit : unit + 1])
    return sizes - 1
