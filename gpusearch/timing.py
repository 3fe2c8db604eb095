"""Where the time of a run goes: named stages, measured in place, shown as a table at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gpusearch.table import aligned


@dataclass
class Stage:
    """Seconds and calls of one stage, and what it worked through (`count` of `unit`)."""

    seconds: float = 0.0
    calls: int = 0
    count: int = 0
    unit: str = ""

    def add(self, count: int, unit: str) -> None:
        """Count what was worked through, so that the table can show a rate."""
        self.count += count
        self.unit = unit


class Timer:
    """Collects stages. A name such as `load/phrase table` is shown below `load`.

        timer = Timer()
        with timer.measure("search") as stage:
            stage.add(1_000_000, "proposals")
        print(timer.table(), file=sys.stderr)

    A stage inside another one is measured in both; the total is the time since the timer was made.
    """

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}
        self._start = time.perf_counter()

    @contextmanager
    def measure(self, name: str) -> Iterator[Stage]:
        """Add the wall-clock time of the block to the stage `name`, also where the block raises."""
        stage = self.stages.setdefault(name, Stage())
        start = time.perf_counter()
        try:
            yield stage
        finally:
            stage.seconds += time.perf_counter() - start
            stage.calls += 1

    def total(self) -> float:
        """Seconds since the timer was made."""
        return time.perf_counter() - self._start

    def table(self) -> str:
        """Stages in the order of their first start, nested ones indented, as lines of aligned columns."""
        total = self.total()
        rows = [("stage", "calls", "seconds", "share", "rate")]
        for name in self._ordered():
            stage = self.stages[name]
            rate = f"{stage.count / stage.seconds:,.0f} {stage.unit}/s" if stage.count and stage.seconds else ""
            around = [prefix for prefix in _prefixes(name)[:-1] if prefix in self.stages]
            label = "  " * len(around) + name.removeprefix(f"{around[-1]}/" if around else "")
            share = f"{100 * stage.seconds / total:.1f} %" if total else ""
            rows.append((label, f"{stage.calls:,}", f"{stage.seconds:,.2f}", share, rate))
        rows.append(("total", "", f"{total:,.2f}", "", ""))
        return "\n".join(aligned(rows, "<>>>>"))

    def _ordered(self) -> list[str]:
        """Stages by their first start, each directly before those inside it."""
        first: dict[str, int] = {}
        for position, name in enumerate(self.stages):
            for prefix in _prefixes(name):
                first.setdefault(prefix, position)
        return sorted(self.stages, key=lambda name: [first[prefix] for prefix in _prefixes(name)])


def _prefixes(name: str) -> list[str]:
    """`a`, `a/b`, `a/b/c` for `a/b/c`."""
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
