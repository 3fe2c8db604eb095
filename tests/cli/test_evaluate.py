"""`gpusearch eval`: what it prints, and how it ends."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
import sacrebleu

from gpusearch.cli.main import run
from gpusearch.metrics import METRICS

HYPOTHESES = ["the cat sat on the mat", "a dog ran", "so it is here now", "and there it was"]
OTHERS = ["the cat is on the mat", "the dog ran away", "so it was here", "there it was"]
REFERENCES = ["the cat sat on a mat", "the dog ran away", "so it is now here", "And it was there"]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("hyp", HYPOTHESES), ("other", OTHERS), ("ref", REFERENCES), ("ids", ["x", "x", "y", "z"])):
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    """All metrics unless some are asked for, one a line, aligned, each with its signature."""
    assert run(["eval", "hyp", "--ref", "ref", "--docids", "ids"]) == 0
    out, err = capsys.readouterr()
    lines = out.split("\n")[:-1]
    assert [line.split()[0] for line in lines] == ["BLEU", "chrF2", "TER", "NIST", "d-BLEU", "4"]
    expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES])
    assert lines[0].split()[1:] == [f"{expected.score:.2f}", "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"
                                    + sacrebleu.__version__]  # fmt: skip
    assert len({line.index("nrefs:") for line in lines[:-1]}) == 1
    assert lines[-2].endswith("|unit:doc") and lines[-1] == "4 segments, 3 documents"
    assert err == ""


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["eval", "hyp", "--ref", "ref", "--ref", "other", "--metrics", "chrf, bleu", "--lowercase", "--json"]
    assert run(arguments) == 0
    result = json.loads(capsys.readouterr().out)
    assert {key: result[key] for key in ("hypotheses", "references", "segments", "documents")} == {
        "hypotheses": "hyp",
        "references": ["ref", "other"],
        "segments": 4,
        "documents": 1,
    }
    chrf, bleu = result["metrics"]
    assert (chrf["name"], bleu["name"]) == ("chrF2", "BLEU")
    expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES, OTHERS], lowercase=True).score
    assert bleu["score"] == pytest.approx(expected)
    assert "nrefs:2|case:lc" in bleu["signature"]


def test_paired(capsys: pytest.CaptureFixture[str]) -> None:
    """Intervals and both p-values over documents; the same numbers for the same seed."""
    arguments = ["eval", "hyp", "--ref", "ref", "--paired", "other", "--docids", "ids", "--resamples", "50"]
    assert run(arguments) == 0
    table = capsys.readouterr().out
    assert run(arguments) == 0 and capsys.readouterr().out == table
    assert table.split("\n")[0].split() == [
        *("score", "other", "difference", "95", "%", "interval", "p", "boot", "p", "rand", "units", "signature")
    ]
    assert table.count("3 documents") == len(METRICS) + 1
    assert run([*arguments, "--json", "--seed", "7"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["paired"] == "other"
    for metric in result["metrics"]:
        low, high = metric["difference_interval"]
        assert low <= metric["difference"] <= high
        assert metric["difference"] == pytest.approx(metric["score"] - metric["other"])
        assert 0 < metric["p_bootstrap"] <= 1 and metric["p_randomization"] * 8 in range(1, 9)
        assert (metric["unit"], metric["units"], metric["resamples"], metric["seed"]) == ("document", 3, 50, 7)


def test_paired_without_documents_resamples_segments(capsys: pytest.CaptureFixture[str]) -> None:
    """One document is no sample: metrics of segments are tested on segments, document BLEU is not tested."""
    assert run(["eval", "hyp", "--ref", "ref", "--paired", "other", "--metrics", "bleu,dbleu"]) == 0
    _, bleu, dbleu, _ = capsys.readouterr().out.removesuffix("\n").split("\n")
    assert "4 segments" in bleu
    assert dbleu.split()[2:8] == ["-"] * 6
    assert run(["eval", "hyp", "--ref", "ref", "--paired", "other", "--metrics", "bleu,dbleu", "--json"]) == 0
    bleu, dbleu = json.loads(capsys.readouterr().out)["metrics"]
    assert bleu["unit"] == "segment" and "p_bootstrap" not in dbleu


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("ref").read_bytes())))
    assert run(["eval", "-", "--ref", "ref", "--metrics", "bleu"]) == 0
    assert capsys.readouterr().out.startswith("BLEU  100.00  ")


FAULTS = [
    (["hyp", "--ref", "short"], "gpusearch: error: short: another number of lines; found 1; expected 4 as in hyp\n"),
    (["hyp", "--ref", "none"], "gpusearch: error: none: cannot read the file (No such file or directory)\n"),
    (
        ["hyp", "--ref", "ref", "--metrics", "bleu,meteor"],
        "gpusearch: error: unknown metric; found 'meteor'; expected bleu, chrf, ter, nist, dbleu\n",
    ),
    (["empty", "--ref", "empty"], "gpusearch: error: no segment to score\n"),
]


@pytest.mark.parametrize(("arguments", "message"), FAULTS)
def test_faults(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    """Exit code 2 and a message; standard output stays empty."""
    Path("short").write_text("one line\n", encoding="utf-8")
    Path("empty").write_text("", encoding="utf-8")
    assert run(["eval", *arguments]) == 2
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("hyp --ref ref --resamples 10", "--resamples would have no effect; expected --paired"),
        ("hyp --ref ref --seed 7", "--seed would have no effect; expected --paired"),
        ("hyp --ref ref --system a", "a system is named (a); found translations as text; expected WMT XML"),
        ("hyp.tsv --ref ref.tsv --docids ids", "ids: a file of document ids for forms that have their own"),
    ],
)
def test_options_without_effect(options: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("hyp", "ref"):
        rows = [f"d\t{place}\t{line}" for place, line in enumerate(Path(name).read_text().split("\n")[:-1])]
        Path(f"{name}.tsv").write_text("\n".join(rows) + "\n")
    assert run(["eval", *options.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err
