"""What searches find that start from the beam's result: sentences below it, sentences above Moses, the total.

usage: python -m profiling.from_beam PARITY WORK [--chains 64] [--keep]

On both parity models, each without and with its reordering model, under Moses' two checks of the distortion limit, so
that whatever ends above Moses was open to Moses too. The exit code is 1 if a sentence ends below the beam. One thread;
CPU seconds are of options, beam and search.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config, load_config, with_search
from gpusearch.model.model import Model, load_model
from gpusearch.search.run import search_documents
from profiling.results import keep
from tests.parity_model import LAWS, NEWSTEST, laws_documents, newstest_documents, write_laws, write_newstest

SLACK = 2e-3  # nats: Moses prints its totals with six digits

# Moses' totals, stack 200; there are none of laws100k without its reordering model.
MODELS = (
    (NEWSTEST, False, write_newstest, newstest_documents, "moses.nolr.totals.txt"),
    (NEWSTEST, True, write_newstest, newstest_documents, "moses.lr.totals.txt"),
    (LAWS, False, write_laws, laws_documents, None),
    (LAWS, True, write_laws, laws_documents, "moses.stack200.totals.txt"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parity", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--chains", type=int, default=64)
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, str, str]] = []
    below = 0
    for name, reordering, write, read, file in MODELS:
        settings = ["search.distortion_check=moses", "search.device=cpu", "search.threads=1"]
        config = load_config(write(arguments.work, arguments.parity, reordering=reordering), settings)
        model, documents = load_model(config), read(arguments.parity)
        beam = totals(model, with_search(config, {"method": "beam"}), documents)
        begin = time.process_time()
        found = totals(model, with_search(config, {"initial": "beam", "chains": arguments.chains}), documents)
        seconds = time.process_time() - begin
        figures = {"beam": (f"{beam.sum():.4f}", "nat"), "total": (f"{found.sum():.4f}", "nat")}
        # Equal derivations have equal scores, to the last bit.
        figures |= compared("the beam", found, beam, 0.0)
        if file is not None:
            moses = np.loadtxt(arguments.parity / name / file)
            figures |= {"Moses": (f"{moses.sum():.4f}", "nat")} | compared("Moses", found, moses, SLACK)
        figures["options, beam and search"] = (f"{seconds:.2f}", "CPU s")
        below += int((found < beam).sum())
        print(f"{name}, {'with' if reordering else 'no'} reordering model", flush=True)
        for what, (value, unit) in figures.items():
            print(f"  {what:30}{value:>14} {unit}", flush=True)
        what = f"{arguments.chains} chains from the beam, {name}, {'with' if reordering else 'no'} reordering model"
        rows += [(f"{what}: {key}", value, unit) for key, (value, unit) in figures.items()]
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
    above, below = (found > other + slack).sum(), (found < other - slack).sum()
    return {f"above {name}": (str(above), "sentences"), f"below {name}": (str(below), "sentences")}


if __name__ == "__main__":
    main()
