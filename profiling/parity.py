"""The parity models as profiling scripts name them, and what Moses comes to on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config, load_config
from tests.parity_model import LAWS, NEWSTEST, laws_documents, newstest_documents, write_laws, write_newstest

SLACK = 2e-3  # nats: Moses prints its totals with six digits

Documents = list[list[list[str]]]


@dataclass(frozen=True)
class ParityModel:
    """A parity model, with its reordering model or without."""

    folder: str
    reordering: bool
    totals: str | None = None
    """The file of Moses' totals, a line a sentence, stack 200."""
    runs: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Moses' total and CPU seconds by setting, from the README of the parity data."""

    def __str__(self) -> str:
        return f"{self.folder}, {'with' if self.reordering else 'no'} reordering model"

    def config(self, work: Path, parity: Path, overrides: Sequence[str] = ()) -> Config:
        """Write ``model.toml`` into a folder for compiled tables, and read it."""
        write = write_newstest if self.folder == NEWSTEST else write_laws
        return load_config(write(work, parity, reordering=self.reordering), overrides)

    def documents(self, parity: Path) -> Documents:
        """Its test documents: lists of sentences of words."""
        return newstest_documents(parity) if self.folder == NEWSTEST else laws_documents(parity)

    def moses(self, parity: Path) -> NDArray[np.float64] | None:
        """Moses' total of each sentence, stack 200, nats; None where it has not run."""
        return None if self.totals is None else np.loadtxt(parity / self.folder / self.totals)


MODELS = {
    "newstest": ParityModel(
        NEWSTEST,
        reordering=False,
        totals="moses.nolr.totals.txt",
        runs={"stack 200": (-4305.15, 62.2), "cube pruning 1000": (-4306.87, 18.2)},
    ),
    "newstest-lr": ParityModel(NEWSTEST, reordering=True, totals="moses.lr.totals.txt"),
    "laws": ParityModel(LAWS, reordering=False),
    "laws-lr": ParityModel(
        LAWS,
        reordering=True,
        totals="moses.stack200.totals.txt",
        runs={"stack 200": (-113050.33, 754.8), "cube pruning 500": (-113069.65, 110.0)},
    ),
}


def above_and_below(found: NDArray[np.float64], other: NDArray[np.float64], slack: float) -> tuple[int, int]:
    """How many sentences score more than another's, and how many less."""
    return int((found > other + slack).sum()), int((found < other - slack).sum())
