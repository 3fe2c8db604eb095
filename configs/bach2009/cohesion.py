"""Table 2 of Bach, Vogel and Cherry (2009): a beam decoder with each of the cohesive constraints, and without.

usage: python -m configs.bach2009.cohesion -c MODEL --trees FILE --reference FILE [--docids FILE] [-o TABLE]
           [--constraints Coh1 ...] [--weights W W ...] [--set GROUP.KEY=VALUE ...]

Every second document is held out; on the others each constraint gets the weight of the best BLEU among those given
(the paper tunes all weights by MERT). On the held-out ones each is compared with the decoder without constraints by a
paired bootstrap over documents (of a single document: over segments), as in the paper with 1000 samples and in lower
case.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from configs.experiment import bootstrap_starts, compared, with_weights
from gpusearch.config import load_config
from gpusearch.config.models import FeatureConfig
from gpusearch.decoder import Decoder
from gpusearch.io.corpus import Corpus
from gpusearch.io.documents import attach_references, read_documents
from gpusearch.io.files import replaced
from gpusearch.metrics.scoring import corpus_statistics, make_metric

CONSTRAINTS = {
    "Coh1": ("coh1",),
    "Coh2": ("coh2",),
    "Coh3": ("coh3",),
    "Coh4": ("coh4",),
    "Coh5": ("coh1", "coh3", "coh5-verbs", "coh5-nouns"),
}
"""Features of each; those of Coh5 share one weight here."""
FEATURES = tuple(dict.fromkeys(one for several in CONSTRAINTS.values() for one in several))
WEIGHTS = (0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass
class Row:
    """A line of the table."""

    name: str
    weight: float
    texts: list[list[str]]
    """Translations of all documents."""
    interruptions: float
    """Steps a sentence that interrupt a subtree (Coh1), of held-out documents."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-c", "--config", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True, help="source in CoNLL-U")
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--docids", type=Path)
    parser.add_argument("--constraints", nargs="+", choices=[*CONSTRAINTS], default=[*CONSTRAINTS])
    parser.add_argument("--weights", type=float, nargs="+", default=list(WEIGHTS))
    parser.add_argument("--set", action="append", default=[], metavar="GROUP.KEY=VALUE")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args(arguments)
    corpus = read_documents(given.trees, format="conllu", docids=given.docids)
    attach_references(corpus, given.reference, docids=given.docids)
    experiment = Experiment(given.config, ["search.method=beam", *given.set], corpus, given.trees)
    rows = [experiment.run("none", (), 0.0)]
    for name in given.constraints:
        tried = [experiment.run(name, CONSTRAINTS[name], weight) for weight in given.weights]
        rows.append(max(tried, key=lambda row: experiment.bleu(row, held_out=False)))
        print(name, *(f"{row.weight:g}: {experiment.bleu(row, held_out=False):.2f}" for row in tried), flush=True)
    table = experiment.table(rows)
    print(table, end="")
    if given.output is not None:
        with replaced(given.output) as stream:
            stream.write(table.encode())


class Experiment:
    """Documents with references and trees, and a model that is loaded once."""

    def __init__(self, config: Path, overrides: Sequence[str], corpus: Corpus, trees: Path) -> None:
        loaded = load_config(config, overrides)
        every = {one: FeatureConfig(use=one, weights=(0.0,), path=trees) for one in FEATURES}
        self.config = loaded.model_copy(update={"features": every})
        self.decoder = Decoder(self.config)
        self.model = self.decoder.model
        self.corpus = corpus
        counts = [len(document.segments) for document in corpus.documents]
        self.units = corpus.documents if len(counts) > 1 else corpus.documents[0].segments
        self.starts = bootstrap_starts(counts)
        self.held_out = np.arange(len(self.units)) % 2 == 1

    def run(self, name: str, features: Sequence[str], weight: float) -> Row:
        """Translate all documents under some constraints of one weight; Coh1 is looked at in any case."""
        used = tuple(named for named in self.model.document if named.name in ("coh1", *features))
        self.decoder.model = replace(with_weights(self.model, dict.fromkeys(features, weight)), document=used)
        names = {"features": {named.name: self.config.features[named.name] for named in used}}
        self.decoder.config = self.config.model_copy(update=names)
        decoded = self.decoder.decode(self.corpus)
        place = self.model.features.index("coh1")
        sums = [sentence.features[place] for found in decoded.result.documents for sentence in found.best.sentences]
        interruptions = np.abs(sums)[self._held_segments()].mean()
        return Row(name, weight, decoded.texts, float(interruptions))

    def _held_segments(self) -> np.ndarray:
        if self.starts is None:
            return self.held_out
        return np.repeat(self.held_out, [len(document.segments) for document in self.corpus.documents])

    def statistics(self, row: Row, held_out: bool) -> np.ndarray:
        """Statistics of BLEU of the documents that are held out, or of the others."""
        texts = [text for document in row.texts for text in document]
        references = [segment.reference or "" for document in self.corpus.documents for segment in document.segments]
        rows = corpus_statistics(make_metric("bleu", lowercase=True), texts, references, self.starts)
        return rows[self.held_out == held_out]

    def bleu(self, row: Row, held_out: bool) -> float:
        """BLEU of the documents that are held out, or of the others."""
        return make_metric("bleu", lowercase=True).score(self.statistics(row, held_out).sum(axis=0))

    def table(self, rows: Sequence[Row]) -> str:
        """Held-out documents: BLEU of all rows, and their differences from the first with intervals."""
        metric, first = make_metric("bleu", lowercase=True), self.statistics(rows[0], True)
        lines = [
            "| | weight | BLEU | difference | 95 % interval | p | interruptions a sentence |",
            "|---|---|---|---|---|---|---|",
            f"| none | | {metric.score(first.sum(axis=0)):.2f} | | | | {rows[0].interruptions:.3f} |",
        ]
        for row in rows[1:]:
            cells = [row.name, f"{row.weight:g}", *compared(metric, self.statistics(row, True), first)]
            lines.append(f"| {' | '.join([*cells, f'{row.interruptions:.3f}'])} |")
        return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
