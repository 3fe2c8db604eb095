"""`gpusearch decode --nbest-list` and `--alignment-file`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpusearch.cli.main import run
from gpusearch.io.nbest import NBestEntry, read_n_best
from tests.tiny import TINY

SOURCE = ["la maison bleue .", "", "le petit chien ne dort pas .", "xyz dans la maison"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("\n".join(SOURCE) + "\n", encoding="utf-8")
    Path("ids").write_text("x\nx\ny\ny\n")


def decode(*more: str) -> None:
    assert run(["decode", "-c", str(TINY), "in", "--docids", "ids", "-o", "out", "-q", "--chains", "16", *more]) == 0


def listed(*more: str) -> list[NBestEntry]:
    decode("--nbest-list", "list", "--steps", "0", *more)
    return list(read_n_best("list"))


@pytest.mark.complaint(7)
@pytest.mark.complaint(15)
def test_lists_of_each_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """All sentences in order, the empty one once, best first; totals and features are those of `gpusearch score`."""
    entries = listed()
    assert sorted({entry.sentence for entry in entries}) == [0, 1, 2, 3]
    assert [entry.words for entry in entries if entry.sentence == 1] == [()]
    assert len([entry for entry in entries if entry.sentence == 2]) > 3
    text = Path("out").read_text().split("\n")
    best_of = [next(entry for entry in entries if entry.sentence == n) for n in range(4)]
    assert [" ".join(entry.words) for entry in best_of] == text[:4]
    order = [name for name, _ in best_of[0].features]
    assert order == ["Distortion0", "LM0", "WordPenalty0", "PhrasePenalty0", "TranslationModel0"]
    capsys.readouterr()
    for n in (0, 2):
        mine = [entry for entry in entries if entry.sentence == n]
        assert [entry.total for entry in mine] == sorted((entry.total for entry in mine), reverse=True)
        for entry in mine:
            trace = " ".join(f"{' '.join(words)} |{a}-{b - 1}|".strip() for a, b, words in entry.phrases)
            Path("one").write_text(SOURCE[n] + "\n")
            Path("trace").write_text(trace + "\n")
            assert run(["score", "-c", str(TINY), "--translation", "trace", "one"]) == 0
            row = json.loads(capsys.readouterr().out)
            assert row["score"] == pytest.approx(entry.total, rel=1e-5, abs=1e-5)
            assert row["features"]["LM0"] == pytest.approx(dict(entry.features)["LM0"][0], rel=1e-5, abs=1e-5)


@pytest.mark.complaint(13)
def test_distinct_lists_repeat_no_string() -> None:
    def texts(entries: list[NBestEntry]) -> list[tuple[int, tuple[str, ...]]]:
        return [(entry.sentence, entry.words) for entry in entries]

    plain, distinct = texts(listed()), texts(listed("--distinct"))
    assert len(set(plain)) < len(plain)
    assert distinct == list(dict.fromkeys(plain))
    assert len(listed("--nbest-size", "1")) == 4


def test_lists_as_jsonl() -> None:
    entries = listed()
    decode("--nbest-list", "list.jsonl", "--steps", "0")
    rows = [json.loads(line) for line in Path("list.jsonl").read_text().split("\n")[:-1]]
    assert [(row["id"], tuple(row["words"].split())) for row in rows] == [(e.sentence, e.words) for e in entries]
    assert next((row["doc"], row["seg"]) for row in rows if row["id"] == 2) == ("y", 1)
    for row, entry in zip(rows, entries, strict=True):
        assert row["score"] == pytest.approx(entry.total, rel=1e-5, abs=1e-5)
        assert [tuple(phrase["span"]) for phrase in row["phrases"]] == [(a, b - 1) for a, b, _ in entry.phrases]


@pytest.mark.complaint(16)
@pytest.mark.complaint(17)
def test_alignments_have_a_line_a_segment_and_positions_of_the_sentence() -> None:
    """`blue house` turns its words around inside a phrase; its positions count on from the phrases before it."""
    decode("--alignment-file", "points")
    assert Path("out").read_text().split("\n")[0] == "the blue house ."
    lines = Path("points").read_text().split("\n")
    assert lines[0] == "0-0 1-2 2-1 3-3"
    assert lines[1] == "" and lines[3] == "0-0 1-1 2-2 3-3" and len(lines) == 5
