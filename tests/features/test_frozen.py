"""Frozen segments count in features of the document: by hand, as interpreted kernels keep them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpusearch
from gpusearch.features.load import with_document
from gpusearch.features.semantic import SemanticSpace, save_space
from gpusearch.io.documents import read_documents
from gpusearch.kernels.semantic import BINS, VECTOR_BITS
from gpusearch.model.problem import build_problem
from gpusearch.model.weights import VALUE_UNITS
from gpusearch.search.run import search_settings
from gpusearch.search.state import make_state
from tests.paths import InterpretedDriver
from tests.tiny import TINY

UNIT = 1 << VECTOR_BITS
SPACE = SemanticSpace(
    content=("house", "blue"),
    stop=("the",),
    vector=np.array([[UNIT, 0], [0, UNIT]], np.int16),
    stop_value=np.array([-1.0]),
    histogram=-np.arange(BINS) / 8.0,
    first=-3.0,
    unknown=-9.0,
    history=30,
    lowercase=False,
)
FEATURES = {
    "ttr": "use='type-token-ratio'",
    "phrases": "use='q-value-phrases'",
    "words": "use='q-value-words'",
    "repeated": "use='cache', options={items='words', letters=0}",
    "pairs": "use='cache', options={items='source-word-pairs', letters=0}",
}


def values(folder: Path, segments: list[dict[str, Any]]) -> dict[str, float]:
    """What features of the document are worth where a search begins, in nats."""
    save_space(SPACE, folder / "space.npz")
    (folder / "d.jsonl").write_text(json.dumps({"doc_id": "d", "segments": segments}) + "\n", encoding="utf-8")
    features = FEATURES | {"topic": f"use='semantic-lm', path='{folder / 'space.npz'}'"}
    decoder = gpusearch.load(TINY, [f"features.{name}={{{what}}}" for name, what in features.items()])
    model, settings = decoder.model, decoder.config.search
    prepared = decoder.prepare(read_documents(folder / "d.jsonl"))
    batch = build_problem(model, prepared.tokens, None, settings, units="document", constraints=prepared.constraints)
    batch = with_document(batch)
    state = make_state(batch.problem, np.zeros(1, int), np.zeros(1, int), len(model.features.names))
    InterpretedDriver(batch.problem, search_settings(decoder.config, model, batch), state).start(np.zeros(1, int))
    return dict(zip(features, (state.feature[0, -len(features) :] / VALUE_UNITS).tolist(), strict=True))


@pytest.mark.parametrize("aligned", [True, False])
def test_a_frozen_segment_counts_in_features_of_the_document(tmp_path: Path, aligned: bool) -> None:
    """The one that is free has one translation only: "in", of "dans"."""
    alignment = {"alignment": "0-0 1-1"} if aligned else {}
    found = values(
        tmp_path,
        [
            {"src": "la maison", "frozen": "the house", **alignment},
            {"src": "dans"},
            {"src": "une maison", "frozen": "blue house", **alignment},
        ],
    )
    # Cosines of "blue" and of the second "house" with what is before them: 0, and 45 degrees.
    second, third = -(BINS // 2) / 8, -int((1 + 0.5**0.5) * BINS / 2) / 8
    expected = {
        "ttr": 4 / 5,
        "phrases": 1 / 2,
        "words": (1 / 2 + 2 * 2 / 2 + 1 / 2 + 1 / 2) / 5 if aligned else 1 / 2,
        "repeated": 0.8,
        "pairs": 0.8 if aligned else 0,
        "topic": -1.0 - 3.0 - 9.0 + second + third,
    }
    assert found == pytest.approx(expected, abs=1e-5)
