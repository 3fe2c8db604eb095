"""The experiment of configs/bach2009, run small: what it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.bach2009 import cohesion
from tests.features.test_cohesive import TREES
from tests.tiny import TINY


def test_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees, reference, table = tmp_path / "trees", tmp_path / "reference", tmp_path / "table.md"
    trees.write_text(TREES + TREES.replace("# text", "# newdoc id = 2\n# text", 1), encoding="utf-8")
    reference.write_text("the blue house sleeps .\nthe dog sleeps\n" * 2, encoding="utf-8")
    (tmp_path / "ids").write_text("a\nb\nc\nd\n")
    arguments = [
        "-c",
        str(TINY),
        "--trees",
        str(trees),
        "--reference",
        str(reference),
        "--docids",
        str(tmp_path / "ids"),
    ]
    cohesion.main([*arguments, "--constraints", "Coh1", "--weights", "0.1", "10", "-o", str(table)])
    lines = table.read_text(encoding="utf-8").split("\n")
    assert lines[2].startswith("| none | | ") and lines[3].startswith("| Coh1 | 0.1 | ") and lines[4:] == [""]
    cells = [cell.strip() for cell in lines[3].split("|")]
    assert cells[5:7] == ["+0.00 to +0.00", "1.000"] and cells[7] == "0.000", "no phrase of the tiny model jumps"
    assert capsys.readouterr().out.split("\n")[0].startswith("Coh1 0.1: ")
