"""Ctrl-C while a command works on something that may be broken off."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""Exit code."""


@contextmanager
def noted_interrupt() -> Iterator[Callable[[], None]]:
    """Until the block ends, Ctrl-C is noted only; what is yielded raises KeyboardInterrupt if that has happened.

    So the work ends where it asks, not in the middle of anything. A second Ctrl-C interrupts at once, as usual. Where
    interrupts are ignored, as in the background of a script, they stay so.
    """
    noted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    def check() -> None:
        if noted:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
