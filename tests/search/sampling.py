"""Short runs of the sampler on the model of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusearch.candidates.samples import (
    Samples,
)
from gpusearch.config import Config, load_config
from gpusearch.model.model import Model, load_model
from gpusearch.search.sampling import sample_documents
from tests.tiny import TINY

DOCUMENTS = [["la maison bleue", "", "une maison"], [""], ["le chat"]]
TOKENS = [[text.split() for text in document] for document in DOCUMENTS]
QUICK = (
    "search.chains=4",
    "sample.iterations=12",
    "sample.burn_in=2",
    "sample.thin=2",
    "sample.superchains=2",
    "sample.scale=0.5",
)


# Some exchanges within the twelve iterations.
TEMPERING = ("search.tempering.levels=3", "search.tempering.swap_every=4")


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(load_config(TINY))


def settings(*more: str, path: Path = TINY) -> Config:
    return load_config(path, [*QUICK, *more])


def sample(model: Model, config: Config, folder: Path, **more: object) -> Samples:
    return sample_documents(model, config, TOKENS, DOCUMENTS, ["a", None, "b"], folder, **more)  # type: ignore[arg-type]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
