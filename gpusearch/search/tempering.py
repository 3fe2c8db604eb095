"""Replica exchange: chains of a document at different temperatures, which exchange them (Geyer 1991).

The chains of a *ladder* stand at one temperature each, level 0 the coldest. Every so many steps neighbours are offered
an exchange, even and odd pairs by turns (Okabe et al. 2001; Syed et al. 2022 show why that mixes best):

    accept iff ln u < (1 / T_i - 1 / T_i+1) (f_i+1 - f_i)

Chains keep their states and counters, and give each other their temperatures. While chains burn in, temperatures
between the ends are moved to where all exchanges are equally likely: rejections, summed along the ladder, are shared
evenly (Syed et al. 2022, section 5.1). Then they are left as they are. A ladder knows nothing of others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.philox import MASK, SWAP, philox
from gpusearch.kernels.records import (
    LIMIT_PAUSE,
    LIMIT_REJECTED,
    LIMIT_SCORE,
    LIMIT_STEPS,
    LIMIT_TEMPERATURE,
    SCORE_BITS,
    TEMPERATURE_BITS,
    UNIT_KEY_HIGH,
    UNIT_KEY_LOW,
    Problem,
    State,
)
from gpusearch.model.option_draw import exponential
from gpusearch.search.driver import Driver, Lanes
from gpusearch.search.logarithms import minus_logs
from gpusearch.search.temperature import integer_temperature

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Exchanges before the temperatures are moved for the first time; then after twice as many, and so on.
FIRST_ADAPTATION = 16
# A pair counts with this rejection rate at least: one that was never rejected is not infinitely far from needless.
LEAST_REJECTION = 0.02


@dataclass(frozen=True, eq=False)
class Ladder:
    """What the ladders of each unit do: int64[U] each, but for the first temperatures."""

    first: Floats
    """[levels] nats, rising."""
    interval: Integers
    """Steps from one exchange to the next."""
    burn_in: Integers
    """Steps during which temperatures move."""
    climb: Integers
    """The step from which on all chains climb and nothing is exchanged."""


class TemperingDriver:
    """A driver whose chains belong to ladders: chain c of a unit to ladder ``c // levels``.

    Args:
        driver: runs the chains; its search takes their temperatures from ``state.limit``.
        problem: its own.
        ladder: what is to be done.
    """

    def __init__(self, driver: Driver, problem: Problem, ladder: Ladder) -> None:
        self._driver, self._problem, self._ladder = driver, problem, ladder
        self.state: State = driver.state
        self.name = driver.name
        lanes, levels = len(self.state.unit), len(ladder.first)
        self.levels = levels
        self.level = np.zeros(lanes, np.int64)
        """[L] level of each lane."""
        # Of each ladder, in the row of its first chain's lane.
        self.temperature = np.zeros((lanes, levels))
        """[L, levels] nats."""
        self._likely = np.zeros((lanes, levels - 1))
        self._offered = np.zeros((lanes, levels - 1), np.int64)
        self._counts = np.zeros((lanes, 2, levels - 1), np.int64)
        self.swaps = np.zeros((2, levels - 1), np.int64)
        """Exchanges offered and accepted between neighbours, after the burn-in, of all ladders."""

    def start(self, lanes: Lanes) -> None:
        """Put random monotone translations into lanes."""
        self._driver.start(lanes)
        self.reset(lanes)

    def refresh(self, lanes: Lanes) -> None:
        """Recompute scores and LM states of lanes from their phrases; ladders begin anew."""
        self._driver.refresh(lanes)
        self.reset(lanes)

    def reset(self, lanes: Lanes) -> None:
        """Each chain at the level of its number."""
        self.level[lanes] = self.state.chain[lanes] % self.levels
        self.temperature[lanes] = self._ladder.first
        self._likely[lanes] = 0
        self._offered[lanes] = 0
        self._counts[lanes] = 0

    def go_on(self, lanes: Lanes, level: Integers, nats: Floats, swaps: Integers) -> None:
        """Put ladders that were burnt in where they were: level of each lane, temperatures of each ladder, and what
        `exchanges` said."""
        first = self._groups(lanes)[:, 0]
        self.level[lanes] = level
        self.temperature[first] = nats
        self._counts[first[0]] = swaps

    def exchanges(self, lanes: Lanes) -> Integers:
        """[2, levels - 1] exchanges offered and accepted after the burn-in, of the ladders of some lanes."""
        return np.asarray(self._counts[lanes].sum(axis=0))

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes, whole ladders of them, until each rests."""
        state = self.state
        goal = state.limit[:, LIMIT_PAUSE].copy()
        groups = self._groups(lanes)
        try:
            while True:
                behind = state.step[groups] < np.minimum(goal[groups], state.limit[groups, LIMIT_STEPS])
                groups = groups[(behind & ~self._ended(groups)).any(axis=1)]
                if not len(groups):
                    return
                self._set_off(groups, goal)
                before = state.step[groups[:, 0]].copy()
                self._driver.run(groups.reshape(-1), tick)
                self._exchange(groups, before)
        finally:
            state.limit[lanes, LIMIT_PAUSE] = goal[lanes]

    def close(self) -> None:
        """Give the device back."""
        self._driver.close()

    def _ended(self, groups: Integers) -> NDArray[np.bool_]:
        """Lanes that a limit other than the steps has ended."""
        limit = self.state.limit[groups]
        return (self.state.rejected[groups] >= limit[..., LIMIT_REJECTED]) | (
            self.state.score[groups] >= limit[..., LIMIT_SCORE]
        )

    def _groups(self, lanes: Lanes) -> Integers:
        """Lanes of ladders, [G, levels], in the order of their chains."""
        unit, chain = self.state.unit[lanes], self.state.chain[lanes]
        groups = lanes[np.lexsort((chain, unit))].reshape(-1, self.levels)
        ladder = self.state.chain[groups] // self.levels
        assert (ladder == ladder[:, :1]).all(), "whole ladders run together"
        return groups

    def _set_off(self, groups: Integers, goal: Integers) -> None:
        """Give each lane its temperature, and the next step to stop at."""
        state, ladder = self.state, self._ladder
        unit = state.unit[groups[:, 0]]
        first = np.arange(len(groups))[:, None]
        nats = self.temperature[groups[:, 0]][first, self.level[groups]]
        step = state.step[groups]
        climbs = step >= ladder.climb[unit][:, None]
        state.limit[groups, LIMIT_TEMPERATURE] = np.where(climbs, 0, integer_temperature(nats))
        interval = ladder.interval[unit][:, None]
        ahead = np.minimum((step // interval + 1) * interval, ladder.climb[unit][:, None])
        state.limit[groups, LIMIT_PAUSE] = np.where(climbs, goal[groups], np.minimum(goal[groups], ahead))

    def _exchange(self, groups: Integers, before: Integers) -> None:
        """Offer exchanges to the ladders that have come to one."""
        state, ladder = self.state, self._ladder
        first = groups[:, 0]
        unit, step = state.unit[first], state.step[first]
        interval = ladder.interval[unit]
        together = (state.step[groups] == step[:, None]).all(axis=1)
        due = (step % interval == 0) & (step > before) & (step <= ladder.climb[unit]) & together
        groups, first, unit, step = groups[due], first[due], unit[due], step[due]
        if not len(groups) or self.levels == 1:
            return
        number = step // interval[due]
        order = np.argsort(self.level[groups], axis=1, kind="stable")
        by_level = np.take_along_axis(groups, order, axis=1)
        nats = integer_temperature(self.temperature[first]) / 2.0**TEMPERATURE_BITS
        score = state.score[by_level]
        gain = (1 / nats[:, :-1] - 1 / nats[:, 1:]) * ((score[:, 1:] - score[:, :-1]) / 2.0**SCORE_BITS)
        pair = np.arange(self.levels - 1)
        offered = (pair[None] + number[:, None]) % 2 == 0
        accepted = offered & (self._minus_log(unit, step, state.chain[first], pair) > -gain)
        self._likely[first] += np.where(offered, exponential(np.minimum(gain, 0)), 0)
        self._offered[first] += offered
        frozen = step > ladder.burn_in[unit]
        counts = np.stack((offered, accepted), axis=1)[frozen]
        self._counts[first[frozen]] += counts
        self.swaps += counts.sum(axis=0)
        for one in range(self.levels - 1):
            rows = np.flatnonzero(accepted[:, one])
            self.level[by_level[rows, one]], self.level[by_level[rows, one + 1]] = one + 1, one
        self._adapt(first[(step <= ladder.burn_in[unit]) & _is_turn(number)])

    def _minus_log(self, unit: Integers, step: Integers, chain: Integers, pair: Integers) -> Floats:
        """-ln u of each pair of each ladder, nats."""
        row = self._problem.unit[unit]
        high, low, _, _ = philox(
            (step & MASK)[:, None],
            (step >> 32)[:, None],
            chain[:, None],
            SWAP + pair[None],
            row[:, UNIT_KEY_LOW, None],
            row[:, UNIT_KEY_HIGH, None],
        )
        return minus_logs(high, low) / 2.0**SCORE_BITS

    def _adapt(self, first: Integers) -> None:
        """Move temperatures between the ends so that rejections are shared evenly."""
        for lane in first.tolist():
            rejected = 1 - self._likely[lane] / np.maximum(self._offered[lane], 1)
            self.temperature[lane] = spread_evenly(self.temperature[lane], np.maximum(rejected, LEAST_REJECTION))
            self._likely[lane] = 0
            self._offered[lane] = 0


def spread_evenly(nats: Floats, rejected: Floats) -> Floats:
    """Temperatures, rising, between whose neighbours an equal part of all rejections lies.

    Between two old temperatures rejections are taken to be even in 1 / T. Sums and products alone: the same everywhere.
    """
    barrier = np.concatenate(([0.0], np.cumsum(rejected)))
    beta = 1 / nats
    goals = barrier[-1] * np.arange(len(nats)) / (len(nats) - 1)
    before = np.clip(np.searchsorted(barrier, goals, side="right") - 1, 0, len(rejected) - 1)
    share = (goals - barrier[before]) / rejected[before]
    moved = 1 / (beta[before] + share * (beta[before + 1] - beta[before]))
    moved[0], moved[-1] = nats[0], nats[-1]
    return np.asarray(moved)


def _is_turn(number: Integers) -> NDArray[np.bool_]:
    """Whether temperatures move after so many exchanges: 16, 32, 64, ..."""
    return (number >= FIRST_ADAPTATION) & (number & (number - 1) == 0)
