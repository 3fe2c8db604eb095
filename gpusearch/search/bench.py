"""How fast chains run: proposals that change something, by second and by CPU second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from gpusearch.config import Config, OperationsConfig
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_BOUND,
    BELOW_SCORE,
    EMPTY,
    LIMIT_PAUSE,
    LM_FIRST_SLOT,
    LM_WEIGHT,
    OPTION_BOUND,
    OPTION_WORDS,
    TOO_FAR,
    UNIT_WORDS,
    Problem,
)
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.search.device import make_driver
from gpusearch.search.feature_check import check_features
from gpusearch.search.judged import make_judges
from gpusearch.search.rejected import compiling
from gpusearch.search.run import search_settings

# What each word may bring on top of its bound where the bound is switched off: more than any proposal can lose.
NO_BOUND = 200 << 20


@dataclass(frozen=True)
class Speed:
    """One measurement. Shares are of all proposals that change something."""

    device: str
    operation: str
    bound: bool
    lanes: int
    proposals: int
    """Those that change something: empty draws are not counted."""
    proposals_per_second: float
    proposals_per_cpu_second: float
    empty: float
    """Empty draws, as a share of all draws."""
    too_far: float
    rejected_by_bound: float
    rejected_by_score: float
    accepted: float

    def row(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)


def without_bound(problem: Problem) -> Problem:
    """The problem with bounds so loose that every proposal is scored to its last word: the paths stay the same."""
    info = problem.language.info
    looser = np.where(info[:, LM_WEIGHT] < 0, -NO_BOUND, NO_BOUND)
    # What words at a seam may gain comes from the language model, what words of an option may, from the problem.
    slots = np.diff(np.append(info[:, LM_FIRST_SLOT], len(problem.language.extreme)))
    extreme = problem.language.extreme + np.repeat(looser, slots)
    score = problem.option_score.copy()
    score[:, OPTION_BOUND] += (info[:, LM_WEIGHT] * looser).sum() * problem.option_place[:, OPTION_WORDS]
    return problem._replace(
        word_bound=(problem.word_bound + looser[:, None]).astype(np.int32),
        option_score=score,
        language=problem.language._replace(extreme=extreme.astype(np.int32)),
    )


def measure(
    batch: Batch,
    config: Config,
    model: Model,
    *,
    lanes: int,
    seconds: float,
    operation: str = "all",
    bound: bool = True,
    settle: int = 1,
) -> Speed:
    """Run random starts for about so many seconds, after a warm-up of a tenth of them.

    Args:
        lanes: chains on units held at once; they are spread over all units.
        operation: ``all`` for the configured mix, or the one operation that is drawn.
        bound: whether proposals may be rejected before they are scored.
        settle: proposals a source word that come before, at least.
    """
    problem = batch.problem if bound else without_bound(batch.problem)
    settings = config.search
    if operation != "all":
        shares = {name: float(name == operation) for name in settings.operations.shares()}
        operations = OperationsConfig.model_validate({**settings.operations.model_dump(), **shares})
        settings = settings.model_copy(update={"operations": operations})
    search = search_settings(config.model_copy(update={"search": settings}), model, batch)
    judges = make_judges(batch, lanes)
    driver = make_driver(problem, search, lanes, len(model.features.names), settings, model.language_models, judges)
    try:
        state, every = driver.state, np.arange(lanes)
        state.unit[:] = every % len(problem.unit)
        state.chain[:] = every // len(problem.unit)
        with compiling(model):
            driver.start(every)
        words = problem.unit[state.unit, UNIT_WORDS]
        per_word, spent = 1, 0.0
        state.limit[:, LIMIT_PAUSE] = state.step + settle * words
        with compiling(model):
            driver.run(every, _nothing)  # compiles, where nothing is in the cache
        while True:  # as many steps a word as take the time
            state.limit[:, LIMIT_PAUSE] = state.step + per_word * words
            before, clock, cpu = state.tally.sum(axis=(0, 1)), time.perf_counter(), time.process_time()
            driver.run(every, _nothing)
            spent, cpu = time.perf_counter() - clock, time.process_time() - cpu
            if spent > seconds / 2:
                break
            per_word = max(per_word + 1, min(10 * per_word, int(per_word * seconds / max(spent, 1e-6))))
        tally = state.tally.sum(axis=(0, 1)) - before
    finally:
        driver.close()
    changing = max(1, int(tally.sum() - tally[EMPTY]))
    return Speed(
        device=driver.name,
        operation=operation,
        bound=bound,
        lanes=lanes,
        proposals=changing,
        proposals_per_second=changing / spent,
        proposals_per_cpu_second=changing / cpu if cpu else 0.0,
        empty=float(tally[EMPTY] / tally.sum()),
        too_far=float(tally[TOO_FAR] / changing),
        rejected_by_bound=float(tally[BELOW_BOUND] / changing),
        rejected_by_score=float(tally[BELOW_SCORE] / changing),
        accepted=float(tally[ACCEPTED] / changing),
    )


def _nothing() -> None:
    """Nobody is told."""


def measure_all(batch: Batch, config: Config, model: Model, seconds: float) -> Iterator[Speed]:
    """The configured mix for rising numbers of lanes, then without the bound, then each operation by itself.

    Raises:
        InputError: features of a user that contradict themselves.
    """
    check_features(batch, search_settings(config, model, batch))
    most = len(batch.problem.unit) * config.search.chains
    lanes = 1
    while lanes < most:
        yield measure(batch, config, model, lanes=lanes, seconds=seconds)
        lanes *= 8
    most = min(most, config.search.max_lanes or 4096)
    yield measure(batch, config, model, lanes=most, seconds=seconds)
    yield measure(batch, config, model, lanes=most, seconds=seconds, bound=False)
    for operation in config.search.operations.shares():
        yield measure(batch, config, model, lanes=most, seconds=seconds, operation=operation)
