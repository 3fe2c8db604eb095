"""Checks a GPU and measures it: golden hashes, then steps a second by lanes, width and registers.

Needs numpy, torch, numba, numba-cuda and nothing else of the project's libraries; ``device_check.sh`` runs it. It
appends rows (date, commit, machine, what, value, unit) to a CSV file as it goes, and ends when its time is used up.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from gpusearch.cores import usable_cores
from gpusearch.kernels.records import ACCEPTED, EMPTY, LIMIT_STEPS, UNIT_WORDS, Problem, Search, State
from gpusearch.search.cuda import CudaDriver, cuda_available, lanes_that_fit
from gpusearch.search.driver import CpuDriver, Driver
from gpusearch.search.state import make_state
from profiling.carried import load_problem
from profiling.keep_test_result import commit
from profiling.results import COLUMNS, append
from profiling.synthetic import synthetic_problem
from tests.golden.entries import ENTRIES, stored

MakeDriver = Callable[[Problem, Search, State], Driver]
#: Widths of a block, lanes, and limits on registers that are measured; None: as the driver chooses.
WIDTHS = (None, 1, 8, 32, 64, 128, 256)
LANES = (300, 2400, 9600, 38400)
REGISTERS = (128, 96)
#: Proposals a source word before the timing begins: the share of accepted ones is then that of most of a search.
BURN_IN = 30
#: Seconds that one timing takes.
TIMING = 0.6


class Setting(NamedTuple):
    """What is measured."""

    name: str
    problem: Problem
    search: Search
    values: int


class Results:
    """Rows of the file, written one by one, and shown."""

    def __init__(self, path: Path, machine: str) -> None:
        self._path, self._machine = path, machine
        self._commit = commit()

    def add(self, what: str, value: float, unit: str) -> None:
        print(f"{what:70} {value:>14.4g} {unit}", flush=True)
        today = datetime.now(UTC).date().isoformat()
        append(self._path, COLUMNS, [(today, self._commit, self._machine, what, f"{value:.6g}", unit)])


def check_golden(results: Results) -> bool:
    """Every golden hash at several widths; True where all are found."""
    known, right = stored(), True
    for name, entry in ENTRIES.items():
        for width in (None, 1, 32, 128):
            found = entry(partial(CudaDriver, speculation=width))
            equal = found == known[name]
            right &= equal
            results.add(f"golden hashes equal: {name}, width {width or 'chosen'}", float(equal), "")
    return right


def burnt_in(setting: Setting, lanes: int, make_driver: MakeDriver) -> State:
    """So many lanes, spread over the units, that have made `BURN_IN` proposals a source word."""
    units = np.arange(lanes) % len(setting.problem.unit)
    state = make_state(setting.problem, units, np.arange(lanes) // len(setting.problem.unit), setting.values)
    state.limit[:, LIMIT_STEPS] = BURN_IN * setting.problem.unit[units, UNIT_WORDS]
    driver = make_driver(setting.problem, setting.search, state)
    driver.start(np.arange(lanes))
    driver.run(np.arange(lanes), lambda: None)
    driver.close()
    return state


def measure(setting: Setting, begin: State, make_driver: MakeDriver) -> dict[str, float]:
    """Steps a second from a state on; transfers between host and device are taken off."""
    state = State(*(field.copy() for field in begin))
    every = np.arange(len(state.unit))
    driver = make_driver(setting.problem, setting.search, state)

    def run(steps: int) -> float:
        state.limit[:, LIMIT_STEPS] = state.step + steps
        start = time.perf_counter()
        driver.run(every, lambda: None)
        return time.perf_counter() - start

    run(1)
    transfers = run(0)
    steps = 64
    while True:  # until a timing is long enough to say something
        before = state.tally.sum(axis=(0, 1))
        seconds = run(steps) - transfers
        if seconds > TIMING / 2:
            break
        steps = int(steps * min(16.0, max(2.0, TIMING / max(seconds, 1e-4))))
    made = state.tally.sum(axis=(0, 1)) - before
    driver.close()
    return {
        "steps": made.sum() / seconds,
        "proposals": (made.sum() - made[EMPTY]) / seconds,
        "accepted": made[ACCEPTED] / made.sum(),
    }


def measure_cpu(results: Results, setting: Setting) -> None:
    """What all cores of this machine do."""
    threads = usable_cores()

    def make_driver(problem: Problem, search: Search, state: State) -> CpuDriver:
        return CpuDriver(problem, search, state, threads)

    found = measure(setting, burnt_in(setting, LANES[0], make_driver), make_driver)
    results.add(f"{setting.name}: CPU, {threads} threads", found["steps"], "steps/s")


def measure_gpu(results: Results, setting: Setting, until: float) -> None:
    """Lanes by width, then with fewer registers; stops when the time is over."""
    for registers in (None, *REGISTERS):
        for lanes in LANES:
            if lanes > lanes_that_fit(setting.problem, setting.values) or time.monotonic() > until:
                continue
            begin = burnt_in(setting, lanes, CudaDriver)
            for width in WIDTHS if registers is None else (None,):
                if time.monotonic() > until:
                    return
                found = measure(setting, begin, partial(CudaDriver, speculation=width, registers=registers))
                what = f"{setting.name}: {lanes} lanes, width {width or 'chosen'}"
                what += f", at most {registers} registers" if registers else ""
                results.add(what, found["steps"], "steps/s")
                if width is None and registers is None:
                    results.add(f"{what}: accepted", found["accepted"], "")
                    results.add(f"{what}: proposals that change something", found["proposals"], "proposals/s")


def memory_baselines(results: Results) -> None:
    """What the card can do at most: a copy, and reading 16 bytes at random places of 2 GiB."""
    block = torch.empty(1 << 28, dtype=torch.int64, device="cuda")
    block.zero_()
    other = torch.empty_like(block)
    places = torch.randint(0, block.numel() // 2, (1 << 26,), device="cuda")
    pairs = block.view(-1, 2)

    def seconds(work: Callable[[], object]) -> float:
        times = []
        for _ in range(6):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            work()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
        return sorted(times[1:])[2]

    results.add("memory copy, read and written", 2 * block.nbytes / seconds(lambda: other.copy_(block)) / 1e9, "GB/s")
    probes = places.numel() / seconds(lambda: pairs.index_select(0, places))
    results.add("random reads of 16 bytes", probes, "reads/s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="CSV file to append to")
    parser.add_argument("--problem", type=Path, help="a problem made by profiling.carried, measured too")
    parser.add_argument("--seconds", type=float, default=200, help="when to stop measuring")
    arguments = parser.parse_args()
    if not cuda_available():
        print("no GPU, or no numba-cuda", file=sys.stderr)
        return 2
    until = time.monotonic() + arguments.seconds
    results = Results(arguments.results, torch.cuda.get_device_name())
    begin = time.monotonic()
    right = check_golden(results)
    results.add("golden hashes, compilation included", time.monotonic() - begin, "s")
    memory_baselines(results)
    settings = [Setting("synthetic", *synthetic_problem())]
    if arguments.problem:
        settings.insert(0, Setting(arguments.problem.stem, *load_problem(arguments.problem)))
    for number, setting in enumerate(settings):
        measure_cpu(results, setting)
        now = time.monotonic()
        measure_gpu(results, setting, now + (until - now) / (len(settings) - number))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
