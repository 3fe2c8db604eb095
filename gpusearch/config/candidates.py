"""The group `[candidates]`: translations of whole segments by other systems."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gpusearch.config.group import Group, Weight

#: What scores are called: anything that an n-best list can hold.
ScoreName = Annotated[str, Field(pattern=r"^[^ \t\n=|]+$")]


class CandidatesConfig(Group):
    """`[candidates]`: whole-segment translations of other systems (`decode --candidates`)."""

    weights: dict[ScoreName, Weight] = Field(
        default_factory=dict, description="of the candidates' scores, by name; phrases have 0 for each"
    )
    alone: bool = Field(
        False, description="segments that have candidates get one of them; else phrases are options beside them"
    )
