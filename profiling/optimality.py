"""Whether what the beam finds is the best derivation there is: what sweeps and enumeration say of it.

A sweep certifies that none of a derivation's neighbours (`gpusearch/kernels/layouts.py`) scores higher; where a
sentence is short enough, all derivations are scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpusearch.config import Config
from gpusearch.kernels.records import Problem, Search
from gpusearch.model.model import Model
from gpusearch.model.problem import build_problem
from gpusearch.search.beam import beam_decoder
from gpusearch.search.enumeration import count_derivations, derivations
from gpusearch.search.final_sweep import sweep_to_the_end
from gpusearch.search.run import batches, search_settings
from gpusearch.search.translation import scores


@dataclass(frozen=True)
class Judged:
    """The beam's derivation of a sentence."""

    words: int
    """Of the source."""
    score: float
    """Nats."""
    neighbours: int
    """How many derivations a sweep has found not to score higher; 0 where one of the neighbours does."""
    derivations: int | None
    """How many there are; None: more than were to be enumerated."""
    is_best: bool
    """Of all derivations; False where they were not enumerated."""


def judged_beam(
    model: Model, config: Config, documents: Sequence[Sequence[Sequence[str]]], most: int
) -> Iterator[Judged]:
    """What is known of the beam's derivation of each sentence of some documents, all of which have words.

    Args:
        config: with ``distortion_check = "moses"``, so that beam, sweep and enumeration have the same derivations.
        most: derivations of a sentence that are enumerated.
    """
    for first, last in batches(documents):
        batch = build_problem(model, documents[first:last], search=config.search)
        problem, search = batch.problem, search_settings(config, model, batch)
        beam = beam_decoder(batch, config.search, search).decode()
        swept = sweep_to_the_end(batch, search, config.search, beam.options, len(model.features.names), _ignore)
        # By document, as a search has them: sums of other matrices differ in their last bits.
        inside = pairwise(batch.units.first_sentence.tolist())
        nats = np.concatenate([scores(batch, beam.options[a:b], config.search.first_jump) for a, b in inside])
        for sentence in range(len(beam.options)):
            stays = np.array_equal(swept.derivation[sentence], beam.options[sentence])
            neighbours = int(swept.neighbours[batch.units.of_sentence[sentence]]) if stays else 0
            count = count_derivations(problem, search, sentence, most)
            is_best = count <= most and _best(problem, search, sentence) == int(beam.score[sentence])
            words, score = int(batch.units.words[sentence]), float(nats[sentence])
            yield Judged(words, score, neighbours, count if count <= most else None, is_best)


def summary(judged: Sequence[Judged]) -> dict[str, tuple[str, str]]:
    """Sums over sentences, each with its unit."""
    enumerated = [one for one in judged if one.derivations is not None]
    return {
        "certified by a sweep": (f"{sum(one.neighbours > 0 for one in judged)} of {len(judged)}", "sentences"),
        "neighbours that do not score higher": (f"{sum(one.neighbours for one in judged)}", "derivations"),
        "best of all derivations": (f"{sum(one.is_best for one in enumerated)} of {len(enumerated)}", "sentences"),
        "longest enumerated": (f"{max((one.words for one in enumerated), default=0)}", "words"),
        "enumerated": (f"{sum(one.derivations or 0 for one in enumerated)}", "derivations"),
    }


def _best(problem: Problem, search: Search, sentence: int) -> int:
    return max(score for score, _ in derivations(problem, search, sentence))


def _ignore(*_: object) -> None:
    """Nobody looks on."""
