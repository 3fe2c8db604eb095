"""Says that kernels are being compiled, which takes a while in which nothing else is to be seen."""

from __future__ import annotations

import logging
from functools import cache

from numba.core import event

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
                "compiling kernels for this kind of model and search, once: about a minute "
                "(gpusearch warmup does it ahead)"
            )

    def on_end(self, event: event.Event) -> None:
        pass


@cache
def announce_compilation() -> None:
    """From now on, the first large kernel that is compiled is announced by the logger."""
    event.register("numba:compile", _Announcement())
