"""The `[search.beam]` group: stack decoding, by itself (`method = "beam"`) or as what the search starts from."""

from __future__ import annotations

from pydantic import Field

from gpusearch.config.group import Group


class BeamConfig(Group):
    """`[search.beam]`: limits of the stack decoder, by Moses' names.

    Distortion limit and first jump are those of `[search]`; both of Moses' checks of the limit are made.
    """

    stack_size: int = Field(200, ge=1, le=1_000_000, description="hypotheses kept for each number of covered words")
    beam_threshold: float = Field(
        1e-5, gt=0, le=1, description="hypotheses below this part of the best one's probability are dropped"
    )
    pop_limit: int = Field(
        0,
        ge=0,
        le=10_000_000,
        description="cube pruning: expansions of a stack; 0: all that may matter, which is seldom slower",
    )
    lattice_width: float | None = Field(
        None, ge=0, description="lattices hold derivations that are worse than the best by so many nats; all if none"
    )


class LatticeConfig(Group):
    """`[search.lattice]`: the dynamic program over the phrases of all chains (`recombine = "lattice"`): its limits, and
    whether chains go on from what it finds."""

    options: int = Field(
        20, ge=1, le=1_000_000, description="options of a span that join those of the chains, the best ones"
    )
    stack_size: int = Field(100, ge=1, le=1_000_000, description="hypotheses kept for each number of covered words")
    every: float | None = Field(
        None, gt=0, description="after every so many proposals a source word the worst chains go on from its result"
    )
    replaced: float = Field(0.5, gt=0, le=1, description="part of the chains that do so")
