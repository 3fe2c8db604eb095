"""Keep the result of `make test-full`: what ran, where, and how it ended.

usage: keep_test_result.py PYTEST_OUTPUT KEPT_FILE
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

LIBRARIES = ("numpy", "numba", "numba-cuda", "torch", "pytest", "hypothesis")


def main() -> None:
    """Write a header about the machine, then the slowest tests and the summary of the run."""
    output = Path(sys.argv[1]).read_text(encoding="utf-8")
    found = re.search(r"^=+ slowest", output, re.MULTILINE)
    tail = output[found.start() :] if found else "\n".join(output.rstrip("\n").split("\n")[-5:]) + "\n"
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    header = [
        f"make test-full, {datetime.date.today().isoformat()}, commit {commit()}",
        f"Python {platform.python_version()}, {versions}",
        f"{processor()}, {len(os.sched_getaffinity(0))} cores",
    ]
    Path(sys.argv[2]).write_text("\n".join(header) + "\n\n" + tail, encoding="utf-8")


def commit() -> str:
    """Short name of the present commit, or what $GPUSEARCH_COMMIT says; ``unknown`` outside a repository."""
    if given := os.environ.get("GPUSEARCH_COMMIT"):
        return given
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def processor() -> str:
    """Name of the processor."""
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1) if found else platform.machine()


if __name__ == "__main__":
    main()
