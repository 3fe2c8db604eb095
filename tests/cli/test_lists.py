"""`gpusearch decode --nbest-list` and `--alignment-file`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpusearch.cli.main import run
from gpusearch.io.nbest import NBestEntry, read_n_best
from tests.tiny import TINY, with_chains

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


@pytest.mark.complaint(7)
@pytest.mark.complaint(17)
@pytest.mark.parametrize("method", ["search", "beam"])
def test_border_lines_of_plain_text_count(method: str) -> None:
    """Alignments go line by line with the input and the output, and lists have the numbers of its lines."""
    Path("in").write_text("\nla maison\n\n \t\nune maison\nle chien\n\n")
    more = ["--nbest-list", "list", "--nbest-size", "2", "--alignment-file", "points", "--method", method]
    assert run(["decode", "-c", str(TINY), "in", "-o", "out", "-q", *with_chains(4, *more)]) == 0
    assert Path("out").read_text().split("\n") == ["", "the house", "", "", "a house", "the dog", "", ""]
    assert Path("points").read_text().split("\n") == ["", "0-0 1-1", "", "", "0-0 1-1", "0-0 1-1", "", ""]
    best: dict[int, NBestEntry] = {}
    for entry in read_n_best("list"):
        best.setdefault(entry.sentence, entry)
    assert {number: " ".join(entry.words) for number, entry in best.items()} == dict(
        enumerate(["", "the house", "", "", "a house", "the dog", ""])
    )
    assert run(["decode", "-c", str(TINY), "in", "-o", "out", "-q", "--nbest-list", "list.jsonl"]) == 0
    rows = [json.loads(line) for line in Path("list.jsonl").read_text().split("\n")[:-1]]
    assert {(row["id"], row["doc"], row["seg"]) for row in rows} == {(1, 1, 1), (4, 2, 1), (5, 2, 2)}


@pytest.mark.complaint(6)
@pytest.mark.parametrize(
    ("word", "more"), [("|||", ("--nbest-list", "list")), ("|3-4|", ("--format", "trace"))], ids=["list", "trace"]
)
def test_words_that_an_output_cannot_hold_are_named_before_the_search(
    word: str, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """They are words like others for all other outputs, and where they are not copied."""
    Path("in").write_text(f"la\nla {word} maison\n")
    arguments = ["decode", "-c", str(TINY), "in", "-o", "out", "-q", "--chains", "2"]
    assert run([*arguments, *more]) == 2
    assert "document 1, segment 2 has a word that" in capsys.readouterr().err
    assert not Path("out").exists()
    assert run([*arguments, *more, "--mark-unknown"]) == 0
    assert run([*arguments, "--nbest-list", "list.jsonl"]) == 0
    assert Path("out").read_text() == f"the\nthe {word} house\n"


def test_what_one_output_cannot_hold_does_not_cost_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    """A given translation with a border in it: the list is refused, the rest is written."""
    segment = {"src": "la maison", "constraints": [{"span": [1, 1], "translations": ["|||"], "exclusive": True}]}
    Path("in.jsonl").write_text(json.dumps({"doc_id": "d", "segments": [segment]}))
    arguments = ["decode", "-c", str(TINY), "in.jsonl", "-o", "out", "-q", "--format", "text", "--nbest-list", "list"]
    assert run([*arguments, "--alignment-file", "points", "--save-state", "state", "--score-file", "scores"]) == 2
    err = capsys.readouterr().err
    assert "a word that an n-best list cannot hold" in err and "gpusearch:" in err
    assert Path("out").read_text() == "the |||\n"
    assert all(Path(name).stat().st_size for name in ("points", "state", "scores"))
    assert not Path("list").exists()
