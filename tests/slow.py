"""Parameters of tests that run under --full only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_where(slow: Callable[[str], bool], names: Iterable[str]) -> list[Any]:
    """Names as parameters, those marked slow for which `slow` holds, as a compilation of its own makes them."""
    return [pytest.param(name, marks=pytest.mark.slow) if slow(name) else name for name in names]
