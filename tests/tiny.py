"""The model of tests/data/tiny, and models like it.

from tests.tiny import TINY, copy_tiny
decoder = gpusearch.load(TINY)
path = copy_tiny(tmp_path, {"model.toml": ("weight = 0.5", "weight = 0.25")})
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "tiny"
TINY = FOLDER / "model.toml"


def copy_tiny(folder: Path, changes: Mapping[str, tuple[str, str]] | None = None) -> Path:
    """Copy the model into a folder, some text of some files replaced; returns the path of its configuration."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    for name, (old, new) in (changes or {}).items():
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text, (name, old)
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    return folder / "model.toml"


def with_chains(count: int, *arguments: str) -> list[str]:
    """Arguments of `gpusearch decode` and a number of chains, unless they name the beam, which has none."""
    return [*arguments] if "beam" in arguments or "--method=beam" in arguments else ["--chains", f"{count}", *arguments]
