"""The comparison of settings by total score and CPU time, run small: what it measures, keeps and draws."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpusearch
from gpusearch.io.documents import read_documents
from profiling import search_quality
from profiling.quality_figure import draw_table
from profiling.quality_table import COLUMNS, Row, add_row, read_rows
from tests.experiments import check_figure, rows_of, write_test_set
from tests.tiny import TINY, copy_tiny

POINTS = """
[presets]
fast = { preset = "fast" }
[climbing]
"1 x 0" = { chains = 1, steps_per_word = 0, recombine = "best-unit" }
"4 x 50" = { chains = 4, steps_per_word = 50 }
[beam]
"stack 200" = { method = "beam" }
"""


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """Three documents, and settings of every kind."""
    folder = write_test_set(tmp_path / "toy")
    (tmp_path / "points.toml").write_text(POINTS, encoding="utf-8")
    documents = [str(folder / "test.fr"), "--docids", str(folder / "test.docs")]
    return [*documents, "--points", str(tmp_path / "points.toml"), "-o", str(tmp_path / "out")]


def test_totals_are_those_of_the_decoder(arguments: list[str], tmp_path: Path) -> None:
    search_quality.main(["model", str(TINY), *arguments, "--seeds", "1", "2"])
    table = tmp_path / "out/test.csv"
    rows = rows_of(table)
    assert [row["setting"] for row in rows] == ["fast", "1 x 0", "4 x 50", "stack 200"] * 2
    decoder = gpusearch.load(TINY)
    corpus = read_documents(arguments[0], docids=arguments[2])
    for row in rows:
        settings = dict(pair.split("=") for pair in row["settings"].split())
        typed = {key: int(value) if value.isdigit() else value for key, value in settings.items()}
        decoded = decoder.decode(corpus, seed=int(row["seed"]), threads=1, **typed)
        assert float(row["total"]) == pytest.approx(decoded.score, abs=1e-4)
    assert rows[1]["total"] != rows[5]["total"], "a seed of its own for each run"
    check_figure(table.with_suffix(".svg"), "climbing", "4 x 50", "beam, stack 200", "CPU seconds")


def test_what_the_table_has_is_not_measured_again(arguments: list[str], tmp_path: Path) -> None:
    table = tmp_path / "out/other.csv"
    search_quality.main(["model", str(TINY), *arguments, "--name", "other", "--only", "climbing: 4|beam"])
    first = table.read_bytes()
    search_quality.main(["model", str(TINY), *arguments, "--name", "other"])
    assert table.read_bytes().startswith(first)
    assert [row.setting for row in read_rows(table)] == ["4 x 50", "stack 200", "fast", "1 x 0"]


def test_the_settings_of_the_model_stay_away_but_for_distortion(arguments: list[str], tmp_path: Path) -> None:
    def totals(name: str, more: str) -> dict[str, float]:
        # Jumps are worth something here.
        text = ("distortion = 0.2\nunknown_word = 100.0\n\n[search]", f"distortion = -0.5\n\n[search]\n{more}")
        model = copy_tiny(tmp_path / name, {"model.toml": text})
        search_quality.main(["model", str(model), *arguments, "--name", name])
        return {row.setting: row.total for row in read_rows(tmp_path / f"out/{name}.csv")}

    plain = totals("plain", "")
    assert totals("searched", 'initial = "best"\nchains = 2\nsteps = 3') == plain
    monotone = totals("monotone", "distortion_limit = 0")
    assert monotone["1 x 0"] == plain["1 x 0"], "chains begin with monotone translations"
    assert all(monotone[setting] < plain[setting] for setting in ("fast", "4 x 50", "stack 200"))


def test_rows_come_back_and_figures_are_equal_for_equal_tables(tmp_path: Path) -> None:
    rows = [
        Row("", "", "", "Moses", "stack 200", "", "", -10.5, 60.0),
        Row("2026-01-01", "abc1234", "no machine", "climbing", "4 x 50", "chains=4", "1", -10.25, 2.5, 3, 0),
        Row("2026-01-01", "abc1234", "no machine", "climbing", "4 x 50", "chains=4", "2", -11.0, 3.5, 0, 1),
    ]
    for name in ("one", "two"):
        for row in rows:
            add_row(tmp_path / f"{name}.csv", row)
    assert read_rows(tmp_path / "one.csv") == rows
    assert tuple(rows_of(tmp_path / "one.csv")[0]) == COLUMNS
    figures = []
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").rename(tmp_path / "table.csv")
        draw_table(tmp_path / "table.csv")
        check_figure(tmp_path / "table.svg", "Moses, stack 200: 60 CPU s", "nats from the best total, -10.25")
        figures.append((tmp_path / "table.svg").read_bytes() if (tmp_path / "table.svg").exists() else b"")
    assert figures[0] == figures[1]
