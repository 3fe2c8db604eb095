"""Interpreted walks over translations of the tiny model: what kernels keep beside what features say of the texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import load_config
from gpusearch.features.load import with_document, with_features
from gpusearch.kernels.records import LIMIT_PAUSE, LIMIT_STEPS, SENTENCE_SLOT, UNIT_FIRST_SENTENCE, UNIT_SENTENCES
from gpusearch.model.model import load_model
from gpusearch.model.problem import build_problem
from gpusearch.model.weights import VALUE_UNITS
from gpusearch.search.run import search_settings
from gpusearch.search.state import make_state
from gpusearch.search.temperature import temperature_levels
from gpusearch.search.translation import describe_document
from tests.paths import InterpretedDriver
from tests.tiny import TINY

DOCUMENTS = (
    ("la maison bleue", "", "une maison .", "le petit chien ne dort pas .", "une maison bleue", "dans la maison"),
    ("ne", "le chien dort dans la maison .", "la maison", "", "", "le petit chien dort", "la maison bleue ."),
)


def walk(
    settings: Sequence[str], stops: int = 6, steps: int = 15, documents: Sequence[Sequence[str]] = DOCUMENTS
) -> Iterator[tuple[NDArray[np.float64], ...]]:
    """Values of the features of the document, from kernels and from the text, at some steps of a hot walk."""
    config = load_config(TINY, settings)
    model = with_features(load_model(config), config)
    texts = [[text.split() for text in document] for document in documents]
    batch = with_document(build_problem(model, texts, None, config.search, units="document"))
    search = search_settings(config, model, batch)._replace(temperature=temperature_levels((50.0,)))
    state = make_state(batch.problem, np.arange(len(texts)), np.zeros(len(texts), int), len(model.features.names))
    driver = InterpretedDriver(batch.problem, search, state)
    lanes = np.arange(len(texts))
    driver.start(lanes)
    state.limit[:, LIMIT_STEPS] = stops * steps
    own = slice(-sum(max(1, len(named.feature.names)) for named in model.document), None)
    for stop in range(stops):
        for lane in lanes.tolist():
            row = batch.problem.unit[lane]
            derivation = []
            for local in range(int(row[UNIT_SENTENCES])):
                slots = int(batch.problem.sentence[int(row[UNIT_FIRST_SENTENCE]) + local, SENTENCE_SLOT])
                derivation.append(state.option[lane, slots : slots + int(state.length[lane, local])].copy())
            text = describe_document(batch, derivation, config.search.first_jump)
            yield state.feature[lane, own] / VALUE_UNITS, text.features[own]
        state.limit[:, LIMIT_PAUSE] = (stop + 1) * steps
        driver.run(lanes, lambda: None)
