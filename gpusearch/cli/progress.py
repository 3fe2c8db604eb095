"""Progress on standard error while a command works; silent where that is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from gpusearch.cli.interrupt import noted_interrupt
from gpusearch.progress import Task


class _Bar:
    """A bar that hands on what it is told ten times a second: callers may advance in tight loops."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task
        self._pending = 0
        self._shown = time.monotonic()

    def advance(self, count: int = 1) -> None:
        """So many more units are done."""
        self._pending += count
        if time.monotonic() - self._shown > 0.1:
            self.flush()

    def flush(self) -> None:
        """Show all that was counted."""
        self._progress.advance(self._task, self._pending)
        self._progress.refresh()
        self._pending = 0
        self._shown = time.monotonic()

    def status(self, text: str) -> None:
        """Show a short text beside the bar."""
        self._progress.update(self._task, status=text)


class TerminalProgress:
    """A `gpusearch.progress.Progress` drawn by rich; nested tasks are bars below each other.

    with terminal_progress() as progress, progress.task("align", 9688, "pairs") as task:
        task.advance(100)
    """

    def __init__(self, bars: Progress) -> None:
        self._bars = bars

    @contextmanager
    def task(self, name: str, total: int | None = None, unit: str = "") -> Iterator[Task]:
        """A bar called `name` until the block ends."""
        bar = _Bar(self._bars, self._bars.add_task(name, total=total, unit=unit, status=""))
        try:
            yield bar
        finally:
            bar.flush()
            self._bars.remove_task(bar._task)


@contextmanager
def terminal_progress() -> Iterator[TerminalProgress]:
    """Progress for the duration of a command, on standard error."""
    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[status]}"),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bars:
        yield TerminalProgress(bars)


@contextmanager
def document_status(name: str, documents: int) -> Iterator[Callable[[int, str], None]]:
    """A bar over documents, told how many are done and a short text. Ctrl-C is answered there, by KeyboardInterrupt."""
    shown = 0
    with (
        noted_interrupt() as check_interrupt,
        terminal_progress() as progress,
        progress.task(name, documents, "documents") as task,
    ):

        def status(done: int, text: str) -> None:
            nonlocal shown
            check_interrupt()
            task.advance(done - shown)
            task.status(text)
            shown = done

        yield status
