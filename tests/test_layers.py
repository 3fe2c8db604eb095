"""Imports point downwards, by the table of layers in ARCHITECTURE.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# Small files that every layer may use, and the package itself for its version.
BESIDE = {
    "errors",
    "progress",
    "timing",
    "table",
    "cache",
    "memory",
    "cores",
    "environment",
    "user_code",
    "",
}


def layers(repository: Path) -> dict[str, int]:
    """The layer of each part of the package."""
    rows = re.findall(r"^(\d)\. (`.*`)$", (repository / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert rows
    return {name: int(number) for number, names in rows for name in re.findall(r"`(\w+)`", names)}


def parts(repository: Path) -> Iterator[tuple[str, Path]]:
    """Every file with the part that it belongs to."""
    for file in (repository / "gpusearch").rglob("*.py"):
        inside = file.relative_to(repository / "gpusearch").with_suffix("").parts
        yield ("" if inside == ("__init__",) else inside[0]), file
    for file in (repository / "kernels").rglob("*.py"):
        yield "kernels", file


def imported(file: Path) -> Iterator[str]:
    """The parts that a file imports from, inside functions too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        modules = []
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, file
            modules = [f"{node.module}.{name.name}" for name in node.names]
        for module in modules:
            package, _, rest = module.partition(".")
            if package == "gpusearch":
                part = rest.partition(".")[0]
                yield "" if part.startswith("__") else part


def test_every_part_has_a_layer(repository: Path) -> None:
    assert {part for part, _ in parts(repository)} == set(layers(repository)) | BESIDE


def test_no_import_points_upwards(repository: Path) -> None:
    layer, seen = layers(repository), 0
    for part, file in parts(repository):
        if part not in BESIDE:
            for other in set(imported(file)) - {part} - BESIDE:
                assert layer[other] < layer[part], (file, other)
                seen += 1
    assert seen > 100
