"""What the scripts of configs/ say of input that they cannot use."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import gpusearch
from configs.experiment import TestSet, command
from tests.tiny import TINY


def test_a_folder_that_is_not_there_is_said_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decoder, arguments = gpusearch.load(TINY), argparse.Namespace(languages=("fr", "en"))

    def main() -> None:
        TestSet(decoder, tmp_path / "none", arguments)

    with pytest.raises(SystemExit) as ended:
        command(main)
    assert ended.value.code == 2
    assert f"error: {tmp_path / 'none'}: no such folder; expected a test set" in capsys.readouterr().err


def test_every_script_ends_so(repository: Path) -> None:
    scripts = [path.read_text(encoding="utf-8") for path in (repository / "configs").glob("*/*.py")]
    begun = [text.split('if __name__ == "__main__":\n')[1].strip() for text in scripts if "__main__" in text]
    assert len(begun) >= 9 and set(begun) == {"command(main)"}
