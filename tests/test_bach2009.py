"""The experiment of configs/bach2009, run small: what it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.bach2009 import cohesion
from gpusearch.errors import InputError
from tests.experiments import TEXTS, rows_of, tables_of
from tests.tiny import TINY


def write_trees(folder: Path, times: int, docs: str) -> Path:
    """A test set of five segments, so many times, with trees in which each word depends on the one before it."""
    folder.mkdir()
    (folder / "all.docs").write_text(docs, encoding="utf-8")
    for language in ("fr", "en"):
        (folder / f"all.{language}").write_text(TEXTS[language] * times, encoding="utf-8")
    with (folder / "all.conllu.fr").open("w", encoding="utf-8") as trees:
        for segment in TEXTS["fr"].split("\n")[:-1]:
            for place, word in enumerate(segment.split(" ")):
                trees.write(f"{place + 1}\t{word}\t_\t_\t_\t_\t{place}\t_\t_\t_\n")
            trees.write("\n")
    return folder


def table_of(tmp_path: Path, folder: Path, *more: str) -> list[list[str]]:
    """The table that the command writes."""
    cohesion.main([str(folder), "-c", str(TINY), "-o", str(tmp_path / "out"), *more])
    (table,) = tables_of(tmp_path / "out" / "cohesion.md")
    return table


def test_a_weight_is_chosen_on_the_half_that_is_not_held_out(tmp_path: Path) -> None:
    """A constraint that rewards interruptions costs BLEU, so it is not chosen; one that no phrase breaks costs none."""
    folder = write_trees(tmp_path / "toy", 4, "".join(f"{number}\n" for number in range(20)))
    none, *rows = table_of(tmp_path, folder, "--constraints", "Coh2", "Coh5", "--weights", "-60", "0.1")
    assert none[0] == "none" and [row[:2] for row in rows] == [["Coh2", "0.1"], ["Coh5", "0.1"]]
    for row in rows:
        assert row[2:4] == none[2:4] and row[4:] == ["+0.00", "+0.00 to +0.00", "1.000", "0.000", "0.0%"]
    table = rows_of(tmp_path / "out" / "cohesion.csv")
    found = {(row["constraint"], row["weight"]): float(row["BLEU"]) for row in table}
    assert len(found) == 5 and all(found[name, "0.1"] == found["none", "0"] for name in ("Coh2", "Coh5"))
    assert all(found[name, "-60"] < found[name, "0.1"] for name in ("Coh2", "Coh5"))


def test_what_was_translated_before_is_not_translated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as nothing has changed that it depends on."""
    folder = write_trees(tmp_path / "toy", 4, "a\n" * 20)
    options = ("--constraints", "Coh1", "--weights", "-60", "0.1")
    first = table_of(tmp_path, folder, *options)
    monkeypatch.setattr(cohesion, "beam_decoder", None)
    assert table_of(tmp_path, folder, *options) == first
    for change in (["--weights", "0.2"], ["--stack-size", "10"], ["--constraints", "Coh2"], ["--segments", "9"]):
        with pytest.raises(TypeError, match="NoneType"):
            table_of(tmp_path, folder, *options, *change)
    trees = folder / "all.conllu.fr"
    trees.write_text(trees.read_text(encoding="utf-8").replace("\t1\t", "\t0\t"), encoding="utf-8")
    with pytest.raises(TypeError, match="NoneType"):
        table_of(tmp_path, folder, *options)


def test_what_a_constraint_does_to_the_other_half(tmp_path: Path) -> None:
    """Three documents are too few to resample, so that segments are."""
    folder = write_trees(tmp_path / "toy", 4, "a\n" * 7 + "b\n" * 6 + "c\n" * 7)
    none, row = table_of(tmp_path, folder, "--constraints", "Coh1", "--weights", "-60")
    low, high = map(float, row[5].split(" to "))
    assert float(row[3]) < float(none[3]) and low < float(row[4]) < high < 0 and float(row[6]) < 0.05
    assert float(row[7]) > float(none[7]) == 0 and row[8] != "0.0%"
    title = (tmp_path / "out" / "cohesion.md").read_text(encoding="utf-8").split("\n")[0]
    assert title.endswith("fr to en; every second one of its segments held out.")


def test_faults(tmp_path: Path) -> None:
    arguments = [str(write_trees(tmp_path / "toy", 4, "a\n" * 20)), "-c", str(TINY), "-o", str(tmp_path / "out")]
    with pytest.raises(InputError, match="too few segments; found 3; expected 4 or more"):
        cohesion.main([*arguments, "--segments", "3"])
    with pytest.raises(InputError, match=r"no trees of the source; found none; expected one SPLIT\.conllu\.de"):
        cohesion.main([*arguments, "--languages", "de", "en"])
