"""Seconds and peak memory of a stage, its child processes included."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_INTERVAL = 0.05  # seconds between two looks at the processes
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Measured:
    """What a stage took.

    Attributes:
        seconds: wall-clock time.
        cpu_seconds: CPU time, of finished child processes too.
        peak_bytes: the largest sum of resident memory of this process and its children that was seen.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


@contextmanager
def measured() -> Iterator[Measured]:
    """Measure the block; the figures are there when it has ended."""
    result = Measured()
    over = threading.Event()

    def look() -> None:
        while True:
            result.peak_bytes = max(result.peak_bytes, _resident())
            if over.wait(_INTERVAL):
                return

    _forget_high_water()
    start, cpu = time.perf_counter(), _cpu_seconds()
    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield result
    finally:
        over.set()
        watcher.join()
        result.seconds = time.perf_counter() - start
        result.cpu_seconds = _cpu_seconds() - cpu
        result.peak_bytes = max(result.peak_bytes, _high_water())


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _resident() -> int:
    """Bytes of this process and all below it. A process that ends meanwhile counts 0."""
    pages = 0
    left = [os.getpid()]
    while left:
        folder = Path("/proc") / str(left.pop())
        with suppress(OSError):
            pages += int((folder / "statm").read_text().split()[1])
            for thread in (folder / "task").iterdir():
                left += [int(child) for child in (thread / "children").read_text().split()]
    return pages * _PAGE


def _forget_high_water() -> None:
    """Let the kernel's own record of this process's peak begin anew, where it allows that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _high_water() -> int:
    """The kernel's record of this process's peak; unlike looks now and then, it misses nothing."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
