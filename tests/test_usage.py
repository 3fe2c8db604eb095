"""What experiments say of how they are called is what they understand."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXPERIMENTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "configs").rglob("*.py")
    if "\nusage: " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_options_of_the_usage_are_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(name)
    assert module.__doc__ is not None
    with pytest.raises(SystemExit):
        module.main(["--help"])
    _, _, options = capsys.readouterr().out.rpartition("\noptions:")
    named = set(re.findall(r"(?<![\w-])--\w[\w-]*", module.__doc__))
    assert named <= set(re.findall(r"--\w[\w-]*", options))
