"""The folder for what is made once and kept between runs, such as compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """`$GPUSEARCH_CACHE`, or `gpusearch` in `$XDG_CACHE_HOME` (`~/.cache`). It need not exist yet."""
    if own := os.environ.get("GPUSEARCH_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "gpusearch"
