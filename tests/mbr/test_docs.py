"""docs/decision.md as a reader follows it: its files, its commands, and the names of all that is written."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from gpusearch.cli.main import run
from gpusearch.mbr.matrix import utilities
from gpusearch.mbr.named import make_utility


@pytest.fixture
def page(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page; its files lie in the working folder."""
    text = (repository / "docs" / "decision.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(r"```\w+ (\S+)\n(.*?)```", text, flags=re.DOTALL):
        Path(name).write_text(content, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "my_utility", raising=False)
    return text


def keys_of(page: str, title: str, table: int = 0) -> list[str]:
    """What stands in code in the first column of a table of a section."""
    section = re.split(r"^#+ ", page, flags=re.MULTILINE)
    (text,) = [part for part in section if part.startswith(title)]
    tables = re.findall(r"\n\|---.*\n((?:\|.*\n)+)", text)
    return [name for row in tables[table].splitlines() for name in re.findall(r"`([^`]*)`", row.split("|")[1])]


def test_commands_decide_as_worked_by_hand(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The first sentence has the most words in common with the other two, or the best score of the file."""
    commands = re.findall(r"\n    gpusearch (mbr .*)\n", page)
    assert len(commands) == 2
    for command, first in zip(commands, ("the cat sat", "the cat sits"), strict=True):
        assert run([*shlex.split(command), "-q"]) == 0
        assert capsys.readouterr().out == f"{first}\nwell then\n"


def test_values_of_the_function(page: str) -> None:
    texts = ["the cat sat", "the cat sits", "a dog ran"]
    expected = [[1, 2 / 3, 0], [2 / 3, 1, 0], [0, 0, 1]]
    assert np.allclose(utilities(make_utility(["my_utility:overlap"]), texts, texts), expected)


@pytest.mark.parametrize("unit", ["sentence", "document"])
def test_arrays_are_those_of_the_page(unit: str, page: str) -> None:
    saving = ["--save-matrix", "m.npz", "--unit", unit, "--utility", "my_utility:overlap", "-q", "-o", "out"]
    assert run(["mbr", "list.jsonl", *saving]) == 0
    patterns = [name.replace("S", r"\d+").replace("D", r"\d+") for name in keys_of(
        page, "`--save-matrix`", ["sentence", "document"].index(unit)
    )]  # fmt: skip
    with np.load("m.npz", allow_pickle=False) as saved:
        found = {pattern: [name for name in saved.files if re.fullmatch(pattern, name)] for pattern in patterns}
        assert all(found.values()) and sum(map(len, found.values())) == len(saved.files)
        every = ["the cat sat", "the cat sits", "a dog ran"]
        expected = utilities(make_utility(["my_utility:overlap"]), sorted(every), sorted(every))
        texts, weights = saved["0.texts" if unit == "sentence" else "0.0.texts"].tolist(), saved["0.weights"]
        assert texts == sorted(every) and weights.sum() == pytest.approx(1)
        if unit == "sentence":
            assert np.allclose(saved["0.utilities"], expected)
        else:  # with the other sentence, of which all agree
            place = saved["0.rows"][:, 0]
            assert np.allclose(saved["0.utilities"], (expected[np.ix_(place, place)] + 1) / 2)


def test_keys_are_those_of_the_page(page: str) -> None:
    """Of segments and of documents; each of the page's keys comes from some of the runs."""
    listed, seen = keys_of(page, "`--format jsonl`"), set[str]()
    for more in (
        ["--nbest", "2", "--bootstrap", "9"],
        ["--rule", "maxderiv"],
        ["--unit", "document", "--select", "recombine"],
    ):
        assert run(["mbr", "list.jsonl", *more, "--format", "jsonl", "-q", "-o", "out"]) == 0
        row = json.loads(Path("out").read_text(encoding="utf-8"))
        mine = row if "document" in more else row["segments"][0]
        seen |= mine.keys() - {"doc_id", "segments", "src", "hyp"}
        for name in ("bootstrap", "starts"):
            inner = mine.get(name, {})
            inner = next(iter(inner.values())) if name == "starts" and inner else inner
            assert all(f"`{key}`" in page for key in inner)
    assert seen | {"probability"} == {*listed, "probability"} and "`probability`" in page


def test_keys_of_candidates_are_those_of_the_page(page: str) -> None:
    """All of them in one entry, and one more that is passed over."""
    listed = keys_of(page, "Decisions among candidates", 1)
    values = {"id": 0, "words": "a", "score": None, "phrases": [], "chain": 1, "doc": "x", "seg": "1"}
    assert sorted(listed) == sorted(values)
    Path("all").write_text(json.dumps({**values, "other": 1}) + "\n", encoding="utf-8")
    assert run(["mbr", "all", "--weights", "multiplicity", "--format", "jsonl", "-q", "-o", "out"]) == 0
    row = json.loads(Path("out").read_text(encoding="utf-8"))
    assert (row["doc_id"], row["segments"][0]["seg_id"], row["segments"][0]["hyp"]) == ("x", "1", "a")


def test_documents_of_one_entry_are_worth_less_than_one(repository: Path, page: str) -> None:
    """As docs/samples.md says."""
    assert "256 / 257 where each sentence has one entry" in (repository / "docs/samples.md").read_text(encoding="utf-8")
    Path("list").write_text("0 ||| a ||| x= 1 ||| 1\n1 ||| b ||| x= 1 ||| 1\n", encoding="utf-8")
    assert run(["mbr", "list", "--unit", "document", "--format", "jsonl", "-q", "-o", "out"]) == 0
    assert json.loads(Path("out").read_text(encoding="utf-8"))["effective"] == pytest.approx(256 / 257)
