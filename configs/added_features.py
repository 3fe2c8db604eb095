"""Features of the document, added to a search one at a time, each under the weight that does best on half of the
documents; the other half says what it is worth.

Every second document is held out. On the others each weight of a grid is tried, 0 among them, and the best BLEU
decides. The search is that of the arguments with whole documents as units, from the beam's translation, so that all
systems begin alike; at weight 0 the feature is looked at and changes nothing, which is the system that the others are
compared with.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from configs.experiment import TestSet, compared, make_parser, say, with_weights
from gpusearch.config import load_config, with_search
from gpusearch.config.models import FeatureConfig
from gpusearch.decoder import Decoder
from gpusearch.errors import InputError
from gpusearch.metrics.scoring import make_metric
from gpusearch.search.run import search_documents

HEADER = ("", "weight", "value", "BLEU", "difference", "95 % interval", "p", "NIST", "difference", "95 % interval", "p")


@dataclass(frozen=True)
class Added:
    """A feature that is added, and the weights that are tried beside 0."""

    name: str
    use: str
    weights: Sequence[float]
    path: Path | None = None


@dataclass
class Run:
    """A test set as it is translated under one weight."""

    name: str
    weight: float
    texts: list[str]
    values: list[float]
    """Of the feature, for each document."""


def added_parser(description: str, output: str) -> argparse.ArgumentParser:
    """The options of experiments that add features."""
    parser = make_parser(description, output)
    parser.add_argument("--chains", type=int, default=16, help="of each document")
    parser.add_argument("--steps-per-word", type=float, default=100.0, help="proposals of a chain by source word")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def rows(folder: Path, features: Sequence[Added], arguments: argparse.Namespace) -> Iterator[list[str]]:
    """Rows of the table of a test set, of held-out documents: the beam, the search without a feature, then with each.

    Raises:
        InputError: too few documents, of which every second one is held out.
    """
    beam = _translate(folder, None, arguments, {"method": "beam"})
    if len(beam[0].ids) < 4:
        raise InputError("too few documents", path=folder, found=f"{len(beam[0].ids)}", expected="4 or more")
    runs = [_translate(folder, feature, arguments, {"initial": "beam"}) for feature in features]
    test_set, plain = beam[0], runs[0][1][0]
    held_out = np.arange(len(test_set.ids)) % 2 == 1
    yield _row(test_set, beam[1][0], plain, held_out, added=False)
    yield _row(test_set, plain, plain, held_out, added=False)
    for _, tried in runs:
        bleu = [_score(test_set, "bleu", run.texts, ~held_out) for run in tried]
        said = ", ".join(f"{run.weight:g}: {score:.2f}" for run, score in zip(tried, bleu, strict=True))
        say(f"{test_set.name}, {tried[0].name}: {said}")
        yield _row(test_set, tried[int(np.argmax(bleu))], plain, held_out)


def _translate(
    folder: Path, feature: Added | None, arguments: argparse.Namespace, settings: dict[str, Any]
) -> tuple[TestSet, list[Run]]:
    """The test set under each weight of a feature, 0 first."""
    config = load_config(arguments.config)
    name = feature.name if feature else "beam"
    if feature is not None:
        entry = FeatureConfig(use=feature.use, path=feature.path, weights=(0.0,))
        config = config.model_copy(update={"features": {name: entry}})
    shared = {"device": "cpu", "threads": arguments.threads, "seed": arguments.seed, "chains": arguments.chains}
    config = with_search(config, {**shared, "steps_per_word": arguments.steps_per_word, **settings})
    decoder = Decoder(config)
    test_set, runs = TestSet(decoder, folder, arguments), []
    for weight in (0.0, *feature.weights) if feature else (0.0,):
        model = with_weights(decoder.model, {name: weight} if feature else {})
        found = search_documents(model, config, test_set.prepared.tokens, test_set.ids, units="document")
        values = [float(one.best.features[model.features.index(name)]) if feature else 0.0 for one in found.documents]
        runs.append(Run(name, weight, test_set.texts(found.documents), values))
        score = sum(one.best.score for one in found.documents)
        say(f"{test_set.name}, {name}, weight {weight:g}: score {score:.1f}")
    return test_set, runs


def _score(test_set: TestSet, name: str, texts: Sequence[str], chosen: np.ndarray) -> float:
    metric = make_metric(name, lowercase=test_set.arguments.lowercase)
    return metric.score(test_set.statistics(metric, texts)[chosen].sum(axis=0))


def _row(test_set: TestSet, run: Run, plain: Run, held_out: np.ndarray, *, added: bool = True) -> list[str]:
    """A row of the table: by how much a run differs from the search without the feature."""
    cells = [run.name if added else "beam" if run is not plain else "search", "", ""]
    if added:
        cells[1:] = [f"{run.weight:g}", f"{np.mean(np.array(run.values)[held_out]):.4g}"]
    for name, digits in (("bleu", 2), ("nist", 3)):
        metric = make_metric(name, lowercase=test_set.arguments.lowercase)
        own, other = (test_set.statistics(metric, one.texts)[held_out] for one in (run, plain))
        score, *difference = compared(metric, own, other, digits)
        cells += [score, *(difference if added else ["", "", ""])]
    return cells
