"""What these experiments share: one search of a test set with its costs, and learning curves.

The setting is that of Hardmeier, Nivre and Tiedemann (2012, section 4): one chain a document, whole documents as units,
first-choice hill climbing, the three operations of section 3 with translations drawn uniformly. The paper leaves the
numbers of the neighbourhood open: shares are those of the configuration that its authors' program is shipped with,
both decays 1/2.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from configs import experiment
from gpusearch.config import with_search
from gpusearch.search.result import SearchResult
from gpusearch.search.run import search_documents

PAPER: dict[str, Any] = {
    "method": "search",
    "policy": "hill-climbing",
    "chains": 1,
    "initial": "random",
    "option_draw": "uniform",
    "longest_visit": 1,  # the paper draws a sentence anew at each step
    "distortion_check": "jump",
    "recombine": "best-chain",
    "operations": {
        "change": 0.8,
        "swap": 0.1,
        "resegment": 0.1,
        "swap_decay": 0.5,
        "block_decay": 0.5,
        "resegment_swap": 0.0,
    },
}
"""The `[search]` group of the paper's decoder, limits apart."""

STEP_LIMIT = 2**27
BLEU_STEPS = tuple(4**power for power in range(4, 14))
"""Steps at which the translation is looked at, besides the first and the last one; the paper begins at 2^8."""


@dataclass
class Found:
    """A test set after a search."""

    score: float
    """Nats, of all documents."""
    sentence_scores: np.ndarray
    """float64 [N]: of each segment."""
    steps: int
    """Proposals, of all documents and chains."""
    cpu_seconds: float
    """Of options, first translation and search; loading, compilation and metrics are left out."""
    texts: list[str]
    """A translation for each segment."""
    result: SearchResult

    @property
    def longest(self) -> int:
        """Steps of the document that took most."""
        return max(int(document.steps.max(initial=0)) for document in self.result.documents)

    def curve(self) -> dict[int, float]:
        """Score of all documents at powers of two of the steps of each; needs ``trace``. Ends where the last ends."""
        traces = [document.trace for document in self.result.documents]
        looks = [step for step in traces[0] if step < self.longest]
        curve = {step: float(sum(trace[step].max() for trace in traces)) for step in looks}
        return curve | {self.longest: float(sum(document.chain_scores.max() for document in self.result.documents))}


class TestSet(experiment.TestSet):
    """Test documents that are searched as the paper does."""

    def search(self, settings: dict[str, Any], *, units: str | None = "document", trace: bool = False) -> Found:
        """Translate the documents; ``units = None`` lets the engine choose them."""
        config = with_search(self.decoder.config, {"threads": self.arguments.threads, "device": "cpu", **settings})
        model, tokens = self.decoder.model, self.prepared.tokens
        begin = time.process_time()
        result = search_documents(model, config, tokens, self.ids, units=units, trace=trace)
        seconds = time.process_time() - begin
        scores = np.array([sentence.score for found in result.documents for sentence in found.best.sentences])
        steps = sum(int(document.steps.sum()) for document in result.documents)
        return Found(float(scores.sum()), scores, steps, seconds, self.texts(result.documents), result)

    def warm_up(self) -> None:
        """Compile the kernels, so that no figure counts it: a sentence, one step, from each start."""
        first = next(sentence for document in self.prepared.tokens for sentence in document if sentence)
        for initial in ("random", "beam"):
            settings = {**PAPER, "device": "cpu", "threads": self.arguments.threads, "initial": initial, "steps": 1}
            config = with_search(self.decoder.config, settings)
            search_documents(self.decoder.model, config, [[first]], units="document", trace=True)

    def bleu_curve(self, settings: dict[str, Any], found: Found) -> dict[int, float]:
        """BLEU by steps of a search that has found `found`.

        A run with a lower step limit is the beginning of the same run, so each point is a search of its own: up to a
        quarter of the steps, so that all of them cost a third of the run.
        """
        looks = [step for step in (0, *BLEU_STEPS) if 4 * step <= found.longest]
        curve = {step: self.metric("bleu", self.search({**settings, "steps": step}).texts) for step in looks}
        return curve | {found.longest: self.metric("bleu", found.texts)}


def make_parser(description: str) -> argparse.ArgumentParser:
    """The options that these experiments have."""
    parser = experiment.make_parser(description, "hardmeier2012")
    parser.add_argument("--steps", type=int, default=STEP_LIMIT, help="step limit of a document")
    return parser


def open_test_sets(arguments: argparse.Namespace) -> list[TestSet]:
    """The test sets of the command line, with a warm decoder."""
    from gpusearch import load

    decoder = load(arguments.config)
    sets = [TestSet(decoder, folder, arguments) for folder in arguments.data]
    sets[0].warm_up()
    arguments.output.mkdir(parents=True, exist_ok=True)
    return sets


def draw(panel: Any, curve: dict[int, float], **style: Any) -> None:
    """A learning curve; step 0 stands at 1."""
    experiment.draw(panel, curve, "steps of a document", **style)
