"""Preparing a side for training: models and tokens that decoding will agree with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpusearch.config import TextConfig
from gpusearch.errors import InputError
from gpusearch.text import make_processor, prepare_side

LINES = ["The Act is the act.", "", "Of the ACT: l’Act (net-zero)\u00a0!", "the “items” of 2(1);", "The&lt; act"] * 4

SETTINGS: list[dict[str, Any]] = [
    {"tokenizer": "none", "unescape": True, "lowercase": True},
    {"tokenizer": "moses", "truecase": True},
    {"tokenizer": "moses", "truecase": False, "split_hyphens": True, "normalize": True},
    {"tokenizer": "moses", "lowercase": True},
    {"tokenizer": "sentencepiece", "truecase": False},
]


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_tokens_are_those_of_decoding(tmp_path: Path, settings: dict[str, Any], side: Any) -> None:
    raw, tokens = tmp_path / "raw", tmp_path / "tokens"
    raw.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    files = prepare_side(raw, tokens, tmp_path, side, language="en", vocabulary_size=50, **settings)
    other_side = {
        key.replace(side, {"source": "target", "target": "source"}[side]): path for key, path in files.items()
    }
    config = TextConfig.model_validate(
        {"source_language": "en", "target_language": "en", **settings, **files, **other_side}
    )
    processor = make_processor(config, side)
    assert tokens.read_text(encoding="utf-8").split("\n")[:-1] == [
        " ".join(processor.to_tokens(line)) for line in LINES
    ]
    assert all(path.parent == tmp_path and path.is_file() for path in files.values())


def test_equal_text_gives_equal_files(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.write_text("\n".join(LINES), encoding="utf-8")
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        files = prepare_side(raw, tmp_path / name / "tokens", tmp_path / name, "target", language="en")
        found.append([path.read_bytes() for path in (tmp_path / name / "tokens", *files.values())])
    assert found[0] == found[1] and len(found[0]) == 3


def test_language_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        prepare_side(tmp_path / "raw", tmp_path / "tokens", tmp_path, "target")
    assert str(error.value) == 'tokenizer = "moses" without a language; give the target\'s'
