"""The total that search reaches against the CPU seconds that it takes, on a parity model.

usage: python -m profiling.search_quality PARITY WORK [--model newstest | newstest-lr | laws] [--chains 64]
           [--steps 1 3 10 30 100 300 | --presets fast best] [--seeds 1 2] [--set GROUP.KEY=VALUE] [--keep]

Each point is a run of its own from the start (so that any policy, recombination included, counts whole); its total is
the sum over all sentences; one thread. For comparison: Moses' figures, from the folder of the model.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from gpusearch.config import Config, load_config
from gpusearch.model.model import Model, load_model
from gpusearch.search.run import search_documents
from profiling.results import keep
from tests.parity_model import LAWS, NEWSTEST, laws_documents, newstest_documents, write_laws, write_newstest

SLACK = 2e-3  # nats: Moses prints its totals with six digits
# Folder, whether with its reordering model, how to write it and to read its documents, Moses' totals with stack 200.
MODELS = {
    "newstest": (NEWSTEST, False, write_newstest, newstest_documents, "moses.nolr.totals.txt"),
    "newstest-lr": (NEWSTEST, True, write_newstest, newstest_documents, "moses.lr.totals.txt"),
    "laws": (LAWS, True, write_laws, laws_documents, "moses.stack200.totals.txt"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parity", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--model", choices=MODELS, default="newstest", help="laws: with its reordering model")
    parser.add_argument("--chains", type=int, help="64 where not given")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--steps", type=float, nargs="+", default=[1, 3, 10, 30, 100, 300], help="proposals a source word"
    )
    which.add_argument("--presets", nargs="+", help="settings of each preset as they are, instead")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="GROUP.KEY=VALUE")
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    folder, reordering, write, read, totals = MODELS[arguments.model]
    path = write(arguments.work, arguments.parity, reordering=reordering)
    documents = read(arguments.parity)
    moses = np.loadtxt(arguments.parity / folder / totals)
    print(f"Moses, stack 200: {moses.sum():.2f}")
    print("seed  steps  CPU s  total  better  equal  worse than Moses")
    model, rows = None, []
    points = {name: f"search.preset={name}" for name in arguments.presets or ()}
    points = points or {f"{steps:g}": f"search.steps_per_word={steps}" for steps in arguments.steps}
    chains = [f"search.chains={arguments.chains}"] if arguments.chains else []
    for seed in arguments.seeds:
        for point, setting in points.items():
            fixed = ["search.threads=1", "search.device=cpu", f"search.seed={seed}", setting, *chains]
            config = load_config(path, [*fixed, *arguments.overrides])
            model = model or load_model(config)
            warm(model, config, documents)
            begin = time.process_time()
            result = search_documents(model, config, documents)
            seconds = time.process_time() - begin
            scores = np.array([sentence.score for found in result.documents for sentence in found.best.sentences])
            better, worse = int((scores > moses + SLACK).sum()), int((scores < moses - SLACK).sum())
            equal = len(moses) - better - worse
            print(f"{seed:4} {point:>6} {seconds:6.1f} {scores.sum():9.2f} {better:5} {equal:6} {worse:6}", flush=True)
            name = f"search, {arguments.model}: {config.search.chains} chains, {point}, seed {seed}"
            what = " ".join([name, *arguments.overrides])
            rows += [(f"{what}, total", f"{scores.sum():.4f}", "nat"), (f"{what}, time", f"{seconds:.2f}", "CPU s")]
    if arguments.keep:
        keep(rows)


def warm(model: Model, config: Config, documents: list[list[list[str]]]) -> None:
    """Compile, or load what was compiled, by a sentence."""
    search_documents(model, config, [[min((s for d in documents for s in d if s), key=len)]])


if __name__ == "__main__":
    main()
