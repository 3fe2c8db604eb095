"""Features that users write, for tests: a module in the working folder, and models that name what is in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpusearch.config import Config, load_config
from gpusearch.features.load import with_document, with_features
from gpusearch.kernels.records import Search
from gpusearch.model.model import load_model
from gpusearch.model.problem import Batch, build_problem
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


def built(settings: list[str]) -> tuple[Config, Batch, Search]:
    """A configuration, its documents as a batch, and the settings of their search."""
    config = load_config(TINY, settings)
    model = with_features(load_model(config), config)
    texts = [[text.split() for text in document] for document in DOCUMENTS]
    batch = with_document(build_problem(model, texts, None, config.search, units="document"))
    return config, batch, search_settings(config, model, batch)


def tried(settings: list[str]) -> None:
    """What is done with features before a search."""
    _, batch, search = built(settings)
    check_features(batch, search)
