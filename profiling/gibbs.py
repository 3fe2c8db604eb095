"""The Gibbs sampler on the parity documents: iterations a second, and how many look-ups of the language model the bound
saves.

usage: python -m profiling.gibbs PARITY WORK [--chains 64] [--iterations 1000] [--scale 1 5] [--documents 10] [--keep]

PARITY is the folder of parity models, WORK one for compiled tables. Times are CPU seconds of one thread, of sentences
of newstest2012 (table limit 20), from random starts. Look-ups are counted in the interpreter, some 25,000 a second: in
30 sentences from short to long, for an iteration of a chain that has settled, with the bound and without; the draws are
the same. Each word of a candidate that is scored counts, whether the memo knows its answer or not.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from gpusearch.candidates.samples import OF_GIBBS
from gpusearch.config import Config, SearchConfig, load_config
from gpusearch.kernels import judge
from gpusearch.kernels.gibbs import draw_block
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_SCORE,
    GIBBS_BOUNDED,
    LIMIT_STEPS,
    UNIT_WORDS,
    Problem,
    Search,
    State,
)
from gpusearch.kernels.target import exact
from gpusearch.model.model import load_model
from gpusearch.model.problem import build_problem
from gpusearch.search.driver import CpuDriver
from gpusearch.search.gibbs import iteration_steps, make_gibbs
from gpusearch.search.run import search_settings
from gpusearch.search.state import make_scratch, make_state
from profiling.results import keep
from tests.parity_model import newstest_documents, write_newstest

# Sentences in which look-ups are counted, from short to long, and iterations before.
COUNTED, SETTLED = 30, 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parity", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--chains", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--scale", type=float, nargs="*", default=[1.0, 5.0])
    parser.add_argument("--documents", type=int, default=10)
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    model = load_model(load_config(write_newstest(arguments.work, arguments.parity, 20)))
    documents = newstest_documents(arguments.parity)[: arguments.documents]
    config = Config.model_construct(search=SearchConfig())
    batch = build_problem(model, documents, search=config.search)
    search = search_settings(config, model, batch)
    rows, values = [], len(model.features.names)
    for scale in arguments.scale:
        for scan in ("random", "sequential"):
            name = f"gibbs newstest2012, scale {scale:g}, {scan}"
            gibbs = make_gibbs(batch.options.longest, [scale], scan=scan)
            here = search._replace(gibbs=gibbs)
            seconds, tally = timed(batch.problem, here, values, arguments.chains, arguments.iterations)
            done = len(batch.problem.unit) * arguments.chains * arguments.iterations
            words = int(batch.problem.unit[:, UNIT_WORDS].sum()) * arguments.chains * arguments.iterations
            print(
                f"{name}: {done / seconds:,.0f} iterations of a sentence and {words / seconds:,.0f} of a word a CPU s"
            )
            weighed = tally[: len(OF_GIBBS), [BELOW_SCORE, ACCEPTED]].tolist()
            for operator, (stayed, moved) in zip(OF_GIBBS, weighed, strict=True):
                print(f"  {operator:12} {100 * moved / max(1, stayed + moved):5.1f} % moved")
            rows += [(f"{name}: iterations of a sentence", done / seconds, "1/CPU s")]
            share, sample = avoided(batch.problem, here, values)
            print(f"  look-ups of the language model that the bound saves: {100 * share:.1f} % ({sample})", flush=True)
            rows += [(f"{name}: look-ups saved by the bound ({sample})", 100 * share, "%")]
    if arguments.keep:
        keep(rows)


def timed(problem: Problem, search: Search, values: int, chains: int, iterations: int) -> tuple[float, Any]:
    """CPU seconds of all chains on all units, and their tallies."""
    assert search.gibbs
    units = np.repeat(np.arange(len(problem.unit)), chains)
    state = make_state(problem, units, np.tile(np.arange(chains), len(problem.unit)), values)
    driver = CpuDriver(problem, search, state, 1)
    lanes = np.arange(len(units))
    driver.start(lanes)
    state.limit[:, LIMIT_STEPS] = 1
    driver.run(lanes[:1], lambda: None)  # compiles
    state.limit[:, LIMIT_STEPS] = iteration_steps(problem, search.gibbs)[units] * iterations
    begin = time.process_time()
    driver.run(lanes, lambda: None)
    seconds = time.process_time() - begin
    driver.close()
    return seconds, state.tally.sum(axis=0)


def avoided(
    problem: Problem, search: Search, values: int, *, sentences: int = COUNTED, settled: int = SETTLED
) -> tuple[float, str]:
    """The share of the judges' look-ups that the bound saves, and what it was counted on: an iteration of a chain of
    each of so many sentences, of evenly spread lengths, after `settled` iterations."""
    assert search.gibbs
    words = problem.unit[:, UNIT_WORDS]
    order = np.argsort(words, kind="stable")
    sentences = min(sentences, len(order))  # each once
    units = order[(2 * np.arange(sentences) + 1) * len(order) // (2 * sentences)]
    steps = iteration_steps(problem, search.gibbs)[units]
    state = make_state(problem, units, np.zeros(len(units), int), values)
    driver = CpuDriver(problem, search, state, 1)
    driver.start(np.arange(len(units)))
    state.limit[:, LIMIT_STEPS] = steps * settled
    driver.run(np.arange(len(units)), lambda: None)
    driver.close()
    without, bounded = (
        sum(look_ups(problem, search, state, lane, int(steps[lane]), bounded) for lane in range(len(units)))
        for bounded in (False, True)
    )
    lengths = f"{words[units].min()} to {words[units].max()} words"
    return 1 - bounded / without, f"{without:,} look-ups, {len(units)} sentences of {lengths}, iteration {settled + 1}"


def look_ups(problem: Problem, search: Search, state: State, lane: int, steps: int, bounded: bool) -> int:
    """Look-ups of the next steps of a lane, with the bound or without; the state stays as it is."""
    assert search.gibbs
    number = search.gibbs.number.copy()
    number[GIBBS_BOUNDED] = bounded
    search = search._replace(gibbs=search.gibbs._replace(number=number))
    state = State(*(array.copy() for array in state))
    arguments = tuple(exact(record) for record in (problem, search, state, make_scratch(problem)))
    count = 0
    plain = judge.recall

    def counted(*given: Any) -> Any:
        nonlocal count
        count += 1
        return plain(*given)

    judge.recall = counted
    try:
        for _ in range(steps):
            draw_block(*arguments, lane)
    finally:
        judge.recall = plain
    return count


if __name__ == "__main__":
    main()
