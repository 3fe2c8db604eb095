"""Cohesion in the search and in the beam, and from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusearch.cli.main import run
from gpusearch.config import BeamConfig
from gpusearch.features.cohesion import cohesion
from gpusearch.features.cohesive import Cohesion, InterruptionCount, NounCount
from gpusearch.features.load import of_steps
from gpusearch.features.trees import lay_over
from gpusearch.io.trees import read_trees
from gpusearch.kernels import beam as kernels
from gpusearch.kernels import beam_options
from gpusearch.kernels import reference_features as reference
from gpusearch.kernels.beam_records import BEAM_WIDTH, BEAM_WINDOW
from gpusearch.kernels.records import ACTIVE_WEIGHT, SENTENCE_WORDS, Active, Problem, Search
from gpusearch.kernels.target import exact
from gpusearch.search.beam import beam_numbers
from gpusearch.search.beam_arrays import make_beam, make_result, make_work
from gpusearch.search.enumeration import derivations
from tests.random_features import with_features
from tests.random_problem import random_problem
from tests.search.test_beam import LANGUAGES, unpruned
from tests.tiny import TINY

FORMS = ("coh1", "coh2", "coh3", "coh4", "coh5-verbs", "coh5-nouns", "coh1:trees=1", "coh4:trees=1")


def value(problem: Problem, search: Search, options: Sequence[int]) -> int:
    """Weighted sum of the features of a sentence's derivation, by their readable twins, 2^-40 nat."""
    assert problem.document
    active: Active | tuple[()] = problem.document.features
    total = 0
    while active:
        total += int(active.number[ACTIVE_WEIGHT]) * reference.cohesion(active.feature, problem, search, [options])
        active = active.rest
    return total


def small_problem(seed: int, reordering: int, features: int) -> tuple[Problem, Search]:
    """Two short sentences and an empty one, with some features of cohesion."""
    rng = np.random.default_rng((seed, 8))
    problem, search, _ = random_problem(
        seed,
        LANGUAGES[seed % len(LANGUAGES)],
        sentences=(int(rng.integers(1, 4)), 0, int(rng.integers(2, 6))),
        most_options=2,
        lengths=(0, 1, 2),
        reordering=reordering,
    )
    return with_features(problem, rng.choice(FORMS, features, replace=False).tolist(), seed)[0], search


def for_beam(problem: Problem) -> Problem:
    """As the beam holds it."""
    return problem._replace(document=of_steps(problem.document))


def best_scores(problem: Problem, search: Search) -> dict[int, int]:
    """Of each sentence the score of its best derivation, by enumeration."""
    found = {}
    for sentence in np.flatnonzero(problem.sentence[:, SENTENCE_WORDS]).tolist():
        ways = derivations(problem, search, sentence)
        found[sentence] = max(score + value(problem, search, way) for score, way in ways)
    return found


def test_the_beam_finds_the_best_derivation_with_them(repetitions: Callable[[int], int]) -> None:
    """What a step adds depends on nothing that a hypothesis does not remember; with a goal just below it too, which is
    left out of account where interruptions are rewarded."""
    decided = 0
    pruned = set()
    for seed in range(repetitions(500)):
        problem, search = small_problem(seed, 0, 1)
        found = unpruned(for_beam(problem), search).decode()
        near = unpruned(for_beam(problem), search, goal=found.score - 1).decode()
        pruned.add((near.evaluated < found.evaluated).any())
        for sentence, best in best_scores(problem, search).items():
            assert found.score[sentence] == best, (seed, sentence)
            assert near.score[sentence] == best, (seed, sentence)
            decided += best < max(score for score, _ in derivations(problem, search, sentence))
    assert decided
    assert pruned == {False, True}


@pytest.mark.parametrize("features", [1, 3])
def test_so_it_does_beside_lexicalised_reordering(features: int) -> None:
    """Which remembers where the last phrase starts only where that matters to itself; interpreted."""
    for seed in range(4):
        problem, search = small_problem(seed, 1, features)
        number = beam_numbers(BeamConfig(stack_size=500), search)
        number[BEAM_WIDTH] = 1 << 60
        held = for_beam(problem)
        beam, result = make_beam(held, number), make_result(held)
        work = make_work(held, search, stack=500, pops=0, window=int(number[BEAM_WINDOW]))
        arguments = [exact(record) for record in (held, search, beam, work, result)]
        for option in range(len(problem.option_place)):
            beam_options.view_option(arguments[0], arguments[2], option)
        for row in range(len(problem.span) - 1):
            beam_options.rank_options(arguments[0], arguments[2], row)
            beam_options.note_best(arguments[0], arguments[2], row)
        for sentence, best in best_scores(problem, search).items():
            kernels.search_sentence(*arguments, sentence)
            assert result.score[sentence] == best, (seed, sentence)


def test_features_of_the_same_trees_are_one_to_the_beam() -> None:
    """Each weight in its place, those of equal features summed; other trees apart, and nothing that weighs nothing."""
    problem = random_problem(1, LANGUAGES[0], sentences=(3, 4))[0]
    forms = ("coh1", "coh4:trees=1", "type-token-ratio", "coh5-nouns", "coh4", "coh1", "coh5-verbs")
    document = with_features(problem, forms)[0].document
    assert document
    active: Active | tuple[()] = document.features
    for weight in (1, 2, 4, 8, 16, 32, 0):
        assert active
        active.number[ACTIVE_WEIGHT] = weight
        active = active.rest
    held = of_steps(document)
    assert held and held.features and held.features.rest
    assert held.features.feature.weight.tolist() == [[1 + 32, 0, 0, 8], [0, 16, 0, 0]]
    assert held.features.rest.feature.weight.tolist() == [[0, 0, 0, 0], [0, 2, 0, 0]]
    assert held.features.rest.rest == ()
    assert of_steps(with_features(problem, ["type-token-ratio"])[0].document) == of_steps(()) == ()


TREES = """\
# text = la maison bleue dort .
1\tla\tla\tDET\t_\t_\t2\tdet\t_\t_
2\tmaison\tmaison\tNOUN\t_\t_\t4\tnsubj\t_\t_
3\tbleue\tbleu\tADJ\t_\t_\t2\tamod\t_\t_
4\tdort\tdormir\tVERB\t_\t_\t0\troot\t_\t_
5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_

1\tle\tle\tDET\t_\t_\t2\tdet\t_\t_
2\tchien\tchien\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tdort\tdormir\tVERB\t_\t_\t0\troot\t_\t_

"""
TEXT = "La maison bleue dort .\n\nle chien dort\n"
# All commands of this file run the beam's kernels as they are compiled for one feature of cohesion.
COHESIVE = ["--method=beam", "--set=features.coh3.use=coh3"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trees").write_text(TREES, encoding="utf-8")
    Path("in").write_text(TEXT, encoding="utf-8")
    Path("ids").write_text("x\nx\ny\n")


def decoded(*more: str) -> list[dict[str, Any]]:
    command = [
        "decode",
        "-c",
        str(TINY),
        "in",
        "--docids",
        "ids",
        "--set=text.lowercase=true",
        *COHESIVE,
        "-q",
        "-o",
        "out",
    ]
    assert run([*command, "--format", "jsonl", *more]) == 0
    rows = [json.loads(line) for line in Path("out").read_text(encoding="utf-8").split("\n")[:-1]]
    return [segment for row in rows for segment in row["segments"]]


@pytest.mark.parametrize("weight", [-60.0, 0.5, 60.0])
def test_what_is_reported_is_what_the_algorithms_say(weight: float) -> None:
    """And a weight above 0 keeps subtrees together; one below 0 does the opposite."""
    segments = decoded("--trees", "trees", f"--set=features.coh3.weights={weight}")
    trees = [read_trees("trees")[0], None, read_trees("trees")[1]]
    total = 0.0
    for segment, tree in zip(segments, trees, strict=True):
        if tree is None:
            continue
        features = segment["features"]
        spans = [(first, last + 1) for first, last in (phrase["span"] for phrase in segment["phrases"])]
        expected = cohesion(lay_over(tree, [word.form for word in tree.words], "it"), spans)
        assert features["coh3"] == -expected["coh3"][0]
        total += features["coh3"]
    assert (total < 0) == (weight < 0)


def test_trees_of_the_input_itself() -> None:
    """CoNLL-U has its trees; they need not be named."""
    Path("in.conllu").write_text(TREES, encoding="utf-8")
    command = ["decode", "-c", str(TINY), "in.conllu", *COHESIVE, "-q", "-o", "out.jsonl"]
    assert run(command) == 0


def test_features_are_told_apart_by_their_trees() -> None:
    """By what stands in the file as it is now: not by its name, nor by what is not looked at."""

    def made(text: str, path: str = "again", kind: type[Cohesion] = InterruptionCount) -> Cohesion:
        Path(path).write_text(text, encoding="utf-8")
        return kind.of_file(Path(path))

    first, _, second = TREES.partition("\n\n")
    same = [TREES, TREES.replace("dormir", "_").replace("nsubj", "dep"), f"{second}{first}\n\n", TREES + TREES]
    assert {made(text).fingerprint() for text in same} == {made(TREES, "elsewhere").fingerprint()}
    other = [TREES.replace("4\tpunct", "2\tpunct"), TREES.replace("NOUN", "X"), TREES.replace("le\t", "un\t"), first]
    assert len({made(text).fingerprint() for text in [TREES, *other]}) == 5
    assert made(TREES).fingerprint() != made(TREES, kind=NounCount).fingerprint()
    assert [made(text).trees.of(["la", "maison", "bleue", "dort", "."]).head[4] for text in (TREES, other[0])] == [3, 1]


def test_a_text_without_its_tree_is_an_error_that_shows_both(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_text(TEXT.replace("bleue", "blanche"), encoding="utf-8")
    command = ["decode", "-c", str(TINY), "in", "--docids", "ids", "--set=text.lowercase=true", "--trees", "trees"]
    assert run([*command, *COHESIVE]) == 2
    error = capsys.readouterr().err
    assert "trees:1: the tree and a sentence that is translated have different texts" in error
    assert "'lamaisonbleuedort.'" in error and "'lamaisonblanchedort.'" in error


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--trees", "trees"], "--trees would have no effect; expected a feature of cohesion"),
        (COHESIVE, "cohesion without trees of the source; expected --trees FILE"),
        ([*COHESIVE, "--trees", "absent"], "absent: cannot read the file"),
    ],
)
def test_faults(more: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["decode", "-c", str(TINY), "in", "--docids", "ids", *more]) == 2
    assert message in capsys.readouterr().err
