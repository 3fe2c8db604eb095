"""Lexicalised reordering: what each type says, and the values of derivations against the definition in plain Python."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.config import parse_config
from gpusearch.errors import InputError
from gpusearch.kernels import reference
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import build_problem, problem_bytes
from gpusearch.model.reordering import parse_type
from gpusearch.model.spans import find_spans
from gpusearch.search.run import search_settings
from gpusearch.search.signature import model_hash
from gpusearch.search.translation import describe

KINDS = {
    "msd": ("M", "S", "D"),
    "mslr": ("M", "S", "DL", "DR"),
    "monotonicity": ("M", "NM"),
    "leftright": ("R", "L"),
}
DIRECTIONS = {"backward": 1, "forward": 1, "bidirectional": 2}
TABLE = "a ||| x ||| 0.5\nb ||| y ||| 0.5\nb ||| z ||| 0.5\na b ||| x y ||| 0.5\nc ||| z ||| 0.5\nc d ||| y ||| 0.5\n"
PAIRS = [("a", "x"), ("b", "y"), ("b", "z"), ("a b", "x y"), ("c", "z"), ("c d", "y"), ("d", "d")]


def class_of(kind: str, before: tuple[int, int], span: tuple[int, int]) -> str:
    """reference: Moses' definitions, with inclusive ends; `before` is (-1, -1) at the sentence's start."""
    (previous_start, previous_end), (start, end) = before, span
    monotone, swap = start == previous_end + 1, previous_start == end + 1
    right = start > previous_end
    if kind == "leftright":
        return "R" if right else "L"
    if kind == "monotonicity":
        return "M" if monotone else "NM"
    if monotone or swap:
        return "M" if monotone else "S"
    return "D" if kind == "msd" else "DR" if right else "DL"


def expected(kind: str, direction: str, spans: list[tuple[int, int]], rows: list[list[float]]) -> list[float]:
    """Sums of the columns: the backward score of each phrase, the forward one of each but the last."""
    classes = KINDS[kind]
    sums = [0.0] * (DIRECTIONS[direction] * len(classes))
    forward = len(classes) if direction == "bidirectional" else 0
    steps = [class_of(kind, before, span) for before, span in pairwise([(-1, -1), *spans])]
    for phrase, step in enumerate(steps):
        if direction != "forward":
            sums[classes.index(step)] += rows[phrase][classes.index(step)]
        if direction != "backward" and phrase > 0:
            sums[forward + classes.index(step)] += rows[phrase - 1][forward + classes.index(step)]
    return sums


def loaded(
    folder: Path, kind: str, direction: str, rows: dict[str, list[float]], more: str, **type_parts: str
) -> Model:
    """The model of TABLE with a reordering table of the rows given."""
    condition, collapse = type_parts.get("condition", "fe"), type_parts.get("collapse", "allff")
    (folder / "table").write_text(TABLE)
    (folder / "orders").write_text("".join(f"{key} ||| {' '.join(map(repr, row))}\n" for key, row in rows.items()))
    columns = DIRECTIONS[direction] * len(KINDS[kind])
    weights = DIRECTIONS[direction] if collapse == "collapseff" else columns
    name = f"wbe-{kind}-{direction}-{condition}-{collapse}"
    return load_model(
        parse_config(
            f'[[phrase_table]]\npath = "table"\nweights = [1.0]\ncache = false\n[[reordering_model]]\npath = "orders"\n'
            f'type = "{name}"\nweights = {[0.25 + k / 8 for k in range(weights)]}\ncache = false\n{more}',
            path=folder / "model.toml",
        )
    )


@given(
    kind=st.sampled_from(list(KINDS)),
    direction=st.sampled_from(list(DIRECTIONS)),
    condition=st.sampled_from(["f", "fe"]),
    collapse=st.sampled_from(["allff", "collapseff"]),
    default=st.booleans(),
    lacks=st.sets(st.integers(0, len(PAIRS) - 1)),
    data=st.data(),
)
def test_values_of_every_type(
    kind: str, direction: str, condition: str, collapse: str, default: bool, lacks: set[int], data: st.DataObject
) -> None:
    """Rows, defaults or 0 for pairs that the table lacks, the first phrase, no step to the end, unknown words."""
    columns = DIRECTIONS[direction] * len(KINDS[kind])
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    numbers = [[float(p) for p in row] for row in rng.integers(0, 8, (len(PAIRS) + 1, columns)) / 8]
    by_key: dict[str, list[float]] = {}
    for place, (source, target) in enumerate(PAIRS):
        if place not in lacks:
            by_key.setdefault(f"{source} ||| {target}" if condition == "fe" else source, numbers[place])
    more = f"default_scores = {numbers[-1]}\n" if default else ""
    with TemporaryDirectory() as folder:
        if not by_key:
            return
        model = loaded(Path(folder), kind, direction, by_key, more, condition=condition, collapse=collapse)
        batch = build_problem(model, [[["a", "b", "c", "d", "a"]]])
        spans = data.draw(
            st.permutations([(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]) | st.permutations([(0, 1), (2, 3), (4, 4)])
        )
        options, rows = [], []
        for start, end in spans:
            choices = batch.options.in_span(0, start, end + 1)
            option = data.draw(st.sampled_from(list(choices)))
            options.append(option)
            key = " ".join(batch.options.source(option))
            if condition == "fe":
                key += " ||| " + " ".join(batch.options.target(option))
            probabilities = by_key.get(key, numbers[-1] if default else [1.0] * columns)
            rows.append([math.log(p) if p else -100.0 for p in probabilities])
        sums = expected(kind, direction, spans, rows)
        if collapse == "collapseff":
            size = len(KINDS[kind])
            sums = [sum(sums[first : first + size]) for first in range(0, len(sums), size)]
        found = describe(batch, [np.array(options, np.int32)], first_jump=True)[0]
        first, last = model.features.groups["LexicalReordering0"]
        np.testing.assert_allclose(found.features[first:last], sums, atol=1e-5)
        search = search_settings(SimpleNamespace(search=parse_config(TOML).search), model, batch)  # type: ignore[arg-type]
        value = reference.full(batch.problem, search, [options])
        np.testing.assert_allclose(np.array(value.features) / 2**20, found.features, atol=1e-4)
        assert value.score / 2**40 == pytest.approx(found.score, abs=1e-4)
        need = sum(array.nbytes for array in batch.problem if isinstance(array, np.ndarray))
        need += batch.problem.reordering.score.nbytes + batch.problem.reordering.value.nbytes
        assert problem_bytes(model, batch.units, find_spans(model, batch.options.sentences)) == need


TOML = '[[phrase_table]]\npath = "x"\nweights = [1.0]\n'


def test_labels_name_direction_and_class() -> None:
    assert parse_type("wbe-msd-bidirectional-fe-allff").labels == [
        "backward_monotone",
        "backward_swap",
        "backward_discontinuous",
        "forward_monotone",
        "forward_swap",
        "forward_discontinuous",
    ]
    assert parse_type("wbe-leftright-forward-f-allff").labels == ["forward_right", "forward_left"]
    assert parse_type("wbe-mslr-bidirectional-fe-collapseff").labels == ["backward", "forward"]


def test_the_hash_of_a_model_knows_its_reordering(tmp_path: Path) -> None:
    """The table's figures, its pairs (the input may give those that phrase tables lack), type and default scores."""
    row = [0.5, 0.25, 0.125]
    hashes = [
        model_hash(loaded(tmp_path, "msd", direction, {"a ||| x": numbers, other: row}, more))
        for direction, numbers, other, more in (
            ("backward", row, "own ||| one", ""),
            ("forward", row, "own ||| one", ""),
            ("backward", [0.5, 0.5, 0.125], "own ||| one", ""),
            ("backward", row, "own ||| other", ""),
            ("backward", row, "own ||| one", "default_scores = [0.5, 0.5, 0.5]\n"),
        )
    ]
    assert len(set(hashes)) == 5


@pytest.mark.complaint(1)
def test_a_table_with_other_columns_than_its_type_is_an_error_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"orders:1: .*found 2 .*expected 3"):
        loaded(tmp_path, "msd", "backward", {"a ||| x": [0.5, 0.5]}, "")
    with pytest.raises(InputError, match=r"orders:1"):
        loaded(tmp_path, "msd", "backward", {"a": [0.5, 0.5, 0.5]}, "")


@pytest.mark.complaint(4)
def test_weights_that_do_not_fit_the_type_are_an_error_with_both_numbers() -> None:
    text = TOML + '[[reordering_model]]\npath = "o"\ntype = "wbe-{}"\nweights = [0.1, 0.2]\n'
    with pytest.raises(InputError, match="2 weights, but wbe-msd-backward-fe-allff takes 3"):
        parse_config(text.format("msd-backward-fe-allff"))
    parse_config(text.format("msd-bidirectional-fe-collapseff"))
    with pytest.raises(InputError, match="1 default_scores, but wbe-leftright-backward-f-allff has 2 columns"):
        parse_config(text.format("leftright-backward-f-allff") + "default_scores = [0.5]\n")


def test_large_reordering_weights_count_towards_the_range(tmp_path: Path) -> None:
    rows = {"a ||| x": [0.0, 0.0, 0.0]}
    model = loaded(tmp_path, "msd", "backward", rows, "")
    build_problem(model, [[["a"] * 100]], units="document")
    heavy = parse_config(
        '[[phrase_table]]\npath = "table"\nweights = [1.0]\ncache = false\n[[reordering_model]]\npath = "orders"\n'
        'type = "wbe-msd-backward-fe-allff"\nweights = [2000.0, 0.0, 0.0]\ncache = false\n',
        path=tmp_path / "model.toml",
    )
    with pytest.raises(InputError, match=r"LexicalReordering0\.backward_monotone may exceed"):
        build_problem(load_model(heavy), [[["a"] * 100]], units="document")
