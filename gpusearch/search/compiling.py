"""Compilation of kernels, which takes a while in which nothing else is to be seen: it is announced, and what is needed
last is compiled by a process of its own meanwhile."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Self

from numba.core import event

from gpusearch.kernels.records import Problem
from gpusearch.kernels.target import cache_folder

logger = logging.getLogger(__name__)

# Modules of the drivers that take long; what language models and tables need is compiled in seconds.
_LARGE = frozenset(f"gpusearch.kernels.{name}" for name in ("cpu", "asking", "stepwise", "beam"))


class _Announcement(event.Listener):
    """Numba starts to compile: not where a kernel comes from the cache."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: event.Event) -> None:
        if not self.said and event.data["dispatcher"].py_func.__module__ in _LARGE:
            self.said = True
            logger.warning(
                "compiling kernels for this kind of model and search, once: half a minute to a minute of CPU time "
                "(gpusearch warmup does it ahead)"
            )

    def on_end(self, event: event.Event) -> None:
        pass


class BesideCompilation:
    """Compiles kernels that are needed last while the search is at work, where the cache does not have them.

    Args:
        names: as `gpusearch warmup --only` knows them.
    """

    def __init__(self, names: Sequence[str]) -> None:
        missing = [name for name in names if not _mark(name).exists()]
        self._process: subprocess.Popen[bytes] | None = None
        if missing:
            options = [part for name in missing for part in ("--only", name)]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gpusearch.cli", "warmup", *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def finish(self) -> None:
        """Wait for it. Where it has failed, the kernels are compiled when they are called, and that says why."""
        if self._process is not None:
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def kernel_name(kind: str, problem: Problem) -> str | None:
    """What `gpusearch warmup` calls the kernels of a kind for this sort of problem.

    None where it compiles no such: those with a model on the host, or with features of the document, are others.
    """
    if problem.host or problem.document:
        return None
    return f"{kind}-reordering" if problem.reordering else kind


def note_compiled(kind: str, problem: Problem) -> None:
    """The cache has these kernels now."""
    name = kernel_name(kind, problem)
    if name is None:
        return
    mark = _mark(name)
    if not mark.exists():
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _mark(name: str) -> Path:
    return cache_folder() / f"{name}.compiled"


@cache
def announce_compilation() -> None:
    """From now on, the first large kernel that is compiled is announced by the logger."""
    event.register("numba:compile", _Announcement())
