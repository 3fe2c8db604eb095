"""Features of the document, added to a search one at a time, each under the weight that does best on other documents.

The documents of a test set are dealt into two halves by turns. All are translated under each weight of a grid, 0 among
them; what stands for the feature is each half as it is under the weight with the best BLEU on the other half. So no
document has a say in the weight that it is judged by, and all of them are compared. The search is that of the arguments
with whole documents as units, from the beam's translation, so that all systems begin alike.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from configs.experiment import TestSet, compared, make_parser, say, with_weights, write_table
from gpusearch.config import Config, load_config, with_search
from gpusearch.config.models import FeatureConfig
from gpusearch.decoder import Decoder
from gpusearch.errors import InputError
from gpusearch.features.load import document_values
from gpusearch.features.text import Sentence
from gpusearch.metrics.base import Metric, Statistics
from gpusearch.metrics.scoring import make_metric
from gpusearch.model.model import Model
from gpusearch.search.result import DocumentResult
from gpusearch.search.run import search_documents
from gpusearch.search.saved import Given

SEARCH: dict[str, Any] = {
    "method": "search",
    "policy": "hill-climbing",
    "recombine": "lattice",
    "final_sweep": False,  # with most features of the document it looks at neighbours one by one
    "device": "cpu",
}
"""Of the `[search]` group, whatever the model has there."""

METRICS = {"bleu": 2, "nist": 3}
"""Digits of each."""
HEADER = (
    *("", "weights", "value", "value without it"),
    *("BLEU", "difference", "95 % interval", "p", "NIST", "difference", "95 % interval", "p"),
)
GRID_HEADER = ("", "weight", "value", "score without it", "words", "BLEU", "of the first half", "of the second half")


@dataclass(frozen=True)
class Added:
    """A feature that is added, and the weights that are tried beside 0."""

    name: str
    """In the tables, and as a key of the `[features]` group: no blanks."""
    use: str
    weights: Sequence[float]
    path: Path | None = None


@dataclass(frozen=True)
class Run:
    """The D documents of a test set as they are translated under one weight of a feature."""

    weight: float
    values: NDArray[np.float64]
    """``[D]``: of the feature."""
    score: float
    """By the features of sentences, nats, of all documents."""
    words: int
    """Target words of all documents."""
    statistics: dict[str, Statistics]
    """``[D, k]`` by the name of the metric."""


def added_parser(description: str, output: str) -> argparse.ArgumentParser:
    """The options of experiments that add features."""
    parser = make_parser(description, output)
    parser.add_argument("--chains", type=int, default=16, help="of each document")
    parser.add_argument("--steps-per-word", type=float, default=100.0, help="proposals of a chain by source word")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def write_results(name: str, features: Sequence[Added], arguments: argparse.Namespace) -> None:
    """Write NAME.md: for each test set a table of the systems, and one of all weights.

    Raises:
        InputError: a test set of fewer than four documents, which are to make two halves.
    """
    config = load_config(arguments.config)
    decoder = Decoder(config)
    sets = [Systems(TestSet(decoder, folder, arguments)) for folder in arguments.data]
    for feature in features:
        entry = FeatureConfig(use=feature.use, path=feature.path, weights=(0.0,))
        added = Decoder(config.model_copy(update={"features": {**config.features, feature.name: entry}}))
        for systems in sets:
            systems.add(feature, added)
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / f"{name}.md"
    path.unlink(missing_ok=True)
    for systems in sets:
        write_table(path, f"{systems.test_set}.", HEADER, systems.rows)
        write_table(path, f"{systems.test_set.name}, all weights.", GRID_HEADER, systems.grid)


class Systems:
    """A test set as the beam translates it, as the search does from there, and with one feature after the other."""

    def __init__(self, test_set: TestSet) -> None:
        documents = len(test_set.ids)
        if documents < 4:
            raise InputError("too few documents", path=test_set.name, found=f"{documents}", expected="4 or more")
        self.test_set = test_set
        self.halves: NDArray[np.int64] = np.arange(documents) % 2
        self.metrics = {name: make_metric(name, lowercase=test_set.arguments.lowercase) for name in METRICS}
        model, config = test_set.decoder.model, test_set.decoder.config
        beam = self._search("beam", model, config)
        self.start = Given([found.chains for found in beam], [found.places for found in beam])
        self.found = self._search("search", model, config, self.start)
        self.plain = self._statistics(self.found)
        self.rows = [["beam", "", "", "", *self._compared(self._statistics(beam))]]
        scores = [
            f"{metric.score(self.plain[name].sum(axis=0)):.{METRICS[name]}f}" for name, metric in self.metrics.items()
        ]
        self.rows.append(["search", "", "", "", scores[0], "", "", "", scores[1], "", "", ""])
        self.grid: list[list[str]] = []

    def add(self, feature: Added, decoder: Decoder) -> None:
        """Add the rows of a feature, which the model of `decoder` has: of all weights, and of those that are chosen."""
        runs = [self._run(feature, 0.0, decoder.model, self.found)]
        for weight in feature.weights:
            model = with_weights(decoder.model, {feature.name: weight})
            found = self._search(f"{feature.name} by {weight:g}", model, decoder.config, self.start)
            runs.append(self._run(feature, weight, model, found))
        for run in sorted(runs, key=lambda run: run.weight):
            bleu = run.statistics["bleu"]
            parts = (bleu, bleu[self.halves == 0], bleu[self.halves == 1])
            scores = (f"{self.metrics['bleu'].score(part.sum(axis=0)):.2f}" for part in parts)
            found = f"{run.weight:g}", _mean(run.values), f"{run.score:.1f}", f"{run.words:,}"
            self.grid.append([feature.name, *found, *scores])
        taken = chosen(runs, self.metrics["bleu"], self.halves)
        values = np.choose(self.halves, [run.values for run in taken])
        statistics = {name: crossed([run.statistics[name] for run in taken], self.halves) for name in METRICS}
        weights = " / ".join(f"{run.weight:g}" for run in taken)
        self.rows.append([feature.name, weights, _mean(values), _mean(runs[0].values), *self._compared(statistics)])

    def _search(self, name: str, model: Model, config: Config, start: Given | None = None) -> list[DocumentResult]:
        """All documents translated: from where they start, or by the beam."""
        test_set, arguments = self.test_set, self.test_set.arguments
        own = {key: getattr(arguments, key) for key in ("threads", "seed", "chains", "steps_per_word")}
        config = with_search(config, {**SEARCH, **own} | ({} if start else {"method": "beam"}))
        if start is not None:
            config = config.model_copy(update={"search": config.search.model_copy(update={"initial": "file"})})
        begin = time.process_time()
        found = search_documents(
            model,
            config,
            test_set.prepared.tokens,
            test_set.ids,
            given=start,
            keep_chains=start is None,
            units="document",
        ).documents
        seconds, score = time.process_time() - begin, sum(one.best.score for one in found)
        say(f"{test_set.name}, {name}: score {score:.1f}, {seconds:.0f} CPU s")
        return found

    def _run(self, feature: Added, weight: float, model: Model, found: Sequence[DocumentResult]) -> Run:
        """What a search has found; the feature is in the model, it need not have been in the search."""
        values = []
        for source, one in zip(self.test_set.prepared.tokens, found, strict=True):
            pairs = zip(source, one.best.sentences, strict=True)
            text = [Sentence(tuple(words), sentence.phrases) for words, sentence in pairs]
            values.append(document_values(model, text)[model.features.index(feature.name)])
        every = [sentence for one in found for sentence in one.best.sentences]
        score, words = sum(one.score for one in every), sum(len(one.words) for one in every)
        return Run(weight, np.array(values), score, words, self._statistics(found))

    def _statistics(self, found: Sequence[DocumentResult]) -> dict[str, Statistics]:
        texts = self.test_set.texts(found)
        return {name: self.test_set.statistics(metric, texts) for name, metric in self.metrics.items()}

    def _compared(self, own: Mapping[str, Statistics]) -> list[str]:
        """Cells of a system: by how much it differs from the search without a feature."""
        pairs = ((metric, own[name], self.plain[name], METRICS[name]) for name, metric in self.metrics.items())
        return [cell for pair in pairs for cell in compared(*pair)]


def chosen(runs: Sequence[Run], metric: Metric, halves: NDArray[np.int64]) -> list[Run]:
    """For each half the run of the best BLEU on the other half; of equal ones the first.

    Args:
        metric: BLEU.
        halves: ``[D]``: 0 or 1, the half of each document.
    """

    def score(run: Run, half: int) -> float:
        return metric.score(run.statistics["bleu"][halves == half].sum(axis=0))

    return [max(runs, key=lambda run: score(run, 1 - half)) for half in (0, 1)]


def crossed(statistics: Sequence[Statistics], halves: NDArray[np.int64]) -> Statistics:
    """Rows ``[D, k]``, those of each half from one of two systems."""
    return np.where(halves[:, None] == 0, *statistics)


def _mean(values: NDArray[np.float64]) -> str:
    return f"{values.mean():.4g}"
