"""The text of a training: models and tokens that decoding will agree with."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from gpusearch.config import TextConfig
from gpusearch.errors import InputError
from gpusearch.text import make_processor
from gpusearch.text.processor import Side
from gpusearch.train.text import prepare_text, settle_text

LINES = [
    "The Act is the act.",
    "",
    "Of the ACT: l’Act (net-zero)\u00a0!",
    "the “items” of 2(1);",
    "The&lt; act",
    unicodedata.normalize("NFD", "L’été\u00a0; l’Été"),
] * 4

SETTINGS: list[dict[str, Any]] = [
    {"tokenizer": "none", "unescape": True, "lowercase": True},
    {"tokenizer": "moses", "truecase": True},
    {"tokenizer": "moses", "split_hyphens": True, "normalize": True, "nfc": False},
    {"tokenizer": "moses", "lowercase": True},
    {"tokenizer": "sentencepiece"},
    {"tokenizer": "sentencepiece", "nfc": False},
]


def prepare(folder: Path, settings: dict[str, Any]) -> tuple[TextConfig, dict[Side, Path]]:
    """Both sides of the same text, and the tokens of each."""
    raw = folder / "raw"
    raw.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    tokenizer, cased = settings["tokenizer"], settings.get("truecase", False)
    config = settle_text(
        [raw, raw], tokenizer=tokenizer, languages=["fr", "en"], truecase=cased, lowercase=False, folder=folder
    )
    config = config.model_copy(update=settings)
    tokens: dict[Side, Path] = {"source": folder / "tokens.source", "target": folder / "tokens.target"}
    prepare_text([raw, raw], [*tokens.values()], config, pieces=60)
    return config, tokens


@pytest.mark.parametrize("settings", SETTINGS)
def test_tokens_are_those_of_decoding(tmp_path: Path, settings: dict[str, Any]) -> None:
    config, tokens = prepare(tmp_path, settings)
    for side, path in tokens.items():
        processor = make_processor(config, side)
        assert path.read_text(encoding="utf-8").split("\n")[:-1] == [
            " ".join(processor.to_tokens(line)) for line in LINES
        ]


def test_equal_text_gives_equal_files(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        prepare(folder, {"tokenizer": "moses", "truecase": True})
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert found[0] == found[1] and len(found[0]) == 6


@pytest.mark.parametrize("tokenizer", ["moses", "sentencepiece"])
def test_models_know_composed_letters_only(tmp_path: Path, tokenizer: str) -> None:
    """Text that is decomposed leaves what text that is composed leaves, and so do the spaces of its writing."""
    config, _ = prepare(tmp_path, {"tokenizer": tokenizer})
    processor = make_processor(config, "target")
    assert processor.to_text(processor.to_tokens(LINES[5])) == "L’été\u00a0; l’Été"
    for path in tmp_path.glob("*.target"):
        assert "\N{COMBINING ACUTE ACCENT}".encode() not in path.read_bytes()


@pytest.mark.parametrize("side", [0, 1])
def test_a_name_is_no_language(tmp_path: Path, side: int) -> None:
    languages = ["en", "en"]
    languages[side] = "French"
    with pytest.raises(InputError) as error:
        settle_text(
            [tmp_path, tmp_path],
            tokenizer="moses",
            languages=languages,
            truecase=False,
            lowercase=False,
            folder=tmp_path,
        )
    assert str(error.value) == (
        f"--{('source', 'target')[side]}-language is no code of ISO 639; found 'French'; "
        "expected two letters, such as fr, or three for a language that has no two"
    )
