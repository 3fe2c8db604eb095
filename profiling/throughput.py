"""How fast chains are on the two parity models, and where a proposal spends its time.

usage: python -m profiling.throughput PARITY WORK [--seconds 4] [--keep]

PARITY holds the models (see tests/parity_model.py), WORK gets their compiled tables. All in CPU seconds of one thread;
the last rows compare two threads with one by the clock, which needs two free cores. The probe, a read at a random
place of 16 MB, says how fast memory was in the same run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpusearch.config import Config, OperationsConfig, load_config
from gpusearch.kernels.records import LIMIT_PAUSE, UNIT_WORDS
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.search.bench import Speed, measure
from gpusearch.search.driver import CpuDriver
from gpusearch.search.run import search_settings
from gpusearch.search.state import make_state
from profiling.phases import phases, probe_nanoseconds
from profiling.results import keep
from tests.parity_model import laws_documents, newstest_documents, write_laws, write_newstest

# Hardmeier et al. 2012, section 4: the mix of operations, decay 0.1, options drawn uniformly.
PAPER = OperationsConfig(change=0.8, swap=0.1, resegment=0.1, resegment_swap=0, block_decay=0.1)
# Lanes at a time, a sentence each: so many that they do not fit a cache, so few that all come far on their way.
LANES = 600
# Times that documents are measured by turns.
TURNS = 3
# Proposals a source word before phases are timed: chains are slow at first, when much is accepted.
SETTLED = 50

Documents = Sequence[Sequence[Sequence[str]]]


@dataclass
class Setting:
    """A model and documents, searched by one thread."""

    name: str
    config: Config
    model: Model
    documents: Documents

    def batch(self, units: str) -> Batch:
        return build_problem(self.model, self.documents, None, self.config.search, units=units)

    def speed(self, seconds: float, units: str = "sentence", lanes: int = LANES) -> Speed:
        """About so many seconds of all operations, `lanes` at a time."""
        batch = self.batch(units)
        return measure(batch, self.config, self.model, lanes=lanes, seconds=seconds)

    def only(self, number: int) -> Setting:
        return Setting(self.name, self.config, self.model, [self.documents[number]])

    def with_search(self, **values: object) -> Setting:
        search = self.config.search.model_copy(update=values)
        return Setting(self.name, self.config.model_copy(update={"search": search}), self.model, self.documents)


class Report:
    """Prints figures, and keeps them for results.csv, with a prefix."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.rows: list[tuple[str, str, str]] = []

    def add(self, what: str, value: float, unit: str) -> float:
        text = f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
        print(f"{what:72} {text:>12} {unit}", flush=True)
        self.rows.append((f"{self.prefix}{what}", f"{value:.6g}", unit))
        return value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parity", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    report = Report("throughput: ")
    rates = {}
    for name, write, read in (
        ("parity", write_newstest, newstest_documents),
        ("laws100k", write_laws, laws_documents),
    ):
        config = load_config(write(arguments.work, arguments.parity))
        plain = Setting(name, config, load_model(config), read(arguments.parity)).with_search(threads=1, device="cpu")
        rates[name] = report_model(report, plain, arguments.seconds)
    report.add("laws100k / parity, default mix", rates["laws100k"] / rates["parity"], "")
    if arguments.keep:
        keep(report.rows)


def report_model(report: Report, setting: Setting, seconds: float) -> float:
    """All figures of a model; returns proposals a CPU second of the default mix."""
    name = setting.name
    report.add(f"{name}: probe of 16 MB", probe_nanoseconds(), "ns")
    speed = setting.speed(seconds)
    rate = report.add(f"{name}: default mix", speed.proposals_per_cpu_second, "proposals/CPU s")
    for stage in ("too_far", "rejected_by_bound", "rejected_by_score", "accepted"):
        report.add(f"{name}: default mix, {stage.replace('_', ' ')}", getattr(speed, stage), "")
    report.add(f"{name}: default mix, empty draws", speed.empty, "")
    paper = setting.with_search(operations=PAPER, option_draw="uniform").speed(seconds)
    report.add(f"{name}: paper's mix, uniform options", paper.proposals_per_cpu_second, "proposals/CPU s")
    for phase, nanoseconds in settled_phases(setting).items():
        report.add(f"{name}: default mix, {phase}", nanoseconds, "ns a proposal")
    probe = report.add(f"{name}: probe of 16 MB", probe_nanoseconds(), "ns")
    report.add(f"{name}: a proposal of the default mix in probes", 1e9 / rate / probe, "probes")

    sizes = [sum(map(len, document)) for document in setting.documents]
    ends = int(np.argmin(sizes)), int(np.argmax(sizes))
    # By turns: other work on the machine slows both alike.
    rates = np.array(
        [
            [setting.only(n).speed(seconds, units="document", lanes=1).proposals_per_cpu_second for n in ends]
            for _ in range(TURNS)
        ]
    )
    for number, found in zip(ends, np.median(rates, axis=0), strict=True):
        report.add(f"{name}: one lane, a document of {sizes[number]:,} words", found, "proposals/CPU s")
    report.add(f"{name}: longest document / shortest", float(np.median(rates[:, 1] / rates[:, 0])), "")
    one, two = (setting.with_search(threads=n).speed(seconds).proposals_per_second for n in (1, 2))
    report.add(f"{name}: two threads / one, by the clock", two / one, "")
    return rate


def settled_phases(setting: Setting) -> dict[str, float]:
    """`phases` of chains that have gone half their way."""
    batch = setting.batch("sentence")
    search = search_settings(setting.config, setting.model, batch)
    units = np.arange(min(LANES, len(batch.problem.unit)))
    state = make_state(batch.problem, units, np.zeros(len(units)), len(setting.model.features.names))
    driver = CpuDriver(batch.problem, search, state, threads=1)
    driver.start(units)
    state.limit[:, LIMIT_PAUSE] = SETTLED * batch.problem.unit[units, UNIT_WORDS]
    driver.run(units, lambda: None)
    driver.close()
    return phases(batch.problem, search, state)


if __name__ == "__main__":
    main()
