"""From what the chains have become to one translation, or the n best, of each document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.model.problem import Batch
from gpusearch.search.chains import Finals

Derivation = Sequence[NDArray[np.int32]]
"""Options of each sentence of a document in target order; none for an empty sentence."""


@dataclass
class Choice:
    """A translation of a document."""

    derivation: Derivation
    score: int
    """2^-40 nat."""
    chains: tuple[int, ...]
    """The chain that each unit was taken from."""


def choose(finals: Finals, batch: Batch, document: int, recombine: str) -> Choice:
    """The translation of a document of the batch.

    ``best-chain`` takes all units from the chain with the highest score of the document, ``best-unit`` each from the
    chain where it scores best, and so does ``lattice``, which improves on that. Of equal scores the first chain's is
    taken.
    """
    units = np.flatnonzero(batch.units.document == document)
    if recombine == "best-chain":
        chains = np.full(len(units), finals.score[units].sum(axis=0).argmax())
    else:
        chains = finals.score[units].argmax(axis=1)
    return _from_chains(finals, batch, document, units, chains)


def choose_all(finals: Finals, batch: Batch, recombine: str) -> Derivation:
    """The derivations that `choose` takes of all documents of the batch, one after the other."""
    documents = range(len(batch.units.first_sentence) - 1)
    return [options for document in documents for options in choose(finals, batch, document, recombine).derivation]


def every_chain(finals: Finals, batch: Batch, document: int) -> list[Choice]:
    """What each chain has made of a document, in the order of the chains."""
    units = np.flatnonzero(batch.units.document == document)
    return [
        _from_chains(finals, batch, document, units, np.full(len(units), chain))
        for chain in range(finals.score.shape[1])
    ]


def n_best(finals: Finals, batch: Batch, document: int, count: int, *, distinct: bool = False) -> list[Choice]:
    """At most `count` chains of a document with the highest scores, best first.

    With `distinct`, of chains that say the same words only the best is kept.
    """
    units = np.flatnonzero(batch.units.document == document)
    seen: set[tuple[str, ...]] = set()
    found: list[Choice] = []
    for chain in np.argsort(-finals.score[units].sum(axis=0), kind="stable").tolist():
        if len(found) == count:
            break
        choice = _from_chains(finals, batch, document, units, np.full(len(units), chain))
        text = tuple(
            " ".join(word for option in options.tolist() for word in batch.options.target(option))
            for options in choice.derivation
        )
        if not distinct or text not in seen:
            seen.add(text)
            found.append(choice)
    return found


def _from_chains(
    finals: Finals, batch: Batch, document: int, units: NDArray[np.integer], chains: NDArray[np.integer]
) -> Choice:
    first, last = batch.units.first_sentence[document : document + 2].tolist()
    derivation: list[NDArray[np.int32]] = [np.empty(0, np.int32)] * (last - first)
    for unit, chain in zip(units.tolist(), chains.tolist(), strict=True):
        here = finals.options(batch.problem, unit, chain)
        for sentence, options in zip(batch.units.sentences(unit), here, strict=True):
            derivation[sentence - first] = options
    return Choice(derivation, int(finals.score[units, chains].sum()), tuple(chains.tolist()))
