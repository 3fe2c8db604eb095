"""Table 1, rows 1 and 2: the beam by itself, hill climbing from its result, and beside them from random starts.

usage: python -m configs.hardmeier2012.beam_and_search -c model.toml FOLDER... [-o OUTPUT] [--runs 3] [--chains 16]

The beam has the settings that Moses has by default, the search those of the paper; figures of several runs are
means, as in the paper. With --chains, two rows show the settings that gpusearch has by default, with so many chains.
Writes beam_and_search.md, beam_and_search.csv (learning curves of the first run) and beam_and_search.svg.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from configs.experiment import MOSES, command, new_figure, save_figure, say, write_csv, write_table
from configs.hardmeier2012.experiment import PAPER, Found, TestSet, draw, make_parser, open_test_sets
from gpusearch.config.search import OperationsConfig

DEFAULTS = {"option_draw": "score", "operations": OperationsConfig().model_dump(), "max_rejected": None, "steps": None}
"""Of gpusearch, where the paper's settings differ."""

SLACK = 1e-6  # nats: scores of sentences are sums of floats


def main(argv: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rejected", type=int, default=100_000, help="rejection limit of a document")
    parser.add_argument("--chains", type=int, help="two more rows: the default settings with so many chains")
    arguments = parser.parse_args(argv)
    sets = open_test_sets(arguments)
    table, points = arguments.output / "beam_and_search.md", []
    table.unlink(missing_ok=True)
    figure = new_figure(1, len(sets))
    paper = {
        **PAPER,
        "beam": MOSES,
        "distortion_limit": 6,
        "steps": arguments.steps,
        "max_rejected": arguments.rejected,
    }
    for column, test_set in enumerate(sets):
        beam = _runs(test_set, "beam", {**paper, "method": "beam"}, 1)
        systems = {
            "beam": beam,
            "beam, then hill climbing": _runs(test_set, "from the beam", {**paper, "initial": "beam"}, arguments.runs),
            "hill climbing from random starts": _runs(test_set, "from random", paper, arguments.runs),
        }
        if arguments.chains:
            chains = {**paper, **DEFAULTS, "chains": arguments.chains}
            for name, initial in (("random starts", "random"), ("the beam", "beam")):
                title = f"{arguments.chains} chains from {name}"
                systems[title] = _runs(test_set, title, {**chains, "initial": initial}, 1, units=None)
        rows = [_row(test_set, name, runs, beam[0]) for name, runs in systems.items()]
        header = ("", "score", "BLEU", "NIST", "sentences above / below the beam", "CPU s")
        write_table(table, f"{test_set}.", header, rows)
        curves = {name: runs[0].curve() for name, runs in list(systems.items())[1:3]}
        points += [[test_set.name, name, *point] for name, curve in curves.items() for point in curve.items()]
        if figure is not None:
            panel = figure.axes[column]
            for name, curve in curves.items():
                draw(panel, curve, label=name)
            panel.axhline(beam[0].score, color="black", linewidth=0.8, linestyle=":", label="beam")
            panel.set(title=test_set.name, ylabel="model score (nats)")
            panel.legend(fontsize="small")
    write_csv(arguments.output / "beam_and_search.csv", ("set", "system", "steps", "score"), points)
    if figure is not None:
        save_figure(figure, arguments.output / "beam_and_search.svg")


def _runs(
    test_set: TestSet, name: str, settings: dict[str, Any], count: int, units: str | None = "document"
) -> list[Found]:
    """`count` runs with different seeds."""
    runs = []
    for seed in range(1, count + 1):
        run = test_set.search({**settings, "seed": seed}, units=units, trace=settings["method"] == "search")
        say(f"{test_set.name}, {name}, seed {seed}: {run.score:.1f}, {run.cpu_seconds:.1f} CPU s")
        runs.append(run)
    return runs


def _row(test_set: TestSet, name: str, runs: Sequence[Found], beam: Found) -> list[str]:
    """Means over the runs, and their standard deviation where there are several."""
    scores = [run.score for run in runs]
    bleu, nist = ([test_set.metric(metric, run.texts) for run in runs] for metric in ("bleu", "nist"))
    gains = np.array([run.sentence_scores - beam.sentence_scores for run in runs])
    above, below = ((sign * gains > SLACK).sum(axis=1).mean() for sign in (1, -1))
    compared = "" if runs[0] is beam else f"{above:.0f} / {below:.0f}"
    seconds = f"{np.mean([run.cpu_seconds for run in runs]):.1f}"
    return [name, _mean(scores, 1), _mean(bleu, 2), _mean(nist, 3), compared, seconds]


def _mean(values: Sequence[float], digits: int) -> str:
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{np.mean(values):.{digits}f} ± {np.std(values, ddof=1):.{digits}f}"


if __name__ == "__main__":
    command(main)
