"""Experiments that add a feature of the document to a search, run small: what they write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from configs.added_features import Added, Run, added_parser, chosen, crossed, write_results
from configs.hardmeier2012 import semantic_model
from configs.stymne2013 import document_features
from gpusearch.errors import InputError
from gpusearch.features.semantic import save_space
from gpusearch.metrics.scoring import make_metric
from tests.experiments import tables_of, write_test_set
from tests.features.test_semantic import made_space
from tests.tiny import TINY


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """A command line for the tiny model and five documents of a segment each."""
    folder = write_test_set(tmp_path / "toy")
    (folder / "test.docs").write_text("".join(f"{name}\n" for name in "abcde"), encoding="utf-8")
    return [str(folder), "-c", str(TINY), "-o", str(tmp_path / "out"), "--chains", "2"]


BLEU = make_metric("bleu")
HALVES = np.array([0, 1, 0, 1])


def run_of(weight: float, texts: list[str], references: list[str]) -> Run:
    rows = BLEU.statistics(texts, references)
    return Run(weight, np.zeros(len(rows)), 0.0, 0, {"bleu": rows})


def test_no_document_has_a_say_in_its_own_weight() -> None:
    """A weight that is right in one half alone is that of the other half, where it is wrong."""
    right, wrong = "the dog sleeps in the house", "the dog sleeps in a garden"
    references = [right] * 4
    plain = run_of(0.0, [wrong] * 4, references)
    first = run_of(1.0, [right, wrong, right, wrong], references)
    second = run_of(2.0, [wrong, right, wrong, right], references)
    taken = chosen([plain, first, second], BLEU, HALVES)
    assert [run.weight for run in taken] == [2.0, 1.0]
    rows = crossed([run.statistics["bleu"] for run in taken], HALVES)
    assert_array_equal(rows, plain.statistics["bleu"])
    assert [run.weight for run in chosen([plain, plain, first], BLEU, 1 - HALVES)] == [1.0, 0.0], (
        "of equal ones the first"
    )


def test_a_weight_that_gains_nothing_is_not_taken(given: list[str]) -> None:
    """No other weight has a better BLEU than the search without a feature; all of them are in the second table."""
    arguments = added_parser("", "out").parse_args(given)
    write_results("toy", [Added("TTR", "type-token-ratio", (1000.0, -1000.0))], arguments)
    (beam, search, added), grid = tables_of(arguments.output / "toy.md")
    assert [beam[0], search[0], added[0]] == ["beam", "search", "TTR"]
    assert added[1] == "0 / 0" and added[5] == "+0.00" and added[4] == search[4]
    assert float(added[2]) == float(added[3]) < 1
    assert [row[1] for row in grid] == ["-1000", "0", "1000"]
    values, scores, bleu = ([float(row[column]) for row in grid] for column in (2, 3, 5))
    assert values[0] < values[1] < values[2]
    assert max(scores) == scores[1] and max(bleu) == bleu[1] == float(search[4])


def test_halves_have_documents(given: list[str], tmp_path: Path) -> None:
    (tmp_path / "toy" / "test.docs").write_text("a\nb\nc\nc\nc\n", encoding="utf-8")
    with pytest.raises(InputError, match="too few documents; found 3; expected 4 or more"):
        write_results("toy", [], added_parser("", "out").parse_args(given))


@pytest.mark.slow  # compiles the kernels of each of the features
def test_the_commands(given: list[str], tmp_path: Path) -> None:
    words = ("house", "blue", "dog", "home")
    save_space(replace(made_space(np.eye(4)), content=words), tmp_path / "space.npz")
    semantic_model.main([*given, "--space", str(tmp_path / "space.npz"), "--weights", "0.1"])
    document_features.main(given)
    names = {"semantic_model": ["semantic-lm"], "document_features": ["TTR", "OVIX", "QW", "QP"]}
    for file, added in names.items():
        table, grid = tables_of(tmp_path / "out" / f"{file}.md")
        assert [row[0] for row in table] == ["beam", "search", *added]
        assert list(dict.fromkeys(row[0] for row in grid)) == added
        for row in table[2:]:
            assert row[2] != "" and row[6].count(" to ") == row[10].count(" to ") == 1
