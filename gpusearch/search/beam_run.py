"""The beam in a run: what a search starts from, or all there is; with n-best lists and lattices where asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config
from gpusearch.config.search import SearchConfig
from gpusearch.kernels.records import Search
from gpusearch.model.problem import Batch
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.beam import Tick, beam_decoder
from gpusearch.search.graph import SearchGraph
from gpusearch.search.initial import best_derivations
from gpusearch.search.lattice import Lattice, describe_n_best, n_best_derivations
from gpusearch.search.translation import SentenceTranslation


@dataclass(frozen=True)
class Wanted:
    """What is wanted of the beam besides its best derivations."""

    n_best: int = 0
    """Derivations of each sentence."""
    distinct: bool = False
    """No two of a sentence with the same words."""
    lattices: bool = False

    @property
    def graph(self) -> bool:
        """Whether search graphs must be kept."""
        return self.n_best > 0 or self.lattices


@dataclass
class BeamOutput:
    """What the beam has found for a batch."""

    batch: Batch
    options: list[NDArray[np.int32]]
    """For each sentence its options in target order; where the beam was ended early, the best ones in source order."""
    complete: bool = True
    interrupted: bool = False
    n_best: dict[int, list[NDArray[np.int32]]] = field(default_factory=dict)
    """By sentence, where wanted."""
    graphs: dict[int, SearchGraph] = field(default_factory=dict)
    """By sentence, where wanted."""

    def described(self, document: int, first_jump: bool) -> list[list[SentenceTranslation]]:
        """The n best of each sentence of a document; of an empty or unfinished one the one there is."""
        sentences = range(*self.batch.units.first_sentence[document : document + 2].tolist())
        lists = [self.n_best.get(sentence, [self.options[sentence]]) for sentence in sentences]
        return describe_n_best(self.batch, lists, first_jump)

    def lattices(self, document: int) -> list[Lattice | None]:
        """The lattice of each sentence of a document; None for one that is empty or unfinished."""
        sentences = range(*self.batch.units.first_sentence[document : document + 2].tolist())
        graphs = [self.graphs.get(sentence) for sentence in sentences]
        return [None if graph is None else Lattice(graph, self.batch.options) for graph in graphs]


def run_beam(batch: Batch, config: SearchConfig, search: Search, tick: Tick, wanted: Wanted) -> BeamOutput:
    """Search all sentences of a batch."""
    output = BeamOutput(batch, [])

    def keep(graph: SearchGraph) -> None:
        if wanted.n_best:
            found = n_best_derivations(graph, batch.options, wanted.n_best, distinct=wanted.distinct)
            output.n_best[graph.sentence] = found
        if wanted.lattices:
            width = config.beam.lattice_width
            output.graphs[graph.sentence] = graph if width is None else graph.pruned(round(width * SCORE_UNITS))

    decoder = beam_decoder(batch, config, search, graph=wanted.graph)
    found = decoder.decode(tick=tick, keep=keep if wanted.graph else None)
    output.complete, output.interrupted = found.complete, found.interrupted
    output.options = found.options
    if not found.done.all():
        monotone = best_derivations(batch)
        output.options = [
            options if done else np.array(instead, np.int32)
            for options, done, instead in zip(found.options, found.done, monotone, strict=True)
        ]
    return output


def beam_alone(config: Config) -> Config:
    """The beam by itself is a search that starts from it and makes no step, which scores it with all features."""
    alone = {"initial": "beam", "chains": 1, "steps": 0, "max_rejected": None, "target_score": None}
    alone |= {"recombine": "best-unit"}
    return config.model_copy(update={"search": config.search.model_copy(update=alone)})
