"""What searches find that start from the beam's result: sentences below it, sentences above Moses, the total; and what
sweeps and enumeration say of the beam's result itself.

usage: python -m profiling.from_beam PARITY WORK [--models newstest newstest-lr laws laws-lr] [--chains 64]
           [--derivations 100000] [--keep]

Under Moses' two checks of the distortion limit, so that whatever ends above Moses was open to Moses too. Sentences
with at most --derivations of them are enumerated (profiling/optimality.py). The exit code is 1 if a sentence ends below
the beam. One thread; CPU seconds are of options, beam and search.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config, with_search
from gpusearch.model.model import Model, load_model
from gpusearch.search.run import search_documents
from profiling.optimality import judged_beam, summary
from profiling.parity import MODELS, SLACK, above_and_below
from profiling.results import keep

SETTINGS = ("search.distortion_check=moses", "search.steps_per_word=100", "search.device=cpu", "search.threads=1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parity", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--models", choices=MODELS, nargs="+", default=list(MODELS))
    parser.add_argument("--chains", type=int, default=64)
    parser.add_argument("--derivations", type=int, default=100_000, help="most of a sentence that is enumerated")
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, str, str]] = []
    below = 0
    for name in arguments.models:
        parity = MODELS[name]
        config = parity.config(arguments.work, arguments.parity, SETTINGS)
        model, documents = load_model(config), parity.documents(arguments.parity)
        judged = list(judged_beam(model, config, documents, arguments.derivations))
        beam = np.array([one.score for one in judged])
        begin = time.process_time()
        found = totals(model, with_search(config, {"initial": "beam", "chains": arguments.chains}), documents)
        seconds = time.process_time() - begin
        figures = {"beam": (f"{beam.sum():.4f}", "nat"), "total": (f"{found.sum():.4f}", "nat")}
        # Equal derivations have equal scores, to the last bit; those of equal integers may differ in it.
        figures |= compared("the beam", found, beam, 0.0)
        figures["largest gain over the beam"] = (f"{(found - beam).max():.3g}", "nat")
        moses = parity.moses(arguments.parity)
        if moses is not None:
            figures |= {"Moses": (f"{moses.sum():.4f}", "nat")} | compared("Moses", found, moses, SLACK)
        figures["options, beam and search"] = (f"{seconds:.2f}", "CPU s")
        below += above_and_below(found, beam, 0.0)[1]
        print(f"{parity}", flush=True)
        what = f"{arguments.chains} chains from the beam, {parity}"
        for title, several in ((what, figures), (f"the beam's result, {parity}", summary(judged))):
            for key, (value, unit) in several.items():
                print(f"  {key:36}{value:>14} {unit}", flush=True)
                rows.append((f"{title}: {key}", value, unit))
    if arguments.keep:
        keep(rows)
    if below:
        sys.exit(f"{below} sentences below the beam")


def totals(model: Model, config: Config, documents: Sequence[Sequence[Sequence[str]]]) -> NDArray[np.float64]:
    """The score of each sentence, nats."""
    result = search_documents(model, config, documents)
    return np.array([sentence.score for found in result.documents for sentence in found.best.sentences])


def compared(
    name: str, found: NDArray[np.float64], other: NDArray[np.float64], slack: float
) -> dict[str, tuple[str, str]]:
    """How many sentences are above and below another's."""
    above, below = above_and_below(found, other, slack)
    return {f"above {name}": (str(above), "sentences"), f"below {name}": (str(below), "sentences")}


if __name__ == "__main__":
    main()
