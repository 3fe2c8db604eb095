"""The Gibbs sampler with what is no kernel: a block of each lane is opened, its candidates are judged, one is taken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import ACCEPTED, OPEN, Proposals
from gpusearch.model.entries import offsets_of
from gpusearch.search.asking import SHARES
from gpusearch.search.driver import Lanes, paced
from gpusearch.search.stepwise import StepwiseDriver, make_proposals, take

Integers = NDArray[np.int64]

# Candidates that are judged together, some hundred bytes for each source word of the longest sentence.
MOST_CANDIDATES = 1 << 14
# Below every sum.
_NEVER = -(1 << 62)


class GibbsStepwiseDriver(StepwiseDriver):
    """`StepwiseDriver` for a sampler: judges weigh the candidates of blocks. Without judges the path of a lane is that
    of `CpuDriver`.

    Noise comes first, as in the kernels: candidates that cannot win by the judges' bounds are not asked about, which
    changes no result.
    """

    @cached_property
    def _blocks(self) -> ModuleType:
        from gpusearch.kernels import gibbs_stepwise

        return gibbs_stepwise

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes until each rests."""
        self._begin(lanes)
        tick = paced(tick)
        amount = np.zeros(len(self.state.unit), np.int64)
        while len(lanes):
            self._share(self._blocks.begin_blocks, lanes, amount, self._stop, tick=tick, shares=SHARES)
            lanes = lanes[amount[lanes] > 0]
            self._forget(lanes)
            for part in np.array_split(lanes, int(amount[lanes].sum()) // MOST_CANDIDATES + 1):
                if len(part):
                    self._draw(part, amount[part], tick)
        self._cut_short = False

    def _draw(self, lanes: Lanes, amount: Integers, tick: Callable[[], None]) -> None:
        """End the steps of lanes whose blocks have so many candidates."""
        proposals = make_proposals(self.problem, np.repeat(lanes, amount))
        places, begin, noise = np.arange(len(lanes)), offsets_of(amount)[:-1], np.zeros(int(amount.sum()), np.int64)
        self._share(self._blocks.open_candidates, places, lanes, begin, proposals, noise, shares=SHARES)
        self._score(proposals, np.flatnonzero(proposals.stage == OPEN), tick)
        winner = self._weigh(proposals, noise, np.repeat(places, amount))
        moved = take(proposals, winner[proposals.count[winner] > 0])
        if len(moved.lane):
            for judge in self._judges:
                judge.delta(self.state, moved)  # what it keeps of a lane is of the row that it was asked about last
                judge.commit(self.state, moved)
        self._share(self._blocks.take_candidates, places, lanes, winner - begin, shares=SHARES)
        self.state.score[moved.lane] += moved.outside

    def _weigh(self, proposals: Proposals, noise: Integers, block: Integers) -> Integers:
        """The row that wins in each block; of equal sums the first. `block`: that of each row, from 0."""
        known = proposals.stage == ACCEPTED
        sums = np.where(known, proposals.total + noise, _NEVER)
        moving = np.flatnonzero(known & (proposals.count > 0))
        if self._judges and len(moving):
            most = sums + self._bounds(proposals, moving)
            sums[moving] = _NEVER
            # The likely winner of each block first: then most of the others are out of the question.
            for rows in (moving[_first_of_each(most[moving], block[moving])], moving):
                best = np.full(int(block[-1]) + 1, _NEVER)
                np.maximum.at(best, block, sums)
                rows = rows[(sums[rows] == _NEVER) & (most[rows] >= best[block[rows]])]
                proposals.outside[rows] = self._outside(proposals, rows)
                sums[rows] = proposals.total[rows] + noise[rows] + proposals.outside[rows]
        return _first_of_each(sums, block)

    def _bounds(self, proposals: Proposals, rows: Integers) -> Integers:
        """Upper bounds of what judges say of some rows, int64[R], 0 elsewhere."""
        most = np.zeros(len(proposals.lane), np.int64)
        asked = take(proposals, rows)
        for judge in self._judges:
            most[rows] += judge.bound(self.state, asked)
        return most

    def _outside(self, proposals: Proposals, rows: Integers) -> Integers:
        """What judges say of some rows, int64[*]."""
        if not len(rows):
            return np.zeros(0, np.int64)
        asked = take(proposals, rows)
        return np.sum([judge.delta(self.state, asked) for judge in self._judges], axis=0)


def _first_of_each(values: Integers, block: Integers) -> Integers:
    """The first place of the largest value of each block; blocks in order."""
    order = np.lexsort((-values, block))  # stable: of equal values the first comes first
    return order[np.unique(block[order], return_index=True)[1]]
