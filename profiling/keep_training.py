"""Keep the seconds, CPU seconds and peak memory of each stage of a training in results.csv.

usage: keep_training.py LABEL MODEL_FOLDER [RESULTS_CSV]
"""

from __future__ import annotations

import csv
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

from keep_test_result import processor

COLUMNS = ("date", "commit", "machine", "what", "value", "unit")
UNITS = {"seconds": "s", "cpu_seconds": "CPU s", "peak_megabytes": "MB"}


def main() -> None:
    """Append a row for each figure of each stage, and for the sums."""
    label, folder = sys.argv[1], Path(sys.argv[2])
    results = Path(sys.argv[3] if len(sys.argv) > 3 else Path(__file__).with_name("results.csv"))
    log = json.loads((folder / "train.log.json").read_text(encoding="utf-8"))
    log["all"] = {
        "seconds": sum(stage["seconds"] for stage in log.values()),
        "cpu_seconds": sum(stage["cpu_seconds"] for stage in log.values()),
        "peak_megabytes": max(stage["peak_megabytes"] for stage in log.values()),
    }
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    machine = f"{processor()}, {len(os.sched_getaffinity(0))} cores"
    common = (datetime.date.today().isoformat(), commit.stdout.strip(), machine)
    is_new = not results.exists()
    with open(results, "a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        for stage, figures in log.items():
            for key, unit in UNITS.items():
                writer.writerow((*common, f"train {label}: {stage}, {key}", round(figures[key], 2), unit))


if __name__ == "__main__":
    main()
