"""The driver of the chains of a search: its device, its policy, what begins them anew or keeps their best."""

from __future__ import annotations

from gpusearch.config import Config
from gpusearch.kernels.records import Search
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.search.annealed import BestDriver, annealed_settings
from gpusearch.search.device import batch_lanes, make_driver
from gpusearch.search.driver import Driver
from gpusearch.search.feature_check import check_features
from gpusearch.search.judged import make_judges
from gpusearch.search.limits import Limits
from gpusearch.search.policies import ladder_lanes, with_ladders, with_policy
from gpusearch.search.restarts import RestartingDriver
from gpusearch.search.timed import timed
from gpusearch.timing import Timer


def policy_driver(config: Config, model: Model, batch: Batch, search: Search, limits: Limits, timer: Timer) -> Driver:
    """A driver with room for as many lanes as fit.

    Args:
        search: settings of the search for this batch, without its policy.
        timer: told what features in Python take.

    Raises:
        InputError: no room for one chain, or one ladder; features of a user that contradict themselves.
    """
    settings, problem = config.search, batch.problem
    values = len(model.features.names)
    lanes = batch_lanes(batch, settings, values)
    tempers = settings.active_policy == "tempering"
    if tempers:
        lanes = ladder_lanes(lanes, settings)
    if settings.method == "gibbs":
        search = annealed_settings(search, config, model, batch)
    else:
        search = with_policy(search, settings, model, problem)
    check_features(batch, search)
    judges = timed(make_judges(batch, lanes), model, timer, "search")
    driver: Driver = make_driver(problem, search, lanes, values, settings, model.language_models, judges)
    if settings.method == "gibbs":
        return BestDriver(driver, problem, search, limits)
    if tempers:
        return with_ladders(driver, settings, model, problem, limits.steps)
    if settings.restarts and settings.active_policy:
        return RestartingDriver(driver, problem, search, limits, settings.restarts, settings.perturbation)
    return driver
