"""The `[search]` group: how the chains move, when they stop, and what becomes of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gpusearch.config.beam import BeamConfig, LatticeConfig
from gpusearch.config.group import FilePath, Group
from gpusearch.config.policies import AnnealingConfig, MetropolisConfig, TemperingConfig
from gpusearch.config.presets import OF_DOCUMENTS, PROPOSALS_PER_WORD, fill

Share = Annotated[float, Field(ge=0)]
Decay = Annotated[float, Field(ge=0, lt=1)]

# Counts and scores are int64 in the search.
MOST_CHAINS = 2**31
MOST_STEPS = 2**63
MOST_STEPS_PER_WORD = 2.0**32
# With temperatures that depend on the step; 2^15 words a sentence times the steps a word are no more.
MOST_TEMPERED_STEPS = 2**52
TEMPERED = ("annealing", "metropolis", "tempering")
LARGEST_SCORE = 2.0**23


class OperationsConfig(Group):
    """`[search.operations]`: relative frequency of each operation, and the shape of its draws.

    Lengths and distances are geometric: one unit with probability 1 - decay, each further one with
    probability decay (Hardmeier et al. 2012, section 3.2, describes the first three operations).
    """

    change: Share = Field(80.0, description="share of change-phrase-translation: another option of the same span")
    swap: Share = Field(40.0, description="share of swap-phrases: two phrases change places")
    resegment: Share = Field(300.0, description="share of resegment: a block gets another segmentation")
    permute: Share = Field(0.0, description="share of permute-phrases: a block in random order")
    linearise: Share = Field(0.0, description="share of linearise-phrases: a block in source order")
    move: Share = Field(0.0, description="share of move-phrases: a block goes to another place")
    insertion: Share = Field(0.0, description="share of insertion: any option is put in, what it overlaps gives way")
    split_and_swap: Share = Field(0.0, description="share of split-and-swap: a phrase is split, its parts exchanged")
    swap_decay: Decay = Field(0.5, description="decay of the distance between swapped phrases (1 = adjacent)")
    block_decay: Decay = Field(0.5, description="decay of the number of phrases in a block (from 1)")
    resegment_swap: float = Field(
        0.25, ge=0, le=1, description="probability that two neighbours of a new segmentation change places"
    )
    move_decay: Decay = Field(0.5, description="decay of the distance that a block is moved")
    move_right: float = Field(0.5, ge=0, le=1, description="probability that a block is moved to the right")

    @model_validator(mode="after")
    def _some_operation(self) -> OperationsConfig:
        if not any(self.shares().values()):
            raise ValueError("all operations have the share 0; give one of them a share above 0")
        return self

    def check_inverses(self, what: str) -> None:
        """Raise ValueError where an operation has no inverse, so that chains would have no distribution of theirs."""
        if self.linearise:
            raise ValueError(f"{what} takes no operation without an inverse; give linearise the share 0")
        if self.move and not 0 < self.move_right < 1:
            raise ValueError(f"{what} must be able to move blocks back; let move_right be above 0 and below 1")

    def shares(self) -> dict[str, float]:
        """Relative frequency of each operation, by its name."""
        names = ("change", "swap", "resegment", "permute", "linearise", "move", "insertion", "split_and_swap")
        return {name: float(getattr(self, name)) for name in names}


class SearchConfig(Group):
    """`[search]`: policy, limits and starting points. The defaults favour a good result in short time."""

    preset: Literal["fast", "best"] = Field(
        "fast", description="values of chains and final_sweep where they are not given; best takes some times as long"
    )
    method: Literal["search", "gibbs", "beam"] = Field(
        "search",
        description="search: stochastic search by many chains; gibbs: annealed Gibbs sampling, whose steps are draws "
        "of blocks (settings in [sample]); beam: stack decoding, nothing else",
    )
    policy: Literal["hill-climbing", "annealing", "metropolis", "tempering", "sweep"] = Field(
        "hill-climbing",
        description="hill-climbing: random proposals that score higher are accepted; annealing: also others, at a "
        "temperature that falls; metropolis: at one that stays, so that chains are samples; tempering: chains at "
        "several, which they exchange (settings in the group of the name); sweep: all neighbours are looked at, in "
        "random order, until none scores higher",
    )
    chains: int = Field(64, ge=1, lt=MOST_CHAINS, description="independent chains a document")
    steps: int | None = Field(
        None, ge=0, lt=MOST_STEPS, description="proposals a chain and document; overrides steps_per_word"
    )
    steps_per_word: float | None = Field(
        None,
        ge=0,
        lt=MOST_STEPS_PER_WORD,
        description="proposals a chain and source word; where not given 15 (preset best: 30), or 100 where documents "
        "are searched as a whole; policy = sweep ends by itself",
    )
    max_rejected: int | None = Field(
        None, ge=1, lt=MOST_STEPS, description="stop a chain after so many rejections in a row"
    )
    restarts: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="how often a chain that max_rejected or its sweep has ended begins anew; it keeps its best",
    )
    perturbation: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="it does so from its best translation, after so many proposals that are taken whatever they score; "
        "0: from a random translation",
    )
    target_score: float | None = Field(
        None, gt=-LARGEST_SCORE, lt=LARGEST_SCORE, description="stop a chain that reaches this score (natural log)"
    )
    time_limit: float | None = Field(
        None,
        gt=0,
        description="stop after so many seconds; the one limit that makes results differ between runs",
    )
    seed: int = Field(1, ge=0, lt=2**63, description="the whole of the randomness, with document id and chain number")
    initial: Literal["random", "best", "beam", "file", "saved"] = Field(
        "random",
        description="start: random segmentation, best options (both monotone), what the beam finds, "
        "a translation, a saved state",
    )
    initial_file: FilePath | None = Field(None, description="where initial = file or saved starts from")
    recombine: Literal["lattice", "best-unit", "best-chain"] = Field(
        "lattice",
        description="output: the best derivation over the phrases of all chains of a sentence (with features of the "
        "document chains exchange sentences instead); each unit from its best chain; or all from the document's best "
        "chain",
    )
    final_sweep: bool = Field(
        False,
        description="the translation is improved until none of its neighbours scores higher, and that is certified",
    )
    distortion_limit: int = Field(6, ge=-1, description="longest jump in source words; -1: no limit")
    distortion_check: Literal["jump", "moses"] = Field(
        "jump", description="moses: the next gap must be reachable too, as its beam checks"
    )
    first_jump: bool = Field(True, description="the jump from the sentence start counts as distortion")
    option_draw: Literal["score", "uniform"] = Field(
        "score", description="options drawn by their isolated score, or uniformly as in the paper"
    )
    option_temperature: float = Field(
        0.5, gt=0, description="temperature of option_draw = score, in deviations of an option set's scores"
    )
    option_uniform: float = Field(0.1, ge=0, le=1, description="part of option_draw = score drawn uniformly")
    longest_visit: int = Field(
        4096,
        ge=1,
        lt=2**31,
        description="most proposals in a row for one sentence where documents are the units; 1: each another sentence",
    )
    compat: Literal["none", "docent"] = Field(
        "none", description="docent: draw proposals as Docent does, options uniformly, whole documents as units"
    )
    threads: int | None = Field(None, ge=1, description="threads of the CPU; all cores where not given")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto: a GPU where there is one")
    max_lanes: int | None = Field(
        None, ge=1, description="chains on units held at once; from the memory at hand where not given"
    )
    speculation: int | None = Field(
        None,
        ge=1,
        description="proposals judged at once on a GPU; never changes the result; chosen where not given",
    )
    annealing: AnnealingConfig = AnnealingConfig()
    metropolis: MetropolisConfig = MetropolisConfig()
    tempering: TemperingConfig = TemperingConfig()
    lattice: LatticeConfig = LatticeConfig()
    beam: BeamConfig = BeamConfig()
    operations: OperationsConfig = OperationsConfig()

    @property
    def active_policy(self) -> str | None:
        """The policy that chains follow; None where they follow none: `method` draws blocks, or is the beam alone."""
        return self.policy if self.method == "search" else None

    def proposals_per_word(self, units: str) -> float:
        """Proposals a chain and source word where ``sentence`` or ``document`` are the units."""
        if self.steps_per_word is not None:
            return self.steps_per_word
        return PROPOSALS_PER_WORD[self.preset] if units == "sentence" else OF_DOCUMENTS

    @model_validator(mode="before")
    @classmethod
    def _has_its_preset(cls, data: Any) -> Any:
        return fill(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _initial_has_file(self) -> SearchConfig:
        if self.initial in ("file", "saved") and self.initial_file is None:
            raise ValueError(f'initial = "{self.initial}" needs initial_file')
        return self

    @model_validator(mode="after")
    def _temperatures_have_their_steps(self) -> SearchConfig:
        named = f'policy = "{self.policy}"' if self.method == "search" else f'method = "{self.method}"'
        tempered = self.method == "gibbs" or self.active_policy in TEMPERED
        if tempered and (self.steps or 0) >= MOST_TEMPERED_STEPS:
            raise ValueError(f"{named} shares the steps among its temperatures; take less than 2^52")
        return self

    @model_validator(mode="after")
    def _policy_has_what_it_needs(self) -> SearchConfig:
        if self.active_policy in ("metropolis", "tempering"):
            self.operations.check_inverses(f'policy = "{self.policy}"')
        if self.active_policy != "tempering":
            return self
        levels = self.tempering.levels
        if self.chains % levels:
            raise ValueError(f"chains ({self.chains}) must be a multiple of search.tempering.levels ({levels})")
        ended = {"max_rejected": self.max_rejected, "target_score": self.target_score}
        ended["restarts"] = self.restarts or None
        for name, value in ended.items():
            if value is not None:
                raise ValueError(f'chains of policy = "tempering" end together; {name} would end some of them')
        if self.recombine == "lattice" and self.lattice.every is not None:
            raise ValueError(
                'policy = "tempering" keeps its chains; search.lattice.every would put others in their place'
            )
        if self.initial == "saved":
            raise ValueError('policy = "tempering" cannot go on from a saved state, which has no temperatures')
        return self

    @model_validator(mode="after")
    def _docent_is_a_search(self) -> SearchConfig:
        if self.compat == "docent" and self.method == "gibbs":
            raise ValueError('compat = "docent" draws proposals, which method = "gibbs" does not')
        return self

    @model_validator(mode="after")
    def _restarts_have_an_end_before_them(self) -> SearchConfig:
        if self.perturbation and not self.restarts:
            raise ValueError("perturbation is how restarts begin, and there are none; give restarts a value")
        if self.restarts and self.method == "gibbs":
            raise ValueError('restarts begin where rejected proposals end a chain; method = "gibbs" makes none')
        if self.restarts and self.active_policy not in (None, "sweep") and self.max_rejected is None:
            raise ValueError("restarts begin where max_rejected ends a chain; give it a value")
        return self

    @model_validator(mode="after")
    def _rounds_have_steps(self) -> SearchConfig:
        if self.lattice.every is not None and self.active_policy == "sweep":
            raise ValueError('lattice.every counts proposals, which policy = "sweep" does not make')
        return self

    @model_validator(mode="after")
    def _docent_climbs(self) -> SearchConfig:
        if self.compat == "docent" and self.active_policy not in (None, "hill-climbing"):
            raise ValueError(f'compat = "docent" is hill climbing; policy = "{self.policy}" is not')
        return self

    @model_validator(mode="after")
    def _docent_has_the_operations(self) -> SearchConfig:
        foreign = [name for name in ("insertion", "split_and_swap") if getattr(self.operations, name)]
        if self.compat == "docent" and foreign:
            raise ValueError(f'compat = "docent" has no operation {foreign[0]}; give it the share 0')
        return self
