"""What a search has found, and how it tells meanwhile how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import OPERATIONS, STAGES
from gpusearch.search.chains import OutOfTime
from gpusearch.search.lattice import Lattice
from gpusearch.search.operators import PROPOSED
from gpusearch.search.translation import SentenceTranslation, Translation


@dataclass
class DocumentResult:
    """What the search found for a document. One without words has no units; its scores are 0."""

    best: Translation
    chain_scores: NDArray[np.float64]
    """``[C]``: what each chain ended with, nats; `best` may be better than all where units were recombined."""
    n_best: list[Translation]
    """Of chains, where asked for."""
    chains: list[list[list[tuple[int, int, list[str]]]]]
    """Where asked for: ``chains[chain][sentence]`` = phrases, as `saved` writes them."""
    places: list[list[list[int]]]
    """Beside `chains`: the place of each phrase among the options of its span, of which several may say the same."""
    steps: NDArray[np.int64]
    """``[C, U]``: proposals that each chain made on each unit of the document."""
    rejected: NDArray[np.int64]
    """``[C, U]``: consecutive rejections at the end."""
    trace: dict[int, NDArray[np.float64]]
    """Where asked for: for each step looked at the scores ``[C]``."""
    sentence_n_best: list[list[SentenceTranslation]] = field(default_factory=list)
    """Of the beam by itself, where asked for: the n best derivations of each sentence."""
    lattices: list[Lattice | None] = field(default_factory=list)
    """Of the beam by itself, where asked for: the search graph of each sentence; None for an empty one."""
    lists: list[list[SentenceTranslation]] = field(default_factory=list)
    """Where asked for: the best derivations of each sentence, among the chains' last ones or of the beam by itself."""
    neighbours: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """``[U]``: where `best` is certified to be a local optimum, how many neighbours none of which scores higher each
    unit has (gpusearch/kernels/layouts.py says which); else 0."""


@dataclass
class SearchResult:
    """Results of all documents, in their order."""

    documents: list[DocumentResult] = field(default_factory=list)
    tally: NDArray[np.int64] = field(default_factory=lambda: np.zeros((OPERATIONS, STAGES), np.int64))
    """How far the proposals of each operation came."""
    operators: tuple[str, ...] = PROPOSED
    """Names of the rows of `tally` that are in use."""
    swaps: list[NDArray[np.int64]] = field(default_factory=list)
    """Of each batch where chains tempered, ``[2, levels - 1]``: exchanges offered and accepted after the burn-in."""
    complete: bool = True
    """False where an interrupt or the time limit ended the search early."""
    interrupted: bool = False
    """Whether it was an interrupt: KeyboardInterrupt, raised by `status` or by Python itself."""
    device: str = "cpu"
    units: str = "sentence"
    """What was searched by itself: ``sentence`` or ``document``."""

    def ended_with(self, part: Ending) -> None:
        """Take over whether a part of the search was ended early."""
        self.complete &= part.complete
        self.interrupted |= part.interrupted


def exchanges(accepted: Iterable[float]) -> str:
    """A line about chains that temper: the accepted shares of their exchanges, a share for each pair of neighbours."""
    rates = " ".join(f"{100 * rate:.0f}" for rate in accepted)
    return f"exchanges of temperatures accepted, from cold to hot: {rates} %"


class Ending(Protocol):
    """What every part of a search says of its end."""

    @property
    def complete(self) -> bool:
        """Whether it came to it."""

    @property
    def interrupted(self) -> bool:
        """Whether an interrupt ended it early."""


Status = Callable[[int, str], None]
"""Told of the number of documents done and a short text, about ten times a second."""


@dataclass
class Watch:
    """Looks at the clock while a search is at work, and tells how far it is."""

    status: Status | None
    deadline: float | None = None

    def look(self, done: int, text: Callable[[], str]) -> None:
        """So many documents are done.

        Raises:
            OutOfTime: the time limit is over.
        """
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime
        if self.status is not None:
            self.status(done, text())
