"""Experiments that add a feature of the document to a search, run small: what they write."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from configs.added_features import Added, added_parser, rows
from configs.hardmeier2012 import semantic_model
from configs.stymne2013 import document_features
from gpusearch.errors import InputError
from gpusearch.features.semantic import save_space
from tests.experiments import tables_of, write_test_set
from tests.features.test_semantic import made_space
from tests.tiny import TINY


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """A command line for the tiny model and five documents of a segment each."""
    folder = write_test_set(tmp_path / "toy")
    (folder / "test.docs").write_text("".join(f"{name}\n" for name in "abcde"), encoding="utf-8")
    return [str(folder), "-c", str(TINY), "-o", str(tmp_path / "out"), "--chains", "2"]


def parsed(given: list[str]) -> tuple[Path, Namespace]:
    arguments = added_parser("", "out").parse_args(given)
    return arguments.data[0], arguments


def test_a_weight_is_chosen_on_documents_that_are_not_held_out(given: list[str]) -> None:
    """Weights that do not gain BLEU there are not taken; nothing is said of a few documents."""
    folder, arguments = parsed(given)
    beam, search, added = rows(folder, [Added("TTR", "type-token-ratio", (-1000.0, 1000.0))], arguments)
    assert [beam[0], search[0], added[0]] == ["beam", "search", "TTR"]
    assert added[1] == "0" and added[4] == "+0.00" and added[3] == search[3], "the translations of the others are right"
    assert float(added[2]) == 1, "a house; the house"
    (folder / "test.docs").write_text("a\nb\nc\nc\nc\n", encoding="utf-8")
    with pytest.raises(InputError, match="too few documents; found 3; expected 4 or more"):
        list(rows(folder, [], arguments))


@pytest.mark.slow  # compiles the kernels of each of the features
def test_the_commands(given: list[str], tmp_path: Path) -> None:
    save_space(made_space(np.eye(4)), tmp_path / "space.npz")
    semantic_model.main([*given, "--space", str(tmp_path / "space.npz"), "--weights", "0.1"])
    document_features.main(given)
    names = {"semantic_model": ["semantic-lm"], "document_features": ["TTR", "OVIX", "QW", "QP"]}
    for file, added in names.items():
        (table,) = tables_of(tmp_path / "out" / f"{file}.md")
        assert [row[0] for row in table] == ["beam", "search", *added]
        for row in table[2:]:
            assert row[2] != "" and row[5].count(" to ") == row[9].count(" to ") == 1
