"""Stages are done once, and what they leave is kept until all is done."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from gpusearch.errors import InputError
from gpusearch.train.measure import measured
from gpusearch.train.stages import Stages, stage_table, working_folder


def test_a_finished_stage_is_not_done_again(tmp_path: Path) -> None:
    output, calls = tmp_path / "model", []

    def first() -> dict[str, object]:
        calls.append("first")
        return {"count": 3}

    def second() -> None:
        calls.append("second")
        if len(calls) < 3:
            raise KeyboardInterrupt

    for attempt in range(2):
        try:
            with working_folder(output, {"seed": 1}) as folder:
                stages = Stages(folder)
                (folder / "kept").touch()
                assert stages.run("one", first, discard=["scrap"]) == {"count": 3}
                (folder / "scrap").mkdir(exist_ok=True)
                stages.run("two", second)
        except KeyboardInterrupt:
            assert attempt == 0 and (folder / "kept").exists()
    assert calls == ["first", "second", "second"]
    assert not folder.exists()
    assert [line.split()[0] for line in stage_table(stages.records).splitlines()] == ["stage", "one", "two", "total"]


def test_another_plan_drops_what_is_there_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    output = tmp_path / "model"
    for seed, left in ((1, False), (1, True), (2, False)):
        with pytest.raises(ZeroDivisionError), working_folder(output, {"seed": seed}) as folder:
            assert (folder / "left").exists() is left
            (folder / "left").touch()
            _ = 1 / 0
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "left by a training of other input or settings" in caplog.text


def test_two_trainings_cannot_write_to_one_place(tmp_path: Path) -> None:
    output = tmp_path / "model"
    with (
        working_folder(output, {}),
        pytest.raises(InputError, match="another training writes to the same place"),
        working_folder(output, {}),
    ):
        pass


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write here"), working_folder(tmp_path / "file" / "model", {}):
        pass


def test_peak_memory_counts_what_is_gone_at_the_end() -> None:
    with measured() as small:
        pass
    with measured() as large:
        block = np.ones(200_000_000, np.uint8)
        del block
    assert large.peak_bytes > small.peak_bytes + 150_000_000
    assert large.seconds > 0
