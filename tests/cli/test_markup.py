"""Mark-up and constraints in every command that reads documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpusearch.cli.main import run
from tests.tiny import TINY, with_chains

MARKED = ['la <x translation="home||castle" prob="0.1||0.9">maison</x> bleue .', "", "le chien xyz dort ."]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("\n".join(MARKED) + "\n", encoding="utf-8")
    Path("ids").write_text("x\nx\ny\n")


def decoded(*more: str, source: str = "in") -> list[str]:
    ids = ["--docids", "ids"] if source == "in" else []
    assert run(["decode", "-c", str(TINY), source, *ids, "-o", "out", "-q", *with_chains(8, *more)]) == 0
    return Path("out").read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.complaint(22)
def test_mark_up_is_off_by_default() -> None:
    """Tags are words like others."""
    assert decoded()[0] == 'the <x translation="home||castle" prob="0.1||0.9">maison</x> blue .'


@pytest.mark.complaint(21)
@pytest.mark.parametrize("method", ["search", "beam"])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [("ignore", "the blue house ."), ("inclusive", "the blue house ."), ("exclusive", "the blue castle .")],
)
def test_each_kind_in_search_and_beam(method: str, kind: str, expected: str) -> None:
    lines = decoded("--xml-input", kind, "--method", method)
    assert lines[:2] == [expected, ""] and len(lines) == 3


@pytest.mark.complaint(21)
def test_mark_up_in_score_and_bench(capsys: pytest.CaptureFixture[str]) -> None:
    """`castle` can be scored where it is given, and only there."""
    Path("trace").write_text(
        "the |0-0| castle |1-1| blue |2-2| . |3-3|\nthe |0-0| dog |1-1| xyz |2-2| sleeps |3-3| . |4-4|\n"
    )
    score = ["score", "-c", str(TINY), "--translation", "trace", "in", "--docids", "ids"]
    assert run(score) == 2
    assert run([*score, "--set", "text.xml_input=ignore"]) == 2
    assert "no translation option of document 1, sentence 1" in capsys.readouterr().err
    for kind in ("inclusive", "exclusive"):
        assert run([*score, "--set", f"text.xml_input={kind}"]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]
        assert [row["score"] is None for row in rows] == [False] * 3
    bench = ["bench", "-c", str(TINY), "in", "--seconds", "0.01", "--chains", "2", "--json"]
    assert run([*bench, "--set", "text.xml_input=exclusive"]) == 0


@pytest.mark.complaint(20)
@pytest.mark.complaint(21)
def test_faulty_mark_up_is_an_error_before_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_text('la maison\nle <x translation="a">chien\n')
    assert run(["decode", "-c", str(TINY), "in", "--xml-input", "exclusive"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "a tag in document 1, segment 2 without its end" in err
    assert run(["decode", "-c", str(TINY), "in", "--xml-input", "constraint"]) == 2


@pytest.mark.complaint(20)
def test_a_tag_without_words_that_gives_a_translation_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Written as one tag or as two: it would be lost in silence."""
    for tag in ('<x translation="a"/>', '<x translation="a"></x>'):
        Path("in").write_text(f"la {tag} maison\n")
        assert run(["decode", "-c", str(TINY), "in", "--xml-input", "inclusive"]) == 2
        assert "a tag in document 1, segment 1 with no words inside" in capsys.readouterr().err
    Path("in").write_text("la <br/> maison\n")
    assert run(["decode", "-c", str(TINY), "in", "--xml-input", "inclusive", "-q", "--chains", "2"]) == 0


def test_brackets_of_ones_own() -> None:
    Path("in").write_text('la {{x translation="castle"}}maison{{/x}} <bleue> .\n\nle chien\n')
    lines = decoded("--xml-input", "exclusive", "--set", 'text.xml_brackets=["{{", "}}"]')
    assert lines[0] == "the castle <bleue> ."


@pytest.mark.complaint(23)
def test_unknown_words_are_marked_or_dropped_on_request() -> None:
    ignore = ("--xml-input", "ignore")
    assert decoded(*ignore)[2] == "the dog xyz sleeps ."
    assert decoded(*ignore, "--mark-unknown")[2] == "the dog UNKxyz sleeps ."
    assert decoded(*ignore, "--mark-unknown", "--set", "text.unknown_suffix=!")[2] == "the dog UNKxyz! sleeps ."
    assert decoded(*ignore, "--drop-unknown")[2] == "the dog sleeps ."


def test_constraints_of_jsonl() -> None:
    """Whatever xml_input is; positions are those of the output's `phrases`."""
    segments = [
        {"src": "la maison bleue .", "constraints": [{"span": [1, 2], "translations": ["castle"], "exclusive": True}]},
        {"src": "la maison bleue .", "constraints": [{"span": [1, 2], "forbidden": ["blue house"]},
                                                     {"span": [1, 1], "forbidden": ["house"]}]},
        {"src": "une maison", "constraints": [{"span": [0, 1], "translations": ["flat", "a flat"], "prob": [1, 9e9]}]},
    ]  # fmt: skip
    Path("in.jsonl").write_text(json.dumps({"doc_id": "d", "segments": segments}) + "\n")
    row = json.loads(decoded(source="in.jsonl")[0])
    assert [segment["hyp"] for segment in row["segments"]] == ["the castle .", "the blue home .", "a flat"]
    assert row["segments"][0]["phrases"][1] == {"span": [1, 2], "words": "castle"}
    assert row["segments"][0]["constraints"] == segments[0]["constraints"]


@pytest.mark.parametrize(
    "constraint",
    [
        7,
        {"span": [0]},
        {"span": [0, 9]},
        {"span": [0, 0], "translations": "a"},
        {"span": [0, 0], "translations": ["a"], "prob": [1, 2]},
        {"span": [0, 0], "translations": ["a"], "prob": [-1]},
        {"span": [0, 0], "exclusive": True},
        {"span": [0, 0], "exclusive": 1},
        {"span": [0, 0], "translation": ["a"]},
        {"span": [0, True]},
    ],
)
def test_faulty_constraints_are_named(constraint: object, capsys: pytest.CaptureFixture[str]) -> None:
    Path("in.jsonl").write_text(json.dumps({"doc_id": "d", "segments": [{"src": "la", "constraints": [constraint]}]}))
    assert run(["decode", "-c", str(TINY), "in.jsonl"]) == 2
    assert "document 1, se" in capsys.readouterr().err
