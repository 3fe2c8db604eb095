"""The decision: which candidate, by which rule, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.pool import Pool
from gpusearch.mbr.bootstrap import Bootstrap, bootstrap
from gpusearch.mbr.expected import aggregate, exact, left_out_of
from gpusearch.mbr.matrix import MEMORY
from gpusearch.mbr.prune import survivors
from gpusearch.mbr.utility import Index, Pairs, Utility

Rule = Literal["mbr", "maxtrans", "maxderiv"]
Selection = Literal["exact", "aggregate", "fine", "prune", "recombine"]


@dataclass(frozen=True)
class Settings:
    """How minimum Bayes risk is computed."""

    select: Selection = "exact"
    """``exact``: all pairs. ``aggregate``: one reference with expected counts. ``fine``: the best `finalists` of
    ``aggregate``, exactly. ``prune``: the hopeless are given up early. ``recombine``: for documents (recombine.py)."""
    finalists: int = 16
    confidence: float = 0.99
    leave_one_out: bool = False
    resamples: int = 0
    """Of the references, for an interval on the choice; 0: none."""
    keep: int = 1
    """The best so many must be right, for n-best lists."""
    seed: int = 1
    memory: int = MEMORY
    """Bytes that blocks of statistics may take."""


@dataclass(frozen=True, eq=False)
class Decision:
    """Candidates ranked."""

    ranking: Index
    """The candidates that were compared to the end, best first."""
    values: NDArray[np.float64]
    """[N] expected utility, or probability of the translation or derivation; NaN for those given up."""
    interval: Bootstrap | None = None

    @property
    def best(self) -> int:
        """The decision."""
        return int(self.ranking[0])


def most_probable(pool: Pool, rule: Literal["maxtrans", "maxderiv"]) -> Decision:
    """Maximum translation or maximum derivation (Arun et al. 2010, equation 8).

    A candidate's derivations are summed for ``maxtrans``; for ``maxderiv`` its heaviest one counts. Of equal ones the
    one with the better score of the model wins.
    """
    values = pool.weights if rule == "maxtrans" else pool.derivation_weights
    with np.errstate(divide="ignore"):  # what is equal is so relative to how probable it is
        return Decision(rank(np.log(values), pool.scores, pool.weights), values)


def minimum_risk(utility: Utility, pairs: Pairs, pool: Pool, settings: Settings) -> Decision:
    """Greatest expected utility (Arun et al. 2010, equation 8, with risk = - utility).

    Of equal ones the more probable wins, of equally probable ones the one with the better score.

    Raises:
        InputError: ``aggregate`` or ``fine`` of a utility without counts.
    """
    everyone = np.arange(len(pool.weights))
    loo, memory = settings.leave_one_out, settings.memory
    ties = (pool.weights, pool.scores)
    values = np.full(len(everyone), np.nan)
    if settings.select == "aggregate":
        return Decision(rank(values := aggregate(utility, pairs, pool, everyone, leave_one_out=loo), *ties), values)
    rows = everyone
    if settings.select == "fine":
        rough = rank(aggregate(utility, pairs, pool, everyone, leave_one_out=loo), *ties)
        rows = np.sort(rough[: max(settings.finalists, settings.keep)])
    elif settings.select == "prune":
        rows = survivors(
            utility, pairs, pool, settings.confidence, keep=settings.keep, seed=settings.seed, memory=memory
        )
    values[rows] = exact(utility, pairs, pool, rows, leave_one_out=loo, memory=memory)
    decision = Decision(rank(values, *ties), values)
    if not settings.resamples:
        return decision
    left_out = left_out_of(pool, rows, loo)
    interval = bootstrap(utility, pairs, pool, rows, left_out, decision.best, settings.resamples, settings.seed, memory)
    return Decision(decision.ranking, values, interval)


def rank(values: NDArray[np.float64], *ties: NDArray[np.float64]) -> Index:
    """Candidates with a value, best first; equal but for rounding: by each of `ties` in turn, by place.

    Args:
        values: [N], NaN where there is none.
        ties: [N] each, more is better; NaN is least.
    """
    known = np.flatnonzero(~np.isnan(values))
    keys = (np.round(values, 9), *ties)
    return known[np.lexsort([-np.nan_to_num(key[known], nan=-np.inf) for key in reversed(keys)])]
