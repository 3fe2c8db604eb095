"""Features that users write, for tests: a module in the working folder, and models that name what is in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gpusearch.config import Config, load_config
from gpusearch.features.load import with_document, with_features
from gpusearch.kernels.records import Search
from gpusearch.model.model import load_model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.model.tableless import Constraints
from gpusearch.search.feature_check import check_features
from gpusearch.search.run import search_settings
from tests.tiny import TINY

MODULE = "my_own"
DOCUMENTS = (
    ("le petit chien ne dort pas .", "la maison bleue", "", "une maison dans la maison"),
    ("une maison", "", "la maison"),
)

Write = Callable[[str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Puts code into the module; nothing of it is compiled."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpusearch.features.compiled.add_source", lambda source: None)

    def write(code: str) -> None:
        Path(f"{MODULE}.py").write_text(code, encoding="utf-8")
        monkeypatch.delitem(sys.modules, MODULE, raising=False)

    return write


def of(name: str, *settings: str) -> list[str]:
    """Settings of a model whose feature x is an object of the module."""
    return [f"features.x.use={MODULE}:{name}", *settings]


def built(
    settings: list[str],
    documents: Sequence[Sequence[str]] = DOCUMENTS,
    units: str = "document",
    constraints: Constraints | None = None,
) -> tuple[Config, Batch, Search]:
    """A configuration, its documents as a batch, and the settings of their search."""
    config = load_config(TINY, settings)
    model = with_features(load_model(config), config)
    texts = [[text.split() for text in document] for document in documents]
    batch = with_document(build_problem(model, texts, None, config.search, units=units, constraints=constraints))
    return config, batch, search_settings(config, model, batch)


def tried(settings: list[str], *documents: Sequence[str], units: str = "document") -> None:
    """What is done with features before a search."""
    _, batch, search = built(settings, documents or DOCUMENTS, units)
    check_features(batch, search)


TEXTS = [list(document) for document in DOCUMENTS]
# Where something is said to be.
AT = r"at proposal \d+, document \d+, sentence \d+, '.*' to '.*'"

# The least that a compiled feature has: its value is 0.
COMPILED = """
class Compiled:
    scope = "document"
    compiled = True

    def value(self, document):
        return 0.0

    def full(my, problem, search, state, scratch, lane):
        return 0

    def delta(my, problem, search, state, scratch, lane, change):
        return 0
"""

# A worth of each word, irrational, and whatever bound or type a class behind it adds.
WORTH = """
import numpy as np
import torch


class Words:
    scope = "sentence"

    def prepare(self, preparation):
        self.worth = np.array([*np.sqrt(2.0 + np.arange(len(preparation.words))), 0.0])

    def full(self, state):
        return self.worth[state.words].sum(axis=1)

    def delta(self, state, proposal):
        return self.worth[proposal.added].sum(axis=1) - self.worth[proposal.removed].sum(axis=1)


class Tight(Words):
    def bound(self, state, proposal):
        return 0.5 * self.delta(state, proposal)


class Unknown(Words):
    def bound(self, state, proposal):
        return [(np.inf, 1e300)[row % 2] for row in range(len(proposal))]


class Sometimes(Words):
    def bound(self, state, proposal):
        exact = 0.5 * self.delta(state, proposal)
        return torch.where(torch.arange(len(exact)) % 2 == 0, torch.inf, torch.tensor(exact, requires_grad=True))


class Column(Words):
    def bound(self, state, proposal):
        return self.delta(state, proposal)[:, None]


class Nan(Words):
    def bound(self, state, proposal):
        return np.full(len(proposal), np.nan)


class Text(Words):
    def bound(self, state, proposal):
        return ["much"] * len(proposal)


class Single(Words):
    # The same in float32.
    def prepare(self, preparation):
        super().prepare(preparation)
        self.worth = self.worth.astype(np.float32) * 1000


class Hidden(Single):
    # In float32, but not returned as such.
    def delta(self, state, proposal):
        return super().delta(state, proposal).astype(np.float64)

    def full(self, state):
        return super().full(state).tolist()


class Off(Words):
    # Within a ten-thousandth, which is not rounding.
    def delta(self, state, proposal):
        return super().delta(state, proposal) + 1e-5


class Endless(Words):
    def full(self, state):
        return [1e300] * len(state)


class Ragged(Words):
    def full(self, state):
        return [[1.0], [1.0, 2.0]]


class Masked(Words):
    def full(self, state):
        return np.ma.masked_greater(super().full(state), -1.0)


class Restless:
    scope = "document"
    asked = 0

    def full(self, state):
        self.asked += 1
        return [float(self.asked)] * len(state)


class Huge(Words):
    def full(self, state):
        return 3e5 + super().full(state)
"""
