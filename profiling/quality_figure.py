"""The figure of a table of `search_quality.py`: how far below the best total settings are, against CPU seconds.

usage: python -m profiling.quality_figure TABLE.csv...

Writes TABLE.svg beside each. A point is the mean over the seeds, its bar their range; what Moses and the beam come to
is a line across, with the seconds that they take.
"""

from __future__ import annotations

import math
import sys
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from configs.experiment import new_figure, save_figure
from profiling.quality_table import Row, read_rows

LINES = ("Moses", "beam")
MARKERS = "osv^D<>ph"


def draw_table(path: Path) -> None:
    """Draw the figure of a table; nothing where there is no matplotlib, which is said."""
    rows = read_rows(path)
    figure = new_figure(1, 1)
    if figure is None:
        return
    figure.set_size_inches(7.6, 4.2)
    panel = figure.axes[0]
    best = max(row.total for row in rows)
    for style, setting in zip(cycle(("--", ":", "-.")), _settings(rows, *LINES), strict=False):
        first = setting[0]
        name = f"{first.series}, {first.setting}: {first.seconds:.0f} CPU s"
        panel.axhline(first.total - best, color="black", linewidth=0.8, linestyle=style, label=name)
    for series in dict.fromkeys(row.series for row in rows if row.series not in LINES):
        _curve(panel, _settings(rows, series), best, MARKERS[len(panel.containers) % len(MARKERS)])
    linear = 10.0 ** round(math.log10(1e-5 * abs(best)))
    panel.set_xscale("log", subs=(2, 5))
    panel.set_yscale("symlog", linthresh=linear)
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_formatter("{x:g}")
    panel.yaxis.set_major_formatter("{x:g}")
    panel.margins(0.1)
    panel.set_ylim(top=linear / 2)
    panel.set(title=path.stem, xlabel="CPU seconds", ylabel=f"nats from the best total, {best:.2f}")
    panel.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
    save_figure(figure, path.with_suffix(".svg"))


def _settings(rows: list[Row], *series: str) -> list[list[Row]]:
    """The rows of each setting of some series, in the order of the table."""
    settings: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.series in series:
            settings.setdefault((row.series, row.setting), []).append(row)
    return list(settings.values())


def _curve(panel: Any, settings: list[list[Row]], best: float, marker: str) -> None:
    """Means over the seeds by CPU seconds, and their ranges."""
    settings = sorted(settings, key=lambda rows: np.mean([row.seconds for row in rows]))
    seconds = [np.mean([row.seconds for row in rows]) for rows in settings]
    gaps = [np.array([row.total for row in rows]) - best for rows in settings]
    mean = np.array([gap.mean() for gap in gaps])
    ends = [mean - [gap.min() for gap in gaps], [gap.max() for gap in gaps] - mean]
    name, is_preset = settings[0][0].series, settings[0][0].series == "presets"
    style: dict[str, Any] = {"marker": marker, "markersize": 4, "zorder": 2}
    if is_preset:
        style = {"marker": "*", "markersize": 10, "color": "black", "linestyle": "", "zorder": 3}
    panel.errorbar(seconds, mean, ends, label=name, linewidth=1, elinewidth=0.8, **style)
    for x, y, rows in zip(seconds, mean, settings, strict=True):
        place, size = ((3, -9), 8) if is_preset else ((3, 3), 5)
        panel.annotate(rows[0].setting, (x, y), place, textcoords="offset points", fontsize=size, clip_on=True)


if __name__ == "__main__":
    for table in sys.argv[1:]:
        draw_table(Path(table))
