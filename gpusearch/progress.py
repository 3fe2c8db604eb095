"""Reporting progress from any layer: the work says what it does, the caller decides who is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Task(Protocol):
    """One stage of work under way."""

    def advance(self, count: int = 1) -> None:
        """So many more units are done."""

    def status(self, text: str) -> None:
        """Show a short text beside the bar, e.g. the best score so far."""


class Progress(Protocol):
    """Where work reports to."""

    def task(self, name: str, total: int | None = None, unit: str = "") -> AbstractContextManager[Task]:
        """A stage called `name`, of `total` units where that is known; over when the block ends."""


class _SilentTask:
    def advance(self, count: int = 1) -> None:
        """Nobody looks."""

    def status(self, text: str) -> None:
        """Nobody looks."""


class SilentProgress:
    """Reports to nobody: the default of every function that takes a `Progress`."""

    @contextmanager
    def task(self, name: str, total: int | None = None, unit: str = "") -> Iterator[Task]:
        """A stage that nobody looks at."""
        yield _SilentTask()


SILENT: Progress = SilentProgress()
