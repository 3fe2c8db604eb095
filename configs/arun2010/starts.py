"""Figure 7: model score by iterations, and by what the chains begin with.

usage: python -m configs.arun2010.starts -c model.toml FOLDER... [-o OUTPUT] [--scale 10]

Starts, as in the paper: `full`, what the beam finds; `mono`, what it finds without reordering; `nolm`, what it finds
without reordering and without language model; `zero`, which the paper makes by weights of zero: random monotone
translations. The paper tracks the score "of the most frequent derivation" (section 4), its caption says "maximum model
score": both are given, the score of the derivation that a chain has been in most often (of equally frequent ones the
best) and of the best one that it has been in, both behind the burn-in, as means over sentences. At 0 samples stands the
score of what chains begin with. Chains of equal number have equal random numbers, so those that meet stay together:
where curves coincide, the starts are forgotten. Writes starts.md, starts.csv and starts.svg.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from configs.arun2010.experiment import (
    BEAM,
    each_document,
    looks,
    make_parser,
    open_decoder,
    sampled,
    sampling,
    searching,
)
from configs.experiment import TestSet, command, draw, new_figure, save_figure, say, write_csv, write_table
from gpusearch.config import Config
from gpusearch.decoder import Decoder
from gpusearch.features.load import with_features
from gpusearch.model.model import Model, make_model
from gpusearch.model.problem import build_problem
from gpusearch.search.run import search_documents
from gpusearch.search.saved import Given
from gpusearch.search.translation import scores

KINDS = ("most frequent", "best")
SAMPLES = "samples of a chain"


def main(argv: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__ or "", chains=1, iterations=100 + (1 << 14), burn_in=100)
    parser.add_argument("--scale", type=float, default=10.0, help="factor of scores")
    arguments = parser.parse_args(argv)
    decoder = open_decoder(arguments)
    starts = _starts(decoder, arguments)
    sets = [TestSet(decoder, folder, arguments) for folder in arguments.data]
    table, points = arguments.output / "starts.md", list[list[object]]()
    table.unlink(missing_ok=True)
    sizes = looks(arguments.iterations - arguments.burn_in)
    figure = new_figure(len(sets), len(KINDS))
    for row, test_set in enumerate(sets):
        found = {name: _mean_scores(test_set, name, *start, sizes, arguments) for name, start in starts.items()}
        beam = found["full"][0][0]
        title = (
            f"{test_set}. Scale {arguments.scale:g}; chains: {arguments.chains} a sentence and start, the first "
            f"{arguments.burn_in} iterations left out. Mean score of a sentence, nats; the beam's: {beam:.3f}."
        )
        header = (SAMPLES, *(f"{name}: {kind}" for name in starts for kind in KINDS))
        rows = [
            [f"{size:,}", *(f"{values[place]:.3f}" for kinds in found.values() for values in kinds)]
            for place, size in enumerate([0, *sizes])
        ]
        write_table(table, title, header, rows)
        for number, kind in enumerate(KINDS):
            curves = {
                name: dict(zip([0, *sizes], kinds[number].tolist(), strict=True)) for name, kinds in found.items()
            }
            points += [[test_set.name, name, kind, *point] for name, curve in curves.items() for point in curve.items()]
            if figure is not None:
                _draw(figure.axes[len(KINDS) * row + number], f"{test_set.name}: {kind}", curves, beam)
    write_csv(arguments.output / "starts.csv", ("set", "start", "kind", SAMPLES, "score"), points)
    if figure is not None:
        save_figure(figure, arguments.output / "starts.svg")


def _starts(decoder: Decoder, arguments: argparse.Namespace) -> dict[str, tuple[Model, Config]]:
    """By name the model and the settings of the search that finds each start."""
    monotone = {**BEAM, "distortion_limit": 0}
    random = {"method": "search", "initial": "random", "chains": arguments.chains, "steps": 0}
    weightless = tuple(entry.model_copy(update={"weight": 0.0}) for entry in decoder.config.language_model)
    without = decoder.config.model_copy(update={"language_model": weightless})
    model = decoder.model
    nolm = make_model(without, [table.pairs for table in model.tables], model.language_models)
    return {
        "full": (model, searching(decoder.config, arguments, BEAM)),
        "mono": (model, searching(decoder.config, arguments, monotone)),
        "nolm": (with_features(nolm, without), searching(without, arguments, monotone)),
        "zero": (model, searching(decoder.config, arguments, random)),
    }


def _mean_scores(
    test_set: TestSet, start: str, model: Model, search: Config, sizes: Sequence[int], arguments: argparse.Namespace
) -> NDArray[np.float64]:
    """[2, 1 + sizes] nats: of what chains begin with, then of the most frequent and of the best derivation.

    Args:
        start: its name.
        model, search: what it is found with.
        sizes: numbers of samples.
    """
    decoder = test_set.decoder
    config = sampling(decoder.config, arguments, arguments.scale)
    curves = []
    for number, tokens, name in each_document(test_set):
        (found,) = search_documents(model, search, [tokens], [name], keep_chains=True).documents
        given = Given([found.chains], [found.places])
        batch = build_problem(decoder.model, [tokens], search=config.search, forced=given.forced(0, 1))
        first_jump = config.search.first_jump
        begun = np.mean([scores(batch, chain, first_jump) for chain in _derivations(given, batch)], axis=0)
        filled = [score for score, sentence in zip(begun.tolist(), tokens, strict=True) if sentence]
        with sampled(decoder.model, config, [tokens], [name], given) as samples:
            for score, unit in zip(filled, samples, strict=True):
                curves.append(np.hstack(([[score], [score]], scores_so_far(unit.derivations(0), unit.score, sizes))))
        say(f"{test_set.name}, {start}: {number + 1} documents")
    return np.asarray(np.mean(curves, axis=0))


def _derivations(given: Given, batch: Any) -> list[list[NDArray[np.int32]]]:
    return [[np.array(options, np.int32) for options in chain] for chain in given.options(batch, 0)]


def scores_so_far(rows: NDArray[np.int32], score: NDArray[np.float64], sizes: Sequence[int]) -> NDArray[np.float64]:
    """[2, sizes] nats, means of the chains of a sentence: scores of the derivation that is most frequent among the
    first so many samples, and of the best.

    Args:
        rows, score: as `UnitSamples.derivations` and `UnitSamples.score` have them.
    """
    rounds, chains, slots = rows.shape
    number = np.unique(rows.reshape(-1, slots), axis=0, return_inverse=True)[1].reshape(rounds, chains)
    result = np.zeros((2, len(sizes)))
    for chain in range(chains):
        own, mine = score[chain], number[:, chain]
        of_derivation = np.full(int(mine.max()) + 1, -np.inf)
        of_derivation[mine] = own
        for place, size in enumerate(sizes):
            counts = np.bincount(mine[:size], minlength=len(of_derivation))
            result[:, place] += of_derivation[counts == counts.max()].max(), own[:size].max()
    return result / chains


def _draw(panel: Any, title: str, curves: dict[str, dict[int, float]], beam: float) -> None:
    for name, curve in curves.items():
        draw(panel, curve, SAMPLES, zero=0.5, label=name)
    panel.axhline(beam, color="black", linewidth=0.8, linestyle=":", label="beam")
    panel.set(title=title, ylabel="mean model score (nats)")
    panel.legend(fontsize="small")


if __name__ == "__main__":
    command(main)
