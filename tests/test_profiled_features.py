"""What is measured of features: all that are built in, on material that fits the documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusearch.features.builtin import BUILT_IN
from gpusearch.features.trees import read_source_trees
from gpusearch.kernels.cohesion import NOUN, VERB
from profiling.features import EACH, SETS, docent_rows, write_trees

SENTENCE = ["la", "petite", "maison", "bleue", "est", "dans", "le", "jardin", "."]


def test_each_feature_that_is_built_in_is_measured() -> None:
    """By itself, and with all others."""
    assert sorted(entry["use"] for entry in SETS["all"].values()) == sorted(BUILT_IN)
    assert [[entry["use"] for entry in SETS[name].values()] for name in EACH] == [[name] for name in EACH]


def test_made_trees_are_those_of_the_sentences(tmp_path: Path) -> None:
    """One tree each, with one root, verbs and nouns."""
    sentences = [SENTENCE[:many] for many in range(1, 10)] + [SENTENCE[:2]]
    write_trees([[*sentences, []]], tmp_path / "trees.conllu")
    trees = read_source_trees(tmp_path / "trees.conllu")
    laid = [trees.of(sentence) for sentence in sentences]
    assert [len(one.head) for one in laid] == [len(sentence) for sentence in sentences]
    assert all(one.head.count(-1) == 1 for one in laid)
    assert {VERB, NOUN} <= {kind for one in laid for kind in one.kind}


def test_what_the_parity_data_say_of_docent(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("Steps per CPU second: 27,000-35,000 on a 175-word\ndocument, 6,600-7,200 on a 1,755-word one.")
    assert [(what.partition("a document of ")[2], rate) for what, rate, _ in docent_rows(readme)] == [
        ("175 words", "27,000-35,000"),
        ("1,755 words", "6,600-7,200"),
    ]
    readme.write_text("nothing")
    with pytest.raises(SystemExit, match="no steps per CPU second"):
        docent_rows(readme)
