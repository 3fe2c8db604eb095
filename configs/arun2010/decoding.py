"""Table I: BLEU of the beam, and of maximum derivation, maximum translation and MBR decoding of the same Gibbs samples.

usage: python -m configs.arun2010.decoding -c model.toml FOLDER... [-o OUTPUT] [--scale 1 2 4] [--tune 200]

The beam has the settings that Moses has by default. Chains begin with random translations. Of several scales that one
is taken whose MBR decoding has the best BLEU on the first segments of dev.fr and dev.en of the first folder: the paper
too has one scale for all test sets of a model. Differences from the beam have intervals of a paired bootstrap over
documents (of a single document: over segments). Writes decoding.md, decoding.csv and decoding.svg.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from configs.arun2010.experiment import BEAM, each_document, make_parser, open_decoder, sampled, sampling, searching
from configs.experiment import TestSet, command, new_figure, save_figure, say, write_csv, write_table
from gpusearch.candidates.draws import Draws
from gpusearch.candidates.pool import candidates
from gpusearch.candidates.sampled import read_sampled
from gpusearch.mbr.decide import Settings, minimum_risk, most_probable
from gpusearch.mbr.named import TextSettings, make_utility
from gpusearch.mbr.utility import Utility
from gpusearch.metrics.base import Statistics
from gpusearch.metrics.scoring import make_metric
from gpusearch.metrics.significance import paired_bootstrap
from gpusearch.search.run import search_documents

BEAM_NAME = "beam, max derivation"
RULES = ("Gibbs, max derivation", "Gibbs, max translation", "Gibbs, MBR")


@dataclass(frozen=True)
class Row:
    """A system beside the beam."""

    name: str
    bleu: float
    difference: float
    low: float
    """Of the 95 % interval of the difference."""
    high: float
    p_value: float
    unlike: int
    """Segments with another translation than the beam's."""

    def cells(self) -> list[str]:
        """As they stand in the table."""
        if self.name == BEAM_NAME:
            return [self.name, f"{self.bleu:.2f}", "", "", "", ""]
        numbers = (f"{self.difference:+.2f}", f"{self.low:+.2f} to {self.high:+.2f}", f"{self.p_value:.3f}")
        return [self.name, f"{self.bleu:.2f}", *numbers, f"{self.unlike:,}"]


def main(argv: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__ or "", chains=16, iterations=725, burn_in=100, metrics=True)
    parser.add_argument("--scale", type=float, nargs="+", default=[10.0], help="factor of scores; of several the best")
    parser.add_argument("--tune", type=int, default=200, metavar="N", help="segments of dev that scales are tried on")
    parser.add_argument("--select", choices=("exact", "fine", "aggregate", "prune"), default="exact", help="of MBR")
    arguments = parser.parse_args(argv)
    decoder = open_decoder(arguments)
    sets = [TestSet(decoder, folder, arguments) for folder in arguments.data]
    table, points = arguments.output / "decoding.md", list[list[object]]()
    table.unlink(missing_ok=True)
    scale = arguments.scale[0]
    if len(arguments.scale) > 1:
        dev = TestSet(decoder, arguments.data[0], arguments, split="dev", segments=arguments.tune)
        tried = {scale: _bleus(dev, scale) for scale in arguments.scale}
        scale = max(tried, key=lambda one: tried[one][-1])
        title = f"BLEU on the first {len(dev.references)} segments of dev of {dev.name}. Scale {scale:g} is taken."
        rows = [[f"{one:g}", *(f"{bleu:.2f}" for bleu in bleus)] for one, bleus in tried.items()]
        write_table(table, title, ("scale", *RULES), rows)
        for one, bleus in tried.items():
            points += [[dev.name, "dev", one, rule, bleu, *[""] * 5] for rule, bleu in zip(RULES, bleus, strict=True)]
    samples = arguments.chains * (arguments.iterations - arguments.burn_in)
    metric = make_metric("bleu", lowercase=arguments.lowercase)
    figure = new_figure(1, len(sets))
    for place, test_set in enumerate(sets):
        systems = {BEAM_NAME: _beam(test_set), **_decided(test_set, scale)}
        statistics = {name: test_set.statistics(metric, texts) for name, texts in systems.items()}
        compared = [_row(name, systems, statistics, metric.score) for name in systems]
        title = (
            f"{test_set}. Scale {scale:g}; {samples:,} samples a segment: {arguments.chains} chains of "
            f"{arguments.iterations} iterations, the first {arguments.burn_in} left out. {metric.signature}"
        )
        header = ("", "BLEU", "difference", "95 % interval", "p", "segments unlike the beam's")
        write_table(table, title, header, [row.cells() for row in compared])
        points += [[test_set.name, "test", scale, *astuple(row)] for row in compared]
        if figure is not None:
            _draw(figure.axes[place], test_set.name, compared[1:])
    columns = ("set", "split", "scale", "system", "BLEU", "difference", "low", "high", "p", "unlike the beam")
    write_csv(arguments.output / "decoding.csv", columns, points)
    if figure is not None:
        save_figure(figure, arguments.output / "decoding.svg")


def _beam(test_set: TestSet) -> list[str]:
    """Its translations."""
    decoder, prepared = test_set.decoder, test_set.prepared
    config = searching(decoder.config, test_set.arguments, BEAM)
    return test_set.texts(search_documents(decoder.model, config, prepared.tokens, test_set.ids).documents)


def _decided(test_set: TestSet, scale: float) -> dict[str, list[str]]:
    """Translations by each of the rules, of the same samples."""
    arguments, decoder = test_set.arguments, test_set.decoder
    config = sampling(decoder.config, arguments, scale)
    utility = make_utility(["bleu-add"], TextSettings(lowercase=arguments.lowercase))
    texts: dict[str, list[str]] = {rule: [] for rule in RULES}
    different = 0
    for number, tokens, name in each_document(test_set):
        plain = test_set.prepared.plain[number]

        def join(words: Sequence[str], segment: int, plain: Sequence[str] = plain) -> str:
            return decoder.target.to_text(words, plain[segment])

        with sampled(decoder.model, config, [tokens], [name]) as samples:
            (document,) = read_sampled(samples.folder, join).draws
        for segment, draws in enumerate(document.segments):
            chosen, count = _decide(draws, utility, segment, Settings(select=arguments.select))
            different += count
            for rule, text in zip(RULES, chosen, strict=True):
                texts[rule].append(text)
        mean = different / len(texts[RULES[0]])
        say(f"{test_set.name}, scale {scale:g}: {number + 1} documents, {mean:.0f} different translations a segment")
    return texts


def _decide(draws: Draws, utility: Utility, segment: int, settings: Settings) -> tuple[list[str], int]:
    """What each rule takes of the samples of a segment, and how many different translations there are."""
    found = candidates(draws, "multiplicity")
    pairs = utility.prepare(found.texts, segment)
    best = [
        most_probable(found.pool, "maxderiv").best,
        most_probable(found.pool, "maxtrans").best,
        minimum_risk(utility, pairs, found.pool, settings).best,
    ]
    return [found.texts[place] for place in best], len(found.texts)


def _bleus(dev: TestSet, scale: float) -> list[float]:
    return [dev.metric("bleu", texts) for texts in _decided(dev, scale).values()]


def _row(
    name: str,
    systems: dict[str, list[str]],
    statistics: dict[str, Statistics],
    score: Callable[[Statistics], float],
) -> Row:
    found = paired_bootstrap(statistics[name], statistics[BEAM_NAME], score)
    unlike = sum(mine != its for mine, its in zip(systems[name], systems[BEAM_NAME], strict=True))
    return Row(name, found.score, found.difference, *found.difference_interval, found.p_value, unlike)


def _draw(panel: Any, title: str, rows: Sequence[Row]) -> None:
    """Differences from the beam with their intervals."""
    for height, row in enumerate(reversed(rows)):
        panel.plot([row.low, row.high], [height, height], color="C0", linewidth=1)
        panel.plot([row.difference], [height], color="C0", marker="o")
    panel.axvline(0, color="black", linewidth=0.8, linestyle=":")
    panel.set_yticks(range(len(rows)), [row.name for row in reversed(rows)])
    panel.set(title=title, xlabel="BLEU - BLEU of the beam", ylim=(-0.5, len(rows) - 0.5))


if __name__ == "__main__":
    command(main)
