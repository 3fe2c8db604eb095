"""Section 4.2: what a higher rejection limit buys, and what it costs (figure 2).

usage: python -m configs.hardmeier2012.rejection_limits -c model.toml FOLDER... [-o OUTPUT] [--limits 1000 10000 ...]

Writes rejection_limits.md (score, BLEU, steps, CPU time), rejection_limits.csv (all curves) and rejection_limits.svg.
With equal seeds a run with a lower limit is the beginning of one with a higher limit, document by document.
"""

from __future__ import annotations

from collections.abc import Sequence

from configs.experiment import command, new_figure, save_figure, say, write_csv, write_table
from configs.hardmeier2012.experiment import PAPER, draw, make_parser, open_test_sets


def main(argv: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--limits", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    sets = open_test_sets(arguments)
    table, points = arguments.output / "rejection_limits.md", []
    table.unlink(missing_ok=True)
    figure = new_figure(len(sets), 2)
    for row, test_set in enumerate(sets):
        rows = []
        for limit in arguments.limits:
            settings = {**PAPER, "seed": arguments.seed, "steps": arguments.steps, "max_rejected": limit}
            run = test_set.search(settings, trace=True)
            say(f"{test_set.name}, limit {limit:,}: {run.score:.1f}, {run.steps:,} steps, {run.cpu_seconds:.1f} CPU s")
            curve, bleu = run.curve(), test_set.bleu_curve(settings, run)
            for step in sorted(curve.keys() | bleu.keys()):
                points.append([test_set.name, limit, step, curve.get(step, ""), bleu.get(step, "")])
            quality = list(bleu.values())[-1]
            rows.append(
                [f"{limit:,}", f"{run.score:.1f}", f"{quality:.2f}", f"{run.steps:,}", f"{run.cpu_seconds:.1f}"]
            )
            if figure is not None:
                scores, qualities = figure.axes[2 * row : 2 * row + 2]
                draw(scores, curve, label=f"{limit:,}")
                draw(qualities, bleu, label=f"{limit:,}")
                scores.set(title=test_set.name, ylabel="model score (nats)")
                qualities.set(title=test_set.name, ylabel="BLEU")
                scores.legend(title="rejection limit", fontsize="small")
        write_table(table, f"{test_set}.", ("rejection limit", "score", "BLEU", "steps", "CPU s"), rows)
    write_csv(arguments.output / "rejection_limits.csv", ("set", "limit", "steps", "score", "BLEU"), points)
    if figure is not None:
        save_figure(figure, arguments.output / "rejection_limits.svg")


if __name__ == "__main__":
    command(main)
