"""`gpusearch train-lm`: what it writes and prints, and how it ends."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gpusearch.cli.main import run
from gpusearch.io.arpa import read_arpa
from gpusearch.model.language_model import LanguageModel
from tests.lmplz import NEEDS_LMPLZ


@pytest.fixture(autouse=True)
def _text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("a b c\na b d\na c\n" * 2)
    Path("more").write_text("b c e\n")


def test_a_model_is_written_and_its_figures_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train-lm", "text", "more", "--order", "3", "-o", "lm.arpa.gz", "--threads", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    arpa = read_arpa("lm.arpa.gz", cache=False)
    assert arpa.order == 3 and Path("lm.arpa.gz").read_bytes()[:2] == b"\x1f\x8b"
    lines = err.split("\n")[:-1]
    assert lines[0].split(" ")[-1] == "D3+"
    assert [[word for word in line.split(" ") if word][:2] for line in lines[1:4]] == [
        [str(n), str(len(ids))] for n, ids in enumerate(arpa.ids, 1)
    ]
    assert lines[4].startswith("19 tokens; read ")


def test_options_reach_the_estimator(capsys: pytest.CaptureFixture[str]) -> None:
    """Pruning, the vocabulary, and one more text from standard input's place."""
    Path("words").write_text("a b c\n")
    arguments = ["train-lm", "text", "--order", "3", "-o", "lm.arpa", "--vocab", "words", "--prune", "0, 0 2", "-q"]
    assert run([*arguments, "--memory", "100MB"]) == 0
    assert capsys.readouterr() == ("", "")
    arpa = read_arpa("lm.arpa", cache=False)
    assert list(arpa.vocabulary) == ["<unk>", "<s>", "</s>", "a", "b", "c"]
    assert [[arpa.vocabulary[word] for word in row] for row in arpa.ids[2].tolist()] == [["<s>", "a", "b"]]


def test_text_may_be_compressed(capsys: pytest.CaptureFixture[str]) -> None:
    Path("text.gz").write_bytes(gzip.compress(Path("text").read_bytes()))
    for text in ("text", "text.gz"):
        assert run(["train-lm", text, "--order", "2", "-q", "-o", f"{text}.arpa"]) == 0
    assert Path("text.arpa").read_bytes() == Path("text.gz.arpa").read_bytes()


@pytest.mark.parametrize("tool", ["own", pytest.param("lmplz", marks=NEEDS_LMPLZ)])
def test_reverse_is_a_model_of_reversed_sentences(tool: str) -> None:
    """To the byte the model of a text whose lines were turned around; another one than that of the text."""
    Path("text").write_text("a b c\n\n  a\tb d\r\na c é\n" * 2, encoding="utf-8")
    Path("turned").write_text("c b a\n\nd b a\né c a\n" * 2, encoding="utf-8")
    for name, text, more in (("one", "text", ["--reverse"]), ("other", "turned", []), ("plain", "text", [])):
        assert run(["train-lm", text, "--order", "3", "-q", "--lm-tool", tool, "-o", f"{name}.arpa", *more]) == 0
    assert Path("one.arpa").read_bytes() == Path("other.arpa").read_bytes() != Path("plain.arpa").read_bytes()
    one, turned = (LanguageModel.from_arpa(f"{name}.arpa") for name in ("one", "other"))
    words = ["b", "é", "x", "c"]
    scores = [model.score(model.index(words[::-1])[None], [4]) for model in (one, turned)]
    assert scores[0] == scores[1] < 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent"], "absent: cannot read the file (No such file or directory)"),
        (["text", "--prune", "few"], "unusable pruning thresholds; found 'few'; expected numbers, such as \"0 0 1\""),
        (["text", "--lm-tool", "other"], "unknown tool for language models; found 'other'; expected own | lmplz"),
        (
            ["more", "--no-discount-fallback"],
            "too little text, or too regular, for the discounts of 1-grams; found n-grams by count: 4 with 1, "
            "0 with 2, 0 with 3, 0 with 4; allow fixed discounts (--discount-fallback)",
        ),
    ],
)
def test_faults_end_with_a_message(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train-lm", *arguments, "-o", "lm.arpa"]) == 2
    assert capsys.readouterr().err == f"gpusearch: error: {message}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["more", "text"]


@pytest.mark.complaint(30)
def test_help_says_which_logarithm(capsys: pytest.CaptureFixture[str]) -> None:
    """Complaint 30: log10 in the file."""
    assert run(["train-lm", "--help"]) == 0
    assert "log10" in capsys.readouterr().out
