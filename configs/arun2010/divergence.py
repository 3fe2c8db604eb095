"""Figure 6: how far what a chain has drawn is from the true distribution of a sentence's translations, by iterations.

usage: python -m configs.arun2010.divergence -c model.toml FOLDER... [-o OUTPUT] [--derivations 20000] [--chains 8]
       python -m configs.arun2010.divergence -c model.toml --sentence TEXT [-o OUTPUT]

Of each folder the longest sentence is taken that has few enough derivations with a table limit of --least; of equally
long ones the first. The limit is the largest one that leaves so few. All its derivations are listed; those of equal
words are one translation. The figure shows KL(estimated || true) in nats: the paper does not say which way round, but
KL(true || estimated) is infinite until a chain has come to every translation. Beside it stands the divergence of as
many independent draws, by simulation, and (K - 1) / 2N, which it comes close to for N draws of K translations where N
is large. The paper says of no burn-in here; samples count from the first iteration on. Writes divergence.md,
divergence.csv and divergence.svg.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from configs.arun2010.experiment import SPACE, looks, make_parser, open_decoder, sampled, sampling, searching
from configs.experiment import TestSet, command, draw, new_figure, save_figure, say, write_csv, write_table
from gpusearch.config import Config
from gpusearch.decoder import Decoder
from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, Document, Segment
from gpusearch.model.model import Model
from gpusearch.model.problem import build_problem
from gpusearch.search.enumeration import Enumerated, count_derivations, enumerate_derivations, with_limit
from gpusearch.search.run import search_settings

ITERATIONS = "iterations"


@dataclass(frozen=True, eq=False)
class Translations:
    """The K translations of a sentence."""

    number: dict[tuple[int, ...], int]
    """Of each derivation its translation."""
    log_probability: NDArray[np.float64]
    """[K] natural logarithm."""

    @classmethod
    def of(cls, found: Enumerated, scale: float) -> Translations:
        """Derivations of equal words are added up."""
        target = found.batch.options.target
        texts: dict[tuple[str, ...], int] = {}
        number = {
            options: texts.setdefault(tuple(word for option in options for word in target(option)), len(texts))
            for options in found.states[0]
        }
        total = np.full(len(texts), -np.inf)
        np.logaddexp.at(total, list(number.values()), scale * found.score[0])
        return cls(number, total - np.logaddexp.reduce(total))

    def divergences(self, draws: NDArray[np.int64], sizes: Sequence[int]) -> list[float]:
        """KL(estimated || true) in nats of the first so many draws (translations by number), for each of the sizes."""
        return [self._divergence(np.bincount(draws[:size], minlength=len(self.log_probability))) for size in sizes]

    def _divergence(self, counts: NDArray[np.int64]) -> float:
        seen = counts > 0
        share = counts[seen] / counts.sum()
        return float((share * (np.log(share) - self.log_probability[seen])).sum())


def main(argv: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__ or "", chains=8, iterations=1 << 14, burn_in=0, folders="*")
    parser.add_argument("--sentence", metavar="TEXT", help="this one, instead of one of the folders")
    parser.add_argument("--derivations", type=int, default=20_000, metavar="N", help="at most so many")
    parser.add_argument("--least", type=int, default=1, metavar="N", help="options of a phrase that are left at least")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of scores")
    arguments = parser.parse_args(argv)
    if bool(arguments.data) == (arguments.sentence is not None):
        parser.error("give folders, or --sentence")
    decoder = open_decoder(arguments)
    table, points = arguments.output / "divergence.md", list[list[object]]()
    table.unlink(missing_ok=True)
    sentences = _sentences(decoder, arguments)
    figure = new_figure(1, len(sentences))
    for place, (name, tokens) in enumerate(sentences.items()):
        config = searching(decoder.config, arguments, SPACE)
        found = enumerate_derivations(decoder.model, [tokens], arguments.derivations, search=config.search)
        translations = Translations.of(found, arguments.scale)
        count = len(translations.log_probability)
        say(f"{name}: {' '.join(tokens)}: {len(found.states[0]):,} derivations, {count:,} translations")
        sizes = looks(arguments.iterations - arguments.burn_in)
        config = sampling(decoder.config, arguments, arguments.scale)
        chains = [translations.divergences(run, sizes) for run in _runs(found, translations, config)]
        independent = [translations.divergences(run, sizes) for run in _independent(translations, arguments)]
        title = (
            f"{name}: “{' '.join(tokens)}”. {len(found.states[0]):,} derivations with table limit {found.limit}, "
            f"{count:,} translations; scale {arguments.scale:g}; {arguments.chains} chains. KL(estimated || true)."
        )
        header = (ITERATIONS, "mean", "smallest", "largest", "independent draws", "(K - 1) / 2N")
        rows = _rows(sizes, np.array(chains), np.array(independent), count)
        write_table(table, title, header, rows)
        for kind, runs in (("chain", chains), ("independent", independent)):
            for run, curve in enumerate(runs, 1):
                points += [[name, kind, run, *point] for point in zip(sizes, curve, strict=True)]
        if figure is not None:
            panel, mean = figure.axes[place], np.mean(chains, axis=0)
            panel.fill_between(sizes, np.min(chains, axis=0), np.max(chains, axis=0), alpha=0.3)
            draw(panel, dict(zip(sizes, mean, strict=True)), ITERATIONS, label="chains: mean, range")
            apart = dict(zip(sizes, np.mean(independent, axis=0), strict=True))
            draw(panel, apart, ITERATIONS, color="black", linestyle=":", label="independent draws")
            panel.set(title=name, ylabel="KL(estimated || true), nats", yscale="log")
            panel.legend(fontsize="small")
    write_csv(arguments.output / "divergence.csv", ("set", "kind", "run", ITERATIONS, "KL"), points)
    if figure is not None:
        save_figure(figure, arguments.output / "divergence.svg")


def _sentences(decoder: Decoder, arguments: argparse.Namespace) -> dict[str, list[str]]:
    """By name the tokens of each sentence to look at."""
    if arguments.sentence is not None:
        corpus = Corpus([Document(None, [Segment(arguments.sentence)])], "text")
        return {"sentence": decoder.prepare(corpus).tokens[0][0]}
    sets = [TestSet(decoder, folder, arguments) for folder in arguments.data]
    config = searching(decoder.config, arguments, SPACE)
    return {
        test_set.name: longest(
            decoder.model,
            config,
            [sentence for document in test_set.prepared.tokens for sentence in document],
            arguments.derivations,
            arguments.least,
        )
        for test_set in sets
    }


def longest(model: Model, config: Config, sentences: Sequence[list[str]], most: int, limit: int = 1) -> list[str]:
    """The longest of the sentences that have at most so many derivations with this table limit.

    Raises:
        InputError: there is none.
    """
    cut = with_limit(model, limit)
    batch = build_problem(cut, [sentences], search=config.search)
    search = search_settings(config, cut, batch)
    for place in sorted(range(len(sentences)), key=lambda place: -len(sentences[place])):
        if sentences[place] and count_derivations(batch.problem, search, place, most) <= most:
            return sentences[place]
    raise InputError("no sentence has so few derivations", expected=f"at most {most:,}", hint="raise --derivations")


def _runs(found: Enumerated, translations: Translations, config: Config) -> list[NDArray[np.int64]]:
    """Of each chain the translations that it comes to, by number."""
    tokens = list(found.batch.options.sentences[0])
    with sampled(found.model, config, [[tokens]], [None]) as samples:
        unit = samples.unit(0)
        assert unit is not None, "a sentence that has words has samples"
        rows = unit.derivations(0)
    rounds, chains, slots = rows.shape
    different, number = np.unique(rows.reshape(-1, slots), axis=0, return_inverse=True)
    of_row = [translations.number[tuple(option for option in row if option >= 0)] for row in different.tolist()]
    return list(np.array(of_row)[number.reshape(rounds, chains)].T)


def _independent(translations: Translations, arguments: argparse.Namespace) -> list[NDArray[np.int64]]:
    """As many independent draws as there are samples, as often as there are chains."""
    probability = np.exp(translations.log_probability)
    generator = np.random.default_rng(arguments.seed)
    size = (arguments.chains, arguments.iterations - arguments.burn_in)
    return list(generator.choice(len(probability), size=size, p=probability / probability.sum()))


def _rows(
    sizes: Sequence[int], chains: NDArray[np.float64], independent: NDArray[np.float64], count: int
) -> list[list[str]]:
    """A row for each number of iterations; `chains` and `independent` have the columns of `sizes`."""
    columns = (chains.mean(axis=0), chains.min(axis=0), chains.max(axis=0), independent.mean(axis=0))
    return [
        [f"{size:,}", *(f"{column[place]:.4f}" for column in columns), f"{(count - 1) / (2 * size):.4f}"]
        for place, size in enumerate(sizes)
    ]


if __name__ == "__main__":
    command(main)
