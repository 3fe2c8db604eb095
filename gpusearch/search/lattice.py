"""Search graphs as people and other programs read them: lattices of phrases, n-best lists of sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.model.options import Options
from gpusearch.model.problem import Batch
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.graph import SearchGraph
from gpusearch.search.translation import SentenceTranslation, describe

# Steps of the enumeration spent on one sentence; some microseconds each.
MOST_STEPS = 1_000_000


@dataclass(frozen=True, eq=False)
class Lattice:
    """A search graph with the phrases on its arcs."""

    graph: SearchGraph
    options: Options

    def row(self) -> dict[str, Any]:
        """As JSON: see docs/lattices.md."""
        graph, options = self.graph, self.options
        used, number = np.unique(graph.option, return_inverse=True)
        spans = [options.span_of(option) for option in used.tolist()]
        words = [" ".join(options.target(option)) for option in used.tolist()]
        return {
            "source": list(options.sentences[graph.sentence]),
            "score": graph.best / SCORE_UNITS,
            "covered": graph.covered.tolist(),
            "phrases": [[start, stop - 1, text] for (start, stop), text in zip(spans, words, strict=True)],
            "arcs": [
                [source, target, phrase, gain / SCORE_UNITS]
                for source, target, phrase, gain in zip(
                    graph.source.tolist(), graph.target.tolist(), number.tolist(), graph.gain.tolist(), strict=True
                )
            ],
        }


def n_best_derivations(
    graph: SearchGraph, options: Options, count: int, *, distinct: bool = False
) -> list[NDArray[np.int32]]:
    """The `count` best derivations of a sentence, best first; with `distinct`, of those of the same words the best.

    There may be fewer: that is all there are, or all that were found within the effort that is spent on a sentence.
    """
    if count == 0:
        return []
    words = {option: options.target(option) for option in set(graph.option.tolist())} if distinct else None
    ways = graph.derivations(words, MOST_STEPS)
    return [np.array(derivation, np.int32) for _, (_, derivation) in zip(range(count), ways, strict=False)]


def describe_n_best(
    batch: Batch, derivations: Iterable[list[NDArray[np.int32]]], first_jump: bool
) -> list[list[SentenceTranslation]]:
    """The derivations of each sentence with all features of the model, best first by their full score."""
    lists = list(derivations)
    described = iter(describe(batch, [one for found in lists for one in found], first_jump))
    return [sorted((next(described) for _ in found), key=lambda one: -one.score) for found in lists]
