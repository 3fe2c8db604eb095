"""Section 4.1: runs that differ in their seed alone, from random starts; score and BLEU by steps (figure 1).

usage: python -m configs.hardmeier2012.stability -c model.toml FOLDER... [-o OUTPUT] [--runs 7] [--rejected 100000]

Writes stability.md (each run, their mean and spread), stability.csv (all curves) and stability.svg.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from configs.experiment import command, new_figure, save_figure, say, write_csv, write_table
from configs.hardmeier2012.experiment import PAPER, Found, draw, make_parser, open_test_sets


def main(argv: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--rejected", type=int, default=100_000, help="rejection limit of a document")
    arguments = parser.parse_args(argv)
    sets = open_test_sets(arguments)
    table, points = arguments.output / "stability.md", []
    table.unlink(missing_ok=True)
    figure = new_figure(len(sets), 2)
    for row, test_set in enumerate(sets):
        found, curves, bleu_curves = [], [], []
        for seed in range(1, arguments.runs + 1):
            settings = {**PAPER, "seed": seed, "steps": arguments.steps, "max_rejected": arguments.rejected}
            run = test_set.search(settings, trace=True)
            say(f"{test_set.name}, seed {seed}: {run.score:.1f}, {run.steps:,} steps, {run.cpu_seconds:.1f} CPU s")
            found.append(run)
            curves.append(run.curve())
            bleu_curves.append(test_set.bleu_curve(settings, run))
            for step in sorted(curves[-1].keys() | bleu_curves[-1].keys()):
                numbers = [curves[-1].get(step), bleu_curves[-1].get(step)]
                points.append([test_set.name, seed, step, *("" if value is None else value for value in numbers)])
        runs = _rows(found, [list(curve.values())[-1] for curve in bleu_curves])
        write_table(table, f"{test_set}.", ("run", "score", "BLEU", "steps", "CPU s"), runs)
        steps = _by_steps(curves, bleu_curves)
        header = ("steps", "score: mean", "standard deviation", "BLEU: mean", "standard deviation")
        write_table(table, "By steps of a document.", header, steps)
        if figure is not None:
            scores, quality = figure.axes[2 * row : 2 * row + 2]
            for curve, bleu in zip(curves, bleu_curves, strict=True):
                draw(scores, curve)
                draw(quality, bleu)
            scores.set(title=test_set.name, ylabel="model score (nats)")
            quality.set(title=test_set.name, ylabel="BLEU")
    write_csv(arguments.output / "stability.csv", ("set", "seed", "steps", "score", "BLEU"), points)
    if figure is not None:
        save_figure(figure, arguments.output / "stability.svg")


def _rows(found: Sequence[Found], bleu: Sequence[float]) -> list[list[str]]:
    """A row a run, their mean, standard deviation and range."""
    numbers = np.array(
        [[run.score, quality, run.steps, run.cpu_seconds] for run, quality in zip(found, bleu, strict=True)]
    )
    names = [*(f"seed {seed}" for seed in range(1, len(found) + 1)), "mean", "standard deviation", "largest - smallest"]
    spread = [numbers.mean(axis=0), deviation(numbers), np.ptp(numbers, axis=0)]
    return [
        [name, f"{score:.1f}", f"{quality:.2f}", f"{steps:,.0f}", f"{seconds:.1f}"]
        for name, (score, quality, steps, seconds) in zip(names, [*numbers, *spread], strict=True)
    ]


def _by_steps(curves: Sequence[dict[int, float]], bleu_curves: Sequence[dict[int, float]]) -> list[list[str]]:
    """Mean and standard deviation of score and BLEU where both were looked at; a run that has ended stays."""
    looks = sorted({step for curve in bleu_curves for step in list(curve)[:-1]})
    rows = []
    for step in looks:
        numbers = np.array([[at(curve, step), at(bleu, step)] for curve, bleu in zip(curves, bleu_curves, strict=True)])
        (score, quality), (score_deviation, quality_deviation) = numbers.mean(axis=0), deviation(numbers)
        rows.append(
            [f"{step:,}", f"{score:.1f}", f"{score_deviation:.1f}", f"{quality:.2f}", f"{quality_deviation:.2f}"]
        )
    return rows


def at(curve: dict[int, float], step: int) -> float:
    """The value at a step: that of the last point up to it."""
    return curve[max(look for look in curve if look <= step)]


def deviation(numbers: np.ndarray) -> np.ndarray:
    """Sample standard deviation of the columns; 0 for a single row."""
    return numbers.std(axis=0, ddof=min(1, len(numbers) - 1))


if __name__ == "__main__":
    command(main)
