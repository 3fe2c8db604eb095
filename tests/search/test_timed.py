"""What features in Python take, in the timing table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpusearch
from gpusearch import timing
from gpusearch.search.stepwise import make_proposals
from gpusearch.search.timed import TimedJudge
from gpusearch.timing import Timer
from tests.paths import Case
from tests.tiny import TINY


class SlowJudge:
    """Takes a second for an answer of its own kind, two for the next, and so on."""

    headroom = 7

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock

    def full(self, *_: object) -> np.ndarray:
        self.clock[0] += 1
        return np.array([10])

    def bound(self, *_: object) -> np.ndarray:
        self.clock[0] += 2
        return np.array([20, 21, 22])

    def delta(self, *_: object) -> np.ndarray:
        self.clock[0] += 4
        return np.array([30, 31, 32])

    def commit(self, *_: object) -> None:
        self.clock[0] += 8


def test_answers_pass_and_their_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])
    timer, (problem, _, _) = Timer(), Case(1).problem()
    judge = TimedJudge(SlowJudge(clock), timer, "search/slow")
    state, proposals = None, make_proposals(problem, np.arange(3))
    assert judge.headroom == 7
    assert judge.full(state, np.arange(1)).tolist() == [10]
    assert judge.bound(state, proposals).tolist() == [20, 21, 22]
    assert judge.delta(state, proposals).tolist() == [30, 31, 32]
    judge.commit(state, proposals)
    stage = timer.stages["search/slow"]
    assert (stage.seconds, stage.calls, stage.count, stage.unit) == (15, 4, 3, "proposals")


def test_each_feature_in_python_has_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the search, which takes longer than all of them."""
    monkeypatch.chdir(tmp_path)
    full = "    def full(self, state):\n        return -(state.words >= 0).sum(axis=1)\n"
    Path("timed_features.py").write_text(f"class Words:\n    scope = 'sentence'\n{full}", encoding="utf-8")
    uses = [f"features.{name}={{use='timed_features:Words', weights=0.1}}" for name in ("first", "second")]
    decoder = gpusearch.load(TINY, uses)
    decoder.decode([["la maison bleue", "le chien"]], chains=2, steps_per_word=5.0)
    stages = decoder.timer.stages
    rows = [stages["search/first"], stages["search/second"]]
    assert all(row.seconds > 0 and row.unit == "proposals" for row in rows)
    assert rows[0].count >= rows[1].count > 0, "what the first rejects the second is not asked about"
    assert sum(row.seconds for row in rows) <= stages["search"].seconds
    labels = [line.split("  ")[0:2] for line in decoder.timer.table().split("\n")]
    assert ["", "first"] in labels and ["", "second"] in labels
