"""Table 2 of Bach, Vogel and Cherry (2009): a beam decoder without constraints, and with each of the cohesive ones.

usage: python -m configs.bach2009.cohesion -c model.toml FOLDER... [-o OUTPUT] [--languages fr en] [--lowercase]
           [--constraints Coh1 ...] [--weights W ...] [--stack-size 200] [--documents N] [--segments N]

A folder holds, for one name SPLIT, SPLIT.conllu.SOURCE with the trees, SPLIT.SOURCE, SPLIT.TARGET and SPLIT.docs. Every
second document is held out; on the others each constraint gets the weight of the best BLEU among those given (the paper
tunes all weights by MERT). On those that are held out each is compared with the decoder without constraints by a paired
bootstrap with 1000 samples, as in the paper. Where there are few documents, segments take their place.

Writes cohesion.md, and cohesion.csv: BLEU under every weight. Translations are kept in OUTPUT/kept; what was cut off
goes on where it ended.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from configs.bach2009.kept import kept
from configs.experiment import (
    MOSES,
    TestSet,
    bootstrap_starts,
    command,
    compared,
    make_parser,
    say,
    with_weights,
    write_csv,
    write_table,
)
from gpusearch.config import load_config, with_search
from gpusearch.config.models import FeatureConfig
from gpusearch.decoder import Decoder
from gpusearch.errors import InputError
from gpusearch.features.load import with_document
from gpusearch.features.text import Sentence
from gpusearch.metrics.base import Statistics
from gpusearch.metrics.scoring import corpus_statistics, make_metric
from gpusearch.model.problem import build_problem
from gpusearch.search.beam import beam_decoder
from gpusearch.search.run import batches, search_settings
from gpusearch.search.signature import model_hash
from gpusearch.search.translation import text_of

CONSTRAINTS = {
    "Coh1": ("coh1",),
    "Coh2": ("coh2",),
    "Coh3": ("coh3",),
    "Coh4": ("coh4",),
    "Coh5": ("coh1", "coh3", "coh5-verbs", "coh5-nouns"),
}
"""Features of each; those of Coh5 share one weight here."""
FEATURES = tuple(dict.fromkeys(one for several in CONSTRAINTS.values() for one in several))
WEIGHTS = (0.1, 0.3, 1.0, 3.0)
FEW = 20
"""Fewer documents than this are no sample to draw from."""
HEADER = (
    "",
    "weight",
    "BLEU, to choose it",
    "BLEU, held out",
    "difference",
    "95 % interval",
    "p",
    "interruptions a segment",
    "segments changed",
)


def main(argv: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__ or "", "bach2009")
    parser.add_argument("--constraints", nargs="+", choices=[*CONSTRAINTS], default=[*CONSTRAINTS])
    parser.add_argument("--weights", type=float, nargs="+", default=list(WEIGHTS))
    parser.add_argument("--stack-size", type=int, default=MOSES["stack_size"])
    arguments = parser.parse_args(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    table, points = arguments.output / "cohesion.md", list[list[str]]()
    table.unlink(missing_ok=True)
    for folder in arguments.data:
        experiment = Experiment(folder, arguments)
        rows = experiment.rows(points)
        write_table(table, f"{experiment}.", HEADER, rows)
        write_csv(arguments.output / "cohesion.csv", ("set", "constraint", "weight", "BLEU"), points)


@dataclass
class Run:
    """A half of a test set as it is translated under one constraint."""

    name: str
    weight: float
    texts: list[str]
    """Of each segment."""
    interruptions: list[int]
    """Steps of each segment that interrupt a subtree (Coh1)."""
    statistics: Statistics
    """Rows of BLEU, of what is resampled: documents or segments."""


class Experiment:
    """A test set with trees, the model that is loaded for it, and its halves."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        source = arguments.languages[0]
        trees = trees_of(folder, source)
        beam = {**MOSES, "stack_size": arguments.stack_size}
        config = with_search(load_config(arguments.config), {"beam": beam, "threads": arguments.threads})
        every = {one: FeatureConfig(use=one, weights=(0.0,), path=trees) for one in FEATURES}
        self.config = config.model_copy(update={"features": every})
        self.decoder = Decoder(self.config)
        split = trees.name.removesuffix(f".conllu.{source}")
        self.test_set = TestSet(self.decoder, folder, arguments, split=split)
        self.arguments = arguments
        counts = [len(document) for document in self.test_set.prepared.tokens]
        self.by_document = len(counts) >= FEW
        self.counts = counts if self.by_document else [1] * sum(counts)
        """Segments of what is resampled."""
        if len(self.counts) < 4:
            raise InputError("too few segments", path=folder, found=f"{len(self.counts)}", expected="4 or more")
        self.metric = make_metric("bleu", lowercase=arguments.lowercase)
        of_beam = config.search.model_dump(include={"beam", "distortion_limit", "first_jump"})
        self.key = [model_hash(replace(self.decoder.model, document=())), of_beam, trees.read_text(encoding="utf-8")]

    def __str__(self) -> str:
        units = "documents" if self.by_document else "segments"
        pair = " to ".join(self.arguments.languages)
        return f"{self.test_set}, {pair}; every second one of its {units} held out"

    def rows(self, points: list[list[str]]) -> Iterator[list[str]]:
        """Rows of the table; adds BLEU of the half that is not held out, under each weight, to `points`."""
        none = [self.run("none", 0.0, held_out=held_out) for held_out in (False, True)]
        points.append(self._point(none[0]))
        yield self._row(*none, none[1])
        for name in self.arguments.constraints:
            tried = [self.run(name, weight, held_out=False) for weight in self.arguments.weights]
            points += map(self._point, tried)
            best = max(tried, key=self._bleu)
            yield self._row(best, self.run(name, best.weight, held_out=True), none[1])

    def run(self, name: str, weight: float, *, held_out: bool) -> Run:
        """Translate a half under a constraint of some weight, or find what an earlier run has made of it."""
        chosen = [unit % 2 == held_out for unit in range(len(self.counts))]
        segments = np.flatnonzero(np.repeat(chosen, self.counts)).tolist()
        sources = [source for document in self.test_set.prepared.tokens for source in document]
        sentences = [sources[segment] for segment in segments]
        features = CONSTRAINTS.get(name, ())
        key = [*self.key, features, weight, sentences]
        texts, interruptions = kept(
            self.arguments.output / "kept", key, lambda: self._translated(features, weight, segments, sentences)
        )
        starts = bootstrap_starts([count for count, one in zip(self.counts, chosen, strict=True) if one])
        references = [self.test_set.references[segment] for segment in segments]
        run = Run(name, weight, texts, interruptions, corpus_statistics(self.metric, texts, references, starts))
        half = "held-out half" if held_out else "other half"
        say(f"{self.test_set.name}, {name}, weight {weight:g}, {half}: BLEU {self._bleu(run):.2f}")
        return run

    def _translated(
        self, features: Sequence[str], weight: float, segments: Sequence[int], sentences: Sequence[Sequence[str]]
    ) -> tuple[list[str], list[int]]:
        """Texts of segments, and how often each interrupts a subtree."""
        model = with_weights(self.decoder.model, dict.fromkeys(features, weight))
        model = replace(model, document=tuple(named for named in model.document if named.name in features))
        coh1 = next(named.feature for named in self.decoder.model.document if named.name == "coh1")
        plain = [text for document in self.test_set.prepared.plain for text in document]
        search, found = self.config.search, list[Sentence]()
        for first, last in batches([[sentence] for sentence in sentences]):
            batch = with_document(build_problem(model, [[one] for one in sentences[first:last]], search=search))
            beam = beam_decoder(batch, search, search_settings(self.config, model, batch))
            found += [text_of(batch, options) for options in beam.decode().options]
        texts = [
            self.decoder.target.to_text(sentence.words, plain[segment])
            for sentence, segment in zip(found, segments, strict=True)
        ]
        return texts, [-round(coh1.values([sentence])[0]) for sentence in found]

    def _bleu(self, run: Run) -> float:
        return self.metric.score(run.statistics.sum(axis=0))

    def _point(self, run: Run) -> list[str]:
        return [self.test_set.name, run.name, f"{run.weight:g}", f"{self._bleu(run):.4f}"]

    def _row(self, tried: Run, run: Run, none: Run) -> list[str]:
        """A row of the table: by how much a run of the held-out half differs from the decoder without constraints."""
        score, *difference = compared(self.metric, run.statistics, none.statistics)
        changed = np.array(run.texts) != np.array(none.texts)
        cells = [f"{run.weight:g}", *difference, f"{changed.mean():.1%}"]
        weight, *difference, changes = cells if run is not none else [""] * len(cells)
        interruptions = f"{np.mean(run.interruptions):.3f}"
        return [run.name, weight, f"{self._bleu(tried):.2f}", score, *difference, interruptions, changes]


def trees_of(folder: Path, language: str) -> Path:
    """The trees of a test set.

    Raises:
        InputError: none, or those of several splits.
    """
    found = sorted(folder.glob(f"*.conllu.{language}"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise InputError("no trees of the source", path=folder, found=names, expected=f"one SPLIT.conllu.{language}")
    return found[0]


if __name__ == "__main__":
    command(main)
