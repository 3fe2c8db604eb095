"""Settings that are given to one run of `gpusearch sample`, by option or --set, and that it would not look at.

A model file may hold what is for other commands, or for another method; what is given to a run is meant for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpusearch.cli.options import check_given
from gpusearch.config import Config

OF_GIBBS = ("sample.scan", "sample.reorder", "sample.resegment", "sample.resegment_candidates")
OF_PROPOSALS = ("sample.proposals", "search.operations", "search.longest_visit")
OF_LADDERS = ("search.tempering.levels", "search.tempering.hot", "search.tempering.swap_every")
OF_SEARCHES = (
    "sample.anneal_first",
    "sample.anneal_last",
    "search.method",
    "search.policy",
    "search.steps",
    "search.steps_per_word",
    "search.max_rejected",
    "search.restarts",
    "search.perturbation",
    "search.target_score",
    "search.time_limit",
    "search.recombine",
    "search.final_sweep",
    "search.annealing",
    "search.metropolis",
    "search.tempering",
    "search.lattice",
)


def check_sample_settings(given: Mapping[str, str], config: Config, *, whole: bool) -> None:
    """Refuse what would have no effect.

    Args:
        given: keys as ``sample.scan``, and how each was written.
        config: all settings of the run.
        whole: a feature looks beyond a sentence, so that documents are sampled.

    Raises:
        InputError: names the first such setting, and what it goes with.
    """
    sample, search = config.sample, config.search
    uses: tuple[tuple[tuple[str, ...], bool, str], ...] = (
        (OF_GIBBS, sample.method == "gibbs", "--method gibbs"),
        (OF_PROPOSALS, sample.method != "gibbs", "--method metropolis or tempering"),
        (OF_LADDERS, sample.method == "tempering", "--method tempering"),
        (OF_SEARCHES, False, "gpusearch decode"),
        (("search.initial_file",), search.initial in ("file", "saved"), "search.initial = file or saved"),
        (("search.beam",), search.initial == "beam", "search.initial = beam"),
        (("sample.superchains",), search.chains % sample.superchains == 0, f"a divisor of the {search.chains} chains"),
        (
            ("sample.unit",),
            sample.unit == "document" or not whole,
            "--unit document: a feature looks at whole documents",
        ),
    )
    check_given(given, uses)
