"""Settings that are given to one run of `gpusearch decode`, by option or --set, and that it would not look at.

A model file may hold what is for other commands, or for another method; what is given to a run is meant for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpusearch.cli.options import check_given
from gpusearch.config import Config

OF_SAMPLES = (
    "sample.method",
    "sample.proposals",
    "sample.iterations",
    "sample.burn_in",
    "sample.thin",
    "sample.scale",
    "sample.unit",
    "sample.superchains",
)
OF_BLOCKS = ("sample",)
OF_PROPOSALS = ("search.operations", "search.longest_visit", "search.perturbation")
OF_CHAINS = (
    "search.chains",
    "search.seed",
    "search.steps",
    "search.steps_per_word",
    "search.max_rejected",
    "search.restarts",
    "search.target_score",
    "search.recombine",
    "search.lattice",
    "search.distortion_check",
    "search.option_draw",
    "search.option_temperature",
    "search.option_uniform",
    "search.compat",
)


def check_decode_settings(given: Mapping[str, str], config: Config) -> None:
    """Refuse what would have no effect.

    Args:
        given: keys as ``search.steps``, and how each was written.
        config: all settings of the run.

    Raises:
        InputError: names the first such setting, and what it goes with.
    """
    search = config.search
    chains, from_file = search.method != "beam", search.initial in ("file", "saved")
    policies = (
        ((f"search.{name}",), search.active_policy == name, f"search.policy = {name}")
        for name in ("annealing", "metropolis", "tempering")
    )
    check_given(
        given,
        [
            (OF_SAMPLES, False, "gpusearch sample"),
            (OF_BLOCKS, search.method == "gibbs", "--method gibbs"),
            (OF_PROPOSALS, search.method == "search", "--method search"),
            (OF_CHAINS, chains, "--method search or gibbs, which have chains"),
            (("search.initial",), chains or search.initial == "beam", "--method search or gibbs"),
            (("search.initial_file",), chains and from_file, "--initial file or --initial saved"),
            (("search.beam",), not chains or search.initial == "beam", "--method beam or --initial beam"),
            *policies,
        ],
    )
