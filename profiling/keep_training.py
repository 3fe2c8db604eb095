"""Keep the seconds, CPU seconds and peak memory of each stage of a training in results.csv.

usage: python -m profiling.keep_training LABEL MODEL_FOLDER [RESULTS_CSV]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from profiling.results import RESULTS, keep

UNITS = {"seconds": "s", "cpu_seconds": "CPU s", "peak_megabytes": "MB"}


def main() -> None:
    """Append a row for each figure of each stage, and for the sums."""
    label, folder = sys.argv[1], Path(sys.argv[2])
    log = json.loads((folder / "train.log.json").read_text(encoding="utf-8"))
    log["all"] = {
        "seconds": sum(stage["seconds"] for stage in log.values()),
        "cpu_seconds": sum(stage["cpu_seconds"] for stage in log.values()),
        "peak_megabytes": max(stage["peak_megabytes"] for stage in log.values()),
    }
    rows = [
        (f"train {label}: {stage}, {key}", f"{figures[key]:.2f}", unit)
        for stage, figures in log.items()
        for key, unit in UNITS.items()
    ]
    keep(rows, Path(sys.argv[3]) if len(sys.argv) > 3 else RESULTS)


if __name__ == "__main__":
    main()
