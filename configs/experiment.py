"""What the experiments share: test sets, systems compared by bootstrap, and how tables and figures are written."""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gpusearch.decoder import Decoder
from gpusearch.errors import GpusearchError, InputError
from gpusearch.io.documents import attach_references, read_documents
from gpusearch.io.files import replaced
from gpusearch.metrics.base import Metric, Statistics
from gpusearch.metrics.scoring import corpus_statistics, evaluate
from gpusearch.metrics.significance import paired_bootstrap
from gpusearch.model.model import Model
from gpusearch.model.weights import integer_weight
from gpusearch.search.result import DocumentResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Item = TypeVar("Item")

MOSES = {"stack_size": 200, "beam_threshold": 1e-5, "pop_limit": 0}
"""The `[search.beam]` group: Moses' defaults, without cube pruning. Its distortion limit is 6."""


def command(main: Callable[[], None]) -> None:
    """Run an experiment from the command line; what its user got wrong is said in a line, as `gpusearch` does."""
    try:
        main()
    except GpusearchError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


class TestSet:
    """Documents of a folder (``test.fr``, ``test.en``, ``test.docs``) and a decoder for them.

    Args:
        split: ``test``, or another name that the files begin with.
        segments: only the first so many, instead of what the command line asks for.
    """

    __test__ = False  # not one of pytest's classes

    def __init__(
        self,
        decoder: Decoder,
        folder: Path,
        arguments: argparse.Namespace,
        *,
        split: str = "test",
        segments: int | None = None,
    ) -> None:
        if not folder.is_dir():
            raise InputError("no such folder", path=folder, expected=f"a test set: {split}.docs and two texts")
        source, target = arguments.languages
        ids = folder / f"{split}.docs"
        corpus = read_documents(folder / f"{split}.{source}", "text", ids)
        attach_references(corpus, folder / f"{split}.{target}", "text")
        if segments is None:
            corpus.documents = spread(corpus.documents, arguments.documents)
            for document in corpus.documents:
                document.segments = document.segments[: arguments.segments]
        else:
            for document in corpus.documents:
                document.segments = document.segments[:segments]
                segments -= len(document.segments)
            corpus.documents = [document for document in corpus.documents if document.segments]
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

    def texts(self, documents: Sequence[DocumentResult]) -> list[str]:
        """The translation of each segment that a search has found."""
        return [
            text
            for place, found in enumerate(documents)
            for text in self.decoder.texts(self.prepared, place, found.best.sentences)
        ]

    def metric(self, name: str, texts: Sequence[str]) -> float:
        """BLEU (0-100) or NIST of a translation."""
        return evaluate(texts, self.references, metrics=[name], lowercase=self.arguments.lowercase)[0].score

    def statistics(self, metric: Metric, texts: Sequence[str]) -> Statistics:
        """Rows of a translation for a paired test."""
        starts = bootstrap_starts([len(document) for document in self.prepared.tokens])
        return corpus_statistics(metric, texts, self.references, starts)


def with_weights(model: Model, weights: Mapping[str, float]) -> Model:
    """The model with other weights of some of its features, each of which has one value."""
    known = model.features
    floats, integers = known.weights.copy(), known.integer_weights.copy()
    for name, weight in weights.items():
        floats[known.index(name)], integers[known.index(name)] = weight, integer_weight(name, weight)
    return replace(model, features=replace(known, weights=floats, integer_weights=integers))


def compared(metric: Metric, own: Statistics, other: Statistics, digits: int = 2) -> list[str]:
    """Cells of a table: score, difference from another system, its 95 % interval and p by a paired bootstrap."""
    found = paired_bootstrap(own, other, metric.score)
    low, high = found.difference_interval
    interval = f"{low:+.{digits}f} to {high:+.{digits}f}"
    return [f"{found.score:.{digits}f}", f"{found.difference:+.{digits}f}", interval, f"{found.p_value:.3f}"]


def spread(items: list[Item], count: int | None) -> list[Item]:
    """`count` of the items, evenly spread; all where count is None."""
    if count is None or count >= len(items):
        return items
    return [items[place * len(items) // count] for place in range(count)]


def bootstrap_starts(counts: Sequence[int]) -> list[int] | None:
    """First segments of what is resampled: documents of so many segments; None: of a single one its segments."""
    return np.cumsum([0, *counts])[:-1].tolist() if len(counts) > 1 else None


def make_parser(description: str, output: str, *, folders: str = "+", metrics: bool = True) -> argparse.ArgumentParser:
    """The options that all experiments have.

    Args:
        output: folder where results go if nothing else is said.
        folders: how many test sets, as argparse has it.
        metrics: translations are compared with references.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs=folders, type=Path, metavar="FOLDER", help="with test.fr, test.en and test.docs")
    parser.add_argument("-c", "--config", type=Path, required=True, metavar="FILE", help="the model (TOML)")
    parser.add_argument("-o", "--output", type=Path, default=Path(output), metavar="FOLDER")
    parser.add_argument("--documents", type=int, metavar="N", help="N of the documents of each folder, evenly spread")
    parser.add_argument("--segments", type=int, metavar="N", help="the first N segments of each of the documents")
    parser.add_argument("--languages", nargs=2, default=("fr", "en"), metavar=("SOURCE", "TARGET"))
    if metrics:
        parser.add_argument("--lowercase", action="store_true", help="ignore case in metrics")
    parser.add_argument("--threads", type=int, default=1)
    return parser


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


def draw(panel: Any, curve: dict[int, float], across: str, *, zero: float = 1, **style: Any) -> None:
    """A curve over what its keys count, on a logarithmic axis of that name; key 0 stands at `zero`."""
    panel.plot([max(key, zero) for key in curve], list(curve.values()), linewidth=1, **style)
    panel.set_xscale("log", base=2)
    panel.set_xlabel(across)


def save_figure(figure: Figure, path: Path) -> None:
    """Write an SVG with its text as text, equal for equal content."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "gpusearch"}), replaced(path) as stream:
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
