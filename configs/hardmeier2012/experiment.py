"""What the experiments share: test sets, one search of a test set with its costs, learning curves, tables, figures.

The setting is that of Hardmeier, Nivre and Tiedemann (2012, section 4): one chain a document, whole documents as units,
first-choice hill climbing, the three operations of section 3 with translations drawn uniformly. The paper leaves the
numbers of the neighbourhood open: shares are those of the configuration that its authors' program is shipped with,
both decays 1/2.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpusearch.config import with_search
from gpusearch.decoder import Decoder
from gpusearch.io.documents import attach_references, read_documents
from gpusearch.io.files import replaced
from gpusearch.metrics.scoring import evaluate
from gpusearch.search.result import SearchResult
from gpusearch.search.run import search_documents

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


class TestSet:
    """The test documents of a folder (``test.fr``, ``test.en``, ``test.docs``) and a decoder for them."""

    __test__ = False  # not one of pytest's classes

    def __init__(self, decoder: Decoder, folder: Path, arguments: argparse.Namespace) -> None:
        source, target = arguments.languages
        ids = folder / "test.docs"
        corpus = read_documents(folder / f"test.{source}", "text", ids)
        attach_references(corpus, folder / f"test.{target}", "text")
        corpus.documents = spread(corpus.documents, arguments.documents)
        self.name = folder.resolve().name
        self.decoder = decoder
        self.arguments = arguments
        self.ids = [document.id for document in corpus.documents]
        self.references = [segment.reference or "" for document in corpus.documents for segment in document.segments]
        self.prepared = decoder.prepare(corpus)
        self.words = sum(len(sentence) for document in self.prepared.tokens for sentence in document)

    def __str__(self) -> str:
        counts = f"{len(self.ids)} documents, {len(self.references):,} segments, {self.words:,} source tokens"
        return f"{self.name}: {counts}"

    def search(self, settings: dict[str, Any], *, units: str | None = "document", trace: bool = False) -> Found:
        """Translate the documents; ``units = None`` lets the engine choose them."""
        config = with_search(self.decoder.config, {"threads": self.arguments.threads, "device": "cpu", **settings})
        model, tokens = self.decoder.model, self.prepared.tokens
        begin = time.process_time()
        result = search_documents(model, config, tokens, self.ids, units=units, trace=trace)
        seconds = time.process_time() - begin
        texts = [
            text
            for place, document in enumerate(result.documents)
            for text in self.decoder.texts(self.prepared, place, document.best.sentences)
        ]
        scores = np.array([sentence.score for found in result.documents for sentence in found.best.sentences])
        steps = sum(int(document.steps.sum()) for document in result.documents)
        return Found(float(scores.sum()), scores, steps, seconds, texts, result)

    def warm_up(self) -> None:
        """Compile the kernels, so that no figure counts it: a sentence, one step, from each start."""
        first = next(sentence for document in self.prepared.tokens for sentence in document if sentence)
        for initial in ("random", "beam"):
            settings = {**PAPER, "device": "cpu", "threads": self.arguments.threads, "initial": initial, "steps": 1}
            config = with_search(self.decoder.config, settings)
            search_documents(self.decoder.model, config, [[first]], units="document", trace=True)

    def metric(self, name: str, texts: Sequence[str]) -> float:
        """BLEU (0-100) or NIST of a translation."""
        return evaluate(texts, self.references, metrics=[name], lowercase=self.arguments.lowercase)[0].score

    def bleu_curve(self, settings: dict[str, Any], found: Found) -> dict[int, float]:
        """BLEU by steps of a search that has found `found`.

        A run with a lower step limit is the beginning of the same run, so each point is a search of its own: up to a
        quarter of the steps, so that all of them cost a third of the run.
        """
        looks = [step for step in (0, *BLEU_STEPS) if 4 * step <= found.longest]
        curve = {step: self.metric("bleu", self.search({**settings, "steps": step}).texts) for step in looks}
        return curve | {found.longest: self.metric("bleu", found.texts)}


def spread(items: list[Any], count: int | None) -> list[Any]:
    """`count` of the items, evenly spread; all where count is None."""
    if count is None or count >= len(items):
        return items
    return [items[place * len(items) // count] for place in range(count)]


def make_parser(description: str) -> argparse.ArgumentParser:
    """The options that all experiments have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, metavar="FOLDER", help="with test.fr, test.en and test.docs")
    parser.add_argument("-c", "--config", type=Path, required=True, metavar="FILE", help="the model (TOML)")
    parser.add_argument("-o", "--output", type=Path, default=Path("hardmeier2012"), metavar="FOLDER")
    parser.add_argument("--documents", type=int, metavar="N", help="N of the documents of each folder, evenly spread")
    parser.add_argument("--languages", nargs=2, default=("fr", "en"), metavar=("SOURCE", "TARGET"))
    parser.add_argument("--lowercase", action="store_true", help="ignore case in BLEU and NIST")
    parser.add_argument("--steps", type=int, default=STEP_LIMIT, help="step limit of a document")
    parser.add_argument("--threads", type=int, default=1)
    return parser


def open_test_sets(arguments: argparse.Namespace) -> list[TestSet]:
    """The test sets of the command line, with a warm decoder."""
    from gpusearch import load

    decoder = load(arguments.config)
    sets = [TestSet(decoder, folder, arguments) for folder in arguments.data]
    sets[0].warm_up()
    arguments.output.mkdir(parents=True, exist_ok=True)
    return sets


def say(text: str) -> None:
    """Tell how far an experiment is."""
    print(text, file=sys.stderr, flush=True)


def write_table(path: Path, title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Add a Markdown table under a title to a file, and print it."""
    lines = [title, "", f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    before = path.read_bytes() + b"\n" if path.exists() else b""
    with replaced(path) as stream:
        stream.write(before + "\n".join([*lines, ""]).encode())
    print("\n".join(lines), end="\n\n")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table of numbers."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    with replaced(path) as stream:
        stream.write(text.getvalue().encode())


def new_figure(rows: int, columns: int) -> Figure | None:
    """A figure of panels, or None, said once, where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        say("no figure: matplotlib is not installed (pip install 'gpusearch[figures]')")
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * columns, 3.0 * rows), layout="constrained")
    figure.subplots(rows, columns, squeeze=False)
    return figure


def draw(panel: Any, curve: dict[int, float], **style: Any) -> None:
    """A curve over the steps, on a logarithmic axis; step 0 stands at 1."""
    panel.plot([max(step, 1) for step in curve], list(curve.values()), linewidth=1, **style)
    panel.set_xscale("log", base=2)
    panel.set_xlabel("steps of a document")


def save_figure(figure: Figure, path: Path) -> None:
    """Write an SVG with its text as text, equal for equal content."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "gpusearch"}), replaced(path) as stream:
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
