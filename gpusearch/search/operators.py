"""Names of what a step may be: the rows of the tallies, for each way to search or to sample."""

from __future__ import annotations

from gpusearch.candidates.samples import OF_GIBBS
from gpusearch.config.search import SearchConfig
from gpusearch.kernels.records import OPERATIONS

PROPOSED = ("change", "swap", "resegment", "permute", "linearise", "move", "insertion", "split-and-swap")
assert len(PROPOSED) == OPERATIONS
# Groups of neighbours (gpusearch/kernels/layouts.py).
OF_SWEEPS = ("blocks", "exchanges", "swaps", "insertions")


def names_of(search: SearchConfig) -> tuple[str, ...]:
    """Those of a search."""
    if search.method == "gibbs":
        return OF_GIBBS
    return OF_SWEEPS if search.active_policy == "sweep" else PROPOSED
