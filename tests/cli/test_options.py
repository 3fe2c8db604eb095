"""Options become settings of the configuration as they were given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpusearch.cli.options import overrides_of
from gpusearch.config import load_config
from tests.tiny import TINY


@pytest.mark.parametrize(
    ("group", "values"),
    [
        ("search", {"chains": 7, "seed": 0, "time_limit": 0.5, "device": "cpu", "preset": None}),
        ("search", {"time_limit": 1e-05}),
        ("text", {"mark_unknown": True, "lowercase": False}),
        ("text", {"unknown_prefix": '1 "\\" \t\u00a0\U0001f600='}),
        ("text", {"unknown_prefix": "true"}),
    ],
)
def test_values_come_through(group: str, values: dict[str, Any]) -> None:
    """Numbers, truth values, and texts that look like something else or need to be escaped."""
    made = load_config(TINY, overrides_of(group, values)).model_dump()[group]
    assert {key: made[key] for key, value in values.items() if value is not None} == {
        key: value for key, value in values.items() if value is not None
    }


@pytest.mark.parametrize("name", ["1", "true", "a b=c", '"', "\U0001f600.trace"])
def test_names_of_files_come_through(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked for in the present folder."""
    monkeypatch.chdir(tmp_path)
    made = load_config(TINY, overrides_of("search", {"initial": "file", "initial_file": Path(name)}))
    assert made.search.initial_file == tmp_path / name
