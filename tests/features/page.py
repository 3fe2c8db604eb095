"""docs/features.md: its blocks as the files that they name, and its code as a module."""

from __future__ import annotations

import atexit
import re
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

FILE = Path(__file__).resolve().parents[2] / "docs" / "features.md"
CODE = "my_features.py"


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Names of files, and what the page writes into them."""
    return re.findall(r"```\w+ (\S+)\n(.*?)```", page, flags=re.DOTALL)


def write_blocks(page: str, folder: Path) -> None:
    """Add the blocks of the page to the files that they name."""
    for name, text in blocks_of(page):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("\n" + text)


@cache
def page_module() -> ModuleType:
    """The page's code, in a file for as long as the process lasts: kernels are compiled from sources."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    write_blocks(FILE.read_text(encoding="utf-8"), Path(folder.name))
    spec = spec_from_file_location("features_of_the_page", Path(folder.name, CODE))
    assert spec and spec.loader
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
