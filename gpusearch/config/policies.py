"""Groups of the search policies: `[search.annealing]`, `[search.metropolis]`, `[search.tempering]`."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, model_validator

from gpusearch.config.group import Group

# Levels at which a schedule cools, at most; the climb may take as many again.
MOST_LEVELS = 1024


class AnnealingConfig(Group):
    """`[search.annealing]`: how the temperature falls where policy = "annealing" (Kirkpatrick et al. 1983).

    Temperatures are in units of the median standard deviation of an option set's isolated scores.
    """

    schedule: Literal["geometric", "linear", "aarts-laarhoven"] = Field(
        "geometric",
        description="from one level to the next the temperature falls by a factor, by a difference, or as delta asks",
    )
    start: float = Field(0.7, ge=0, le=1e6, description="first temperature")
    end: float = Field(0.05, ge=0, le=1e6, description="last temperature before the climb")
    levels: int = Field(
        64, ge=1, le=MOST_LEVELS, description="temperatures, each for an equal share of the steps (not aarts-laarhoven)"
    )
    delta: float = Field(
        0.1,
        gt=0,
        le=1e6,
        description="aarts-laarhoven: how far a level may be from the next one's equilibrium; smaller is slower",
    )
    climb: float = Field(0.1, ge=0, le=0.5, description="share of the steps at the end that only improve")

    @model_validator(mode="after")
    def _falls(self) -> AnnealingConfig:
        if self.end > self.start:
            raise ValueError(f"end ({self.end:g}) is above start ({self.start:g}); annealing cools")
        if self.end == 0 and self.schedule != "linear" and self.start > 0:
            raise ValueError(f'schedule = "{self.schedule}" never comes to end = 0; take linear, or an end above 0')
        if self.schedule == "aarts-laarhoven" and self.start > 0 and self.cooling_levels() > MOST_LEVELS:
            raise ValueError(
                f"delta ({self.delta:g}) takes {self.cooling_levels()} levels from {self.start:g} to {self.end:g}, "
                f"more than {MOST_LEVELS}; take a larger delta or end"
            )
        return self

    def cooling_levels(self) -> int:
        """Levels of the schedule of Aarts and van Laarhoven (1985), the first and the last included.

        T becomes T / (1 + T ln(1 + delta) / (3 sigma)); for sigma the unit of temperatures stands, so that the
        temperature follows from the step alone.
        """
        return 1 + math.ceil(3 * (1 / self.end - 1 / self.start) / math.log1p(self.delta))


class MetropolisConfig(Group):
    """`[search.metropolis]`: chains at one temperature where policy = "metropolis" (Metropolis et al. 1953)."""

    temperature: float = Field(
        0.05, gt=0, le=1e6, description="temperature, in deviations of an option set's scores as all of them"
    )
    climb: float = Field(0.1, ge=0, le=0.5, description="share of the steps at the end that only improve")


class TemperingConfig(Group):
    """`[search.tempering]`: replica exchange where policy = "tempering" (Geyer 1991; Syed et al. 2022).

    A document's chains form ladders of `levels` chains each, a temperature for each; neighbours exchange them.
    """

    levels: int = Field(8, ge=2, le=256, description="chains of a ladder; the number of chains is a multiple of it")
    cold: float = Field(0.05, gt=0, le=1e6, description="lowest temperature, in deviations of an option set's scores")
    hot: float = Field(0.7, gt=0, le=1e6, description="highest temperature")
    swap_every: float = Field(5.0, gt=0, le=1e9, description="proposals a source word from one exchange to the next")
    burn_in: float = Field(
        0.3, ge=0, le=1, description="share of the steps in which temperatures between the ends are moved"
    )
    climb: float = Field(0.1, ge=0, le=0.5, description="share of the steps at the end that only improve")

    @model_validator(mode="after")
    def _rises(self) -> TemperingConfig:
        if self.hot <= self.cold:
            raise ValueError(f"hot ({self.hot:g}) is not above cold ({self.cold:g})")
        return self
