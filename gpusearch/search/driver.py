"""What a search asks of a device. `CpuDriver` serves it here; ``cuda.py`` has the other.

A driver owns a batch of lanes. Between its calls ``driver.state`` (numpy arrays) holds what they have become, and may
be changed; `refresh` then recomputes what follows from phrases that were put in by hand.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import Problem, Search, State
from gpusearch.search.compiling import announce_compilation
from gpusearch.search.state import make_scratch

Lanes = NDArray[np.int64]

# Seconds between two calls of `tick`: an interrupt is answered, and progress shown, that often.
TICK = 0.1
# Lists of lanes handed out to each thread in one run: enough to even out lanes that end early.
SHARES = 16


class Driver(Protocol):
    """Runs lanes of a state on a device."""

    state: State
    name: str
    """Device, as the signature prints it."""

    def start(self, lanes: Lanes) -> None:
        """Put random monotone translations into lanes."""

    def refresh(self, lanes: Lanes) -> None:
        """Recompute scores and LM states of lanes from ``state.option`` and ``state.length``."""

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes until each rests: done, or at its ``limit[:, LIMIT_PAUSE]``.

        It may return as soon as `enough` of them rest, where they share a device that others could use in their place.

        `tick` is called about ten times a second; what it raises (an interrupt, a time limit) stops the lanes where
        they are and is raised again, with the state complete and consistent.
        """

    def close(self) -> None:
        """Give the device back."""


def paced(tick: Callable[[], None]) -> Callable[[], None]:
    """`tick` for those who call it more often than every `TICK` seconds."""
    due = time.monotonic()

    def call() -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + TICK
            tick()

    return call


class CpuDriver:
    """Lanes over threads. The path of a lane depends neither on their number nor on the other lanes."""

    name = "cpu"

    def __init__(self, problem: Problem, search: Search, state: State, threads: int) -> None:
        from gpusearch.kernels import cpu  # compiles, or loads what was compiled

        announce_compilation()
        self.problem, self.search, self.state, self.threads = problem, search, state, threads
        self._kernels = cpu
        self._pool = ThreadPoolExecutor(threads)
        self._scratch = threading.local()
        self._stop = np.zeros(1, np.int64)

    def start(self, lanes: Lanes) -> None:
        """Put random monotone translations into lanes."""
        self._share(self._kernels.start_lanes, lanes)

    def refresh(self, lanes: Lanes) -> None:
        """Recompute scores and LM states of lanes from their phrases."""
        self._share(self._kernels.refresh_lanes, lanes)

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes until each rests: a thread that is done with its lanes takes others of the list."""
        self._stop[0] = 0
        self._share(self._kernels.run_lanes, lanes, self._stop, tick=tick)

    def apply(
        self, kernel: Callable[..., None], lanes: Lanes, *rest: object, tick: Callable[[], None] | None = None
    ) -> None:
        """Run another kernel on lanes: (problem, search, state, scratch, lanes, *rest, stop); `tick` as in `run`."""
        self._stop[0] = 0
        self._share(kernel, lanes, *rest, self._stop, tick=tick)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _share(
        self,
        kernel: Callable[..., None],
        lanes: Lanes,
        *rest: object,
        tick: Callable[[], None] | None = None,
        shares: int = SHARES,
    ) -> None:
        """Hand the lanes out, so many parts for each thread; wait for all of them."""
        parts = np.array_split(np.asarray(lanes, np.int64), min(len(lanes), self.threads * shares) or 1)
        self._await({self._pool.submit(self._run_part, kernel, part, rest) for part in parts}, tick)

    def _await(self, waiting: set[Future[None]], tick: Callable[[], None] | None) -> None:
        """Wait for all that was handed out, even where `tick` or an interrupt raises meanwhile."""
        try:
            while waiting:
                finished, waiting = wait(waiting, TICK, FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                if tick is not None:
                    tick()
        except BaseException:
            self._stop[0] = 1
            wait(waiting)
            raise

    def _run_part(self, kernel: Callable[..., None], lanes: Lanes, rest: tuple[object, ...]) -> None:
        if not hasattr(self._scratch, "mine"):
            self._scratch.mine = make_scratch(self.problem)
        kernel(self.problem, self.search, self.state, self._scratch.mine, lanes, *rest)
