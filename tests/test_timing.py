"""The timing table."""

from __future__ import annotations

import pytest

from gpusearch import timing
from gpusearch.timing import Timer


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock whose reading is the last item of the list."""
    readings = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: readings[-1])
    return readings


def test_table(clock: list[float]) -> None:
    """Stages in the order of their start, parts below their whole, with calls, shares and rates."""
    timer = Timer()
    with timer.measure("load"), timer.measure("load/table"):
        clock.append(1.0)
    for end in (2.0, 3.0):
        with timer.measure("search") as stage:
            clock.append(end)
            stage.add(500, "proposals")
    with timer.measure("load/language model"):
        clock.append(4.0)
    with timer.measure("other/part"):
        pass
    assert timer.table().split("\n") == [
        "stage             calls  seconds   share             rate",
        "load                  1     1.00  25.0 %",
        "  table               1     1.00  25.0 %",
        "  language model      1     1.00  25.0 %",
        "search                2     2.00  50.0 %  500 proposals/s",
        "other/part            1     0.00   0.0 %",
        "total                       4.00",
    ]


def test_a_stage_that_fails_is_measured(clock: list[float]) -> None:
    timer = Timer()
    with pytest.raises(ZeroDivisionError), timer.measure("search"):
        clock.append(2.0)
        raise ZeroDivisionError
    assert timer.stages["search"].seconds == 2.0
