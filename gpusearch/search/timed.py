"""What features in Python take of a run: a stage of its timing table each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusearch.features.load import batch_features
from gpusearch.kernels.records import Proposals, State
from gpusearch.model.model import Model
from gpusearch.search.driver import Lanes
from gpusearch.search.stepwise import Judge
from gpusearch.timing import Timer


class TimedJudge:
    """A judge whose answers are measured as a stage, with the proposals whose change it was asked for."""

    def __init__(self, judge: Judge, timer: Timer, stage: str) -> None:
        self.judge, self.timer, self.stage = judge, timer, stage
        self.headroom = judge.headroom

    def full(self, state: State, lanes: Lanes) -> NDArray[np.int64]:
        """See `gpusearch.search.stepwise.Judge`."""
        with self.timer.measure(self.stage):
            return self.judge.full(state, lanes)

    def bound(self, state: State, proposals: Proposals) -> NDArray[np.int64]:
        """See `gpusearch.search.stepwise.Judge`."""
        with self.timer.measure(self.stage):
            return self.judge.bound(state, proposals)

    def delta(self, state: State, proposals: Proposals) -> NDArray[np.int64]:
        """See `gpusearch.search.stepwise.Judge`."""
        with self.timer.measure(self.stage) as stage:
            stage.add(len(proposals.lane), "proposals")
            return self.judge.delta(state, proposals)

    def commit(self, state: State, proposals: Proposals) -> None:
        """See `gpusearch.search.stepwise.Judge`."""
        with self.timer.measure(self.stage):
            self.judge.commit(state, proposals)


def timed(judges: Sequence[Judge], model: Model, timer: Timer, within: str) -> list[Judge]:
    """The judges of the model's features in Python, each as a stage of its feature's name below the stage `within`."""
    names = [named.name for named, _ in batch_features(model)]
    return [TimedJudge(judge, timer, f"{within}/{name}") for judge, name in zip(judges, names, strict=True)]
