"""The `[sample]` group: the sampler (Gibbs, Metropolis, tempering), its length and its scale."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from gpusearch.config.group import Group


class SampleConfig(Group):
    """`[sample]`: how `gpusearch sample` draws translations (Arun et al. 2010); chains and seed stand in `[search]`.

    An iteration of Gibbs sampling is as many draws of blocks as one scan through all of them takes; one of the others,
    `proposals` a source word.
    """

    method: Literal["gibbs", "metropolis", "tempering"] = Field(
        "gibbs",
        description="gibbs: draws of blocks; metropolis: proposals of [search.operations], accepted or not; tempering: "
        "the same, each chain the cold end of a ladder of chains (levels, hot, swap_every of [search.tempering])",
    )
    proposals: float = Field(
        10.0, gt=0, le=1e9, description="metropolis and tempering: proposals a source word in an iteration"
    )

    iterations: int = Field(1000, ge=1, lt=2**31, description="iterations of each chain, burn-in included")
    burn_in: int = Field(100, ge=0, lt=2**31, description="iterations before the first sample")
    thin: int = Field(1, ge=1, lt=2**31, description="iterations from one sample to the next")
    scale: float = Field(
        1.0,
        ge=2**-8,
        le=2**20,
        description="factor of all scores, 1 / temperature: below 1 flatter, above 1 more peaked",
    )
    scan: Literal["random", "sequential"] = Field("random", description="order of the blocks")
    unit: Literal["sentence", "document"] = Field("sentence", description="what a sample is a translation of")
    superchains: int = Field(
        8, ge=1, description="groups of chains that share a first translation, for nested R-hat; of equal size"
    )
    reorder: int = Field(
        6, ge=0, le=64, description="how many phrases behind it in the source a phrase may be exchanged with"
    )
    resegment: int = Field(
        8, ge=0, le=8, description="most source words of a block that is segmented anew; 0: only the paper's operators"
    )
    resegment_candidates: int = Field(
        256,
        ge=1,
        le=1 << 16,
        description="most ways to segment and translate a block, by the best options of each span; one of each always "
        "takes part (of 8 words: 128 ways)",
    )

    anneal_first: float = Field(
        0.7, gt=0, description="decode --method gibbs: first temperature, in deviations of an option set's scores"
    )
    anneal_last: float = Field(0.03, gt=0, description="decode --method gibbs: last temperature; in between geometric")

    @model_validator(mode="after")
    def _some_sample(self) -> SampleConfig:
        if self.burn_in + self.thin > self.iterations:
            raise ValueError(
                f"no sample in {self.iterations} iterations: the first would come after {self.burn_in + self.thin}"
            )
        return self

    @model_validator(mode="after")
    def _cools(self) -> SampleConfig:
        if self.anneal_last > self.anneal_first:
            raise ValueError(
                f"anneal_last ({self.anneal_last:g}) is above anneal_first ({self.anneal_first:g}); annealing cools"
            )
        return self

    @property
    def rounds(self) -> int:
        """Samples of each chain."""
        return (self.iterations - self.burn_in) // self.thin
