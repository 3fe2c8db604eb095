"""`gpusearch train` as it is typed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from gpusearch.cli.main import run
from gpusearch.config import load_config
from gpusearch.io.files import read_lines


@pytest.fixture
def pair(tmp_path: Path, repository: Path) -> list[str]:
    for language in ("fr", "en"):
        lines = islice(read_lines(repository / f"examples/laws/train.{language}"), 60)
        (tmp_path / f"{language}.txt").write_text("".join(f"{line}\n" for line in lines))
    return [str(tmp_path / "fr.txt"), str(tmp_path / "en.txt")]


def test_the_command_that_the_readme_shows(pair: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Languages come from the names; the result is a folder, so that standard output stays empty."""
    assert run(["train", *pair, "-o", str(tmp_path / "model")]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.split("\n")[0].split() == ["stage", "seconds", "CPU", "seconds", "peak", "MB"]
    config = load_config(tmp_path / "model/model.toml")
    assert (config.text.source_language, config.text.target_language) == ("fr", "en")
    assert config.language_model[0].order == 5


def test_options_reach_the_model(pair: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = "--lowercase --no-truecase --order 3 --reordering mslr --kneser-ney-phrases --min-count 2 --quiet"
    more = ["--max-phrase-length", "3", "--significance", "alpha+epsilon", "--aligner", "fast_align", "--threads", "1"]
    assert run(["train", *pair, "-o", str(tmp_path / "model"), *options.split(), *more]) == 0
    assert capsys.readouterr() == ("", "")
    config = load_config(tmp_path / "model/model.toml")
    assert config.text.lowercase and not config.text.truecase
    assert config.reordering_model[0].type == "wbe-mslr-bidirectional-fe-allff"
    assert len(config.reordering_model[0].weights) == 8
    rows = list(read_lines(config.phrase_table[0].path))
    assert rows
    assert all(len(row.split(" ||| ")[0].split(" ")) <= 3 for row in rows)
    assert all(int(row.rsplit(" ", 1)[1]) >= 2 for row in rows)


def test_no_reordering_table(pair: list[str], tmp_path: Path) -> None:
    options = ["--reordering", "none", "--tokenizer", "none", "--order", "2", "-q"]
    assert run(["train", *pair, "-o", str(tmp_path / "model"), *options]) == 0
    assert not (tmp_path / "model/reordering-table.gz").exists()
    assert load_config(tmp_path / "model/model.toml").reordering_model == ()


def test_subwords(pair: list[str], tmp_path: Path) -> None:
    options = ["--tokenizer", "sentencepiece", "--sentencepiece-size", "300", "--order", "2", "-q"]
    assert run(["train", *pair, "-o", str(tmp_path / "model"), *options]) == 0
    text = load_config(tmp_path / "model/model.toml").text
    assert text.sentencepiece_source == tmp_path / "model/sentencepiece.source"


def test_texts_of_different_lengths(pair: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(pair[1]).write_text("one\n")
    assert run(["train", *pair, "-o", str(tmp_path / "model")]) == 2
    message = (
        f"gpusearch: error: {pair[1]}: not as many lines as the source text has; found 1; expected 60 as in {pair[0]}"
    )
    assert capsys.readouterr().err.strip() == message
    assert not (tmp_path / "model").exists()


def test_an_unknown_tokenizer(pair: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", *pair, "-o", str(tmp_path / "model"), "--tokenizer", "spacy"]) == 2
    expected = "unknown tokenizer; found 'spacy'; expected moses | sentencepiece | none"
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--alignment x --aligner hmm", "--aligner would have no effect; expected no --alignment"),
        ("--sentencepiece-size 300", "--sentencepiece-size would have no effect; expected --tokenizer sentencepiece"),
        ("--truecase --lowercase", "--truecase would have no effect"),
        ("--truecase --tokenizer none", "--truecase would have no effect; expected --tokenizer moses"),
    ],
)
def test_options_without_effect(
    pair: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    assert run(["train", *pair, "-o", str(tmp_path / "model"), *options.split()]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
