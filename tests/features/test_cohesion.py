"""Cohesion: the paper's examples, and the fast form against the printed one on random trees and orders."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.features.cohesion import (
    Span,
    Step,
    cohesion,
    exhaustive_interruption_check,
    exhaustive_interruption_count,
    interruption_check,
    interruption_count,
    rich_interruption,
    steps,
)
from gpusearch.features.trees import TokenTree, flat_trees
from gpusearch.kernels.cohesion import (
    NOUN,
    OTHER,
    VERB,
    change_of_cohesion,
    cohesion_of_sentence,
)
from gpusearch.kernels.options import packed
from gpusearch.kernels.records import SENTENCE_COLUMNS
from gpusearch.kernels.target import exact

# Figure 1: "the presidential election of the united states begins tomorrow".
HEADS = (2, 2, 7, 2, 6, 6, 3, -1, 7)
KINDS = (OTHER, OTHER, NOUN, OTHER, OTHER, OTHER, NOUN, VERB, NOUN)
FIGURE = TokenTree(HEADS, KINDS, tuple((word,) for word in range(9)))


def test_figure_1_exhaustive_count() -> None:
    """Section 2.2: from "begins" to "tomorrow", with "the presidential election" translated, Coh4 is 4."""
    step = Step(FIGURE, (7, 8), (8, 9), frozenset({0, 1, 2, 7}))
    assert exhaustive_interruption_count(step) == 4
    assert exhaustive_interruption_check(step)
    assert not interruption_check(step), "section 2.1: algorithm 1 finds no violation here"


def test_figure_1_jump_that_interrupts() -> None:
    """Section 2.1: algorithm 1 does find it where the decoder jumps to "begins"."""
    assert interruption_check(Step(FIGURE, (1, 3), (7, 8), frozenset({0, 1, 2})))


def test_figure_1_rich() -> None:
    """Section 2.3: from "the united states" to "begins" Coh5 is true, 4, 0, 1."""
    assert rich_interruption(Step(FIGURE, (4, 7), (7, 8), frozenset({4, 5, 6}))) == (True, 4, 0, 1)


def counted_without_the_bit_vector(step: Step, foci: Collection[int]) -> int:
    """The loops of algorithms 3 to 5 as they are printed: from each f the words of T(n) that are not translated."""
    current = set(range(*step.current))
    count = 0
    for f in foci:
        n, above = None, f
        while above >= 0 and not current <= step.tree.subtrees[above]:
            n, above = above, step.tree.head[above]
        if n is not None:
            for e in step.tree.subtrees[n]:
                count += e not in step.covered | current
    return count


def test_figure_1_needs_the_bit_vector() -> None:
    """Section 2.2: a word counts once. Without that the counts of the examples are 12 and 8, and not 4."""
    exhaustive = Step(FIGURE, (7, 8), (8, 9), frozenset({0, 1, 2, 7}))
    assert counted_without_the_bit_vector(exhaustive, exhaustive.covered) == 12
    assert exhaustive_interruption_count(exhaustive) == 4
    rich = Step(FIGURE, (4, 7), (7, 8), frozenset({4, 5, 6}))
    assert counted_without_the_bit_vector(rich, (4, 6)) == 8
    assert interruption_count(rich) == rich_interruption(rich)[1] == 4


def test_sums_of_the_figure() -> None:
    """The translation of figure 1, all steps: two of them leave four words behind, and both ends count once."""
    spans: list[Span] = [(0, 1), (1, 3), (7, 8), (8, 9), (3, 7)]
    assert [rich_interruption(step)[1] for step in steps(FIGURE, spans)] == [0, 0, 4, 0, 0]
    assert cohesion(FIGURE, spans) == {"coh1": (1,), "coh2": (2,), "coh3": (4,), "coh4": (8,), "coh5": (1, 4, 0, 1)}


@st.composite
def trees(draw: st.DrawFn) -> TokenTree:
    """Any tree or forest over any words, tokens that overlap one, several or no words; often the plain case."""
    words = draw(st.integers(1, 12))
    order = draw(st.permutations(range(words)))
    head = [-1] * words
    for place in range(1, words):
        head[order[place]] = draw(st.sampled_from([-1, *order[:place], *order[:place]]))
    kind = draw(st.lists(st.sampled_from((OTHER, VERB, NOUN)), min_size=words, max_size=words))
    if draw(st.booleans()):
        tokens = [(word,) for word in range(words)]
    else:
        tokens = []
        first = 0
        while first < words:
            last = draw(st.integers(first, min(words - 1, first + 2)))
            tokens.append(tuple(range(first, last + 1)))
            first = last + draw(st.integers(0, 1))
            if first == last and len(tokens) > 20:
                first += 1
        if draw(st.booleans()):
            tokens.insert(draw(st.integers(0, len(tokens))), ())
    return TokenTree(tuple(head), tuple(kind), tuple(tokens))


@st.composite
def derivations(draw: st.DrawFn, tree: TokenTree, start: int = 0, stop: int | None = None) -> list[Span]:
    """Spans of all tokens from `start` on, in any order."""
    stop = len(tree.words) if stop is None else stop
    borders = sorted({start, stop, *draw(st.lists(st.integers(start, stop), max_size=8))})
    return list(draw(st.permutations(list(pairwise(borders)))))


def packed_spans(spans: list[Span]) -> list[int]:
    return [packed(start, stop) for start, stop in spans]


def kernel_case(tree: TokenTree, spans: list[Span]) -> tuple[object, SimpleNamespace, SimpleNamespace]:
    """The second sentence of a problem in which the first has no tree."""
    count = len(tree.words)
    sentence = np.zeros((2, SENTENCE_COLUMNS), np.int64)
    sentence[:, 1] = 0, 4
    covers = np.zeros((1, 4 + count + 2), np.int32)
    covers[0, 4 : 4 + len(spans)] = packed_spans(spans)
    state = SimpleNamespace(covers=covers, length=np.array([[3, len(spans)]], np.int32))
    return exact(flat_trees([None, tree], [3, count])), SimpleNamespace(sentence=sentence), state


def of_kernel(tree: TokenTree, spans: list[Span]) -> dict[str, tuple[int, ...]]:
    flat, problem, state = kernel_case(tree, spans)
    missing = exact(np.zeros(len(tree.head), np.int32))
    ends = cohesion_of_sentence(flat, problem, state, 0, 1, 1, missing, False)
    everywhere = cohesion_of_sentence(flat, problem, state, 0, 1, 1, missing, True)
    return {"coh1": ends[:1], "coh2": everywhere[:1], "coh3": ends[1:2], "coh4": everywhere[1:2], "coh5": ends}


@given(st.data())
def test_the_kernel_computes_what_is_printed(data: st.DataObject) -> None:
    tree = data.draw(trees())
    spans = data.draw(derivations(tree))
    assert of_kernel(tree, spans) == cohesion(tree, spans)


@given(st.data())
def test_a_change_is_the_difference_of_two_sentences(data: st.DataObject) -> None:
    """Slots give way to other phrases that cover the same words: what the kernel looks at is enough."""
    tree = data.draw(trees())
    spans = data.draw(derivations(tree))
    first = data.draw(st.integers(0, len(spans) - 1))
    replaced = data.draw(st.integers(1, len(spans) - first))
    tokens = sorted(token for span in spans[first : first + replaced] for token in range(*span))
    new: list[Span] = []
    for token in tokens:
        if new and new[-1][1] == token and data.draw(st.booleans()):
            new[-1] = (new[-1][0], token + 1)
        else:
            new.append((token, token + 1))
    new = list(data.draw(st.permutations(new)))
    after = [*spans[:first], *new, *spans[first + replaced :]]
    flat, problem, state = kernel_case(tree, spans)
    scratch = SimpleNamespace(covers=np.array(packed_spans(new), np.int32))
    missing = exact(np.zeros(len(tree.head), np.int32))
    for exhaustive, names in ((False, ("coh1", "coh3", "coh5")), (True, ("coh2", "coh4"))):
        change = change_of_cohesion(
            flat, problem, state, scratch, 0, 1, 1, missing, first, replaced, len(new), exhaustive
        )
        before, behind = cohesion(tree, spans), cohesion(tree, after)
        found = {"coh1": change[:1], "coh2": change[:1], "coh3": change[1:2], "coh4": change[1:2], "coh5": change}
        for name in names:
            assert found[name] == tuple(np.subtract(behind[name], before[name])), name


def test_a_sentence_without_a_tree_is_never_interrupted() -> None:
    flat = exact(flat_trees([None], [4]))
    state = SimpleNamespace(
        covers=np.array([packed_spans([(2, 4), (0, 2)])], np.int32), length=np.array([[2]], np.int32)
    )
    problem = SimpleNamespace(sentence=np.zeros((1, SENTENCE_COLUMNS), np.int64))
    missing = exact(np.zeros(0, np.int32))
    for exhaustive in (False, True):
        assert cohesion_of_sentence(flat, problem, state, 0, 0, 0, missing, exhaustive) == (0, 0, 0, 0)


@pytest.mark.parametrize("words", [1, 2, 63, 64, 65, 150])
def test_long_chains(words: int) -> None:
    """Each word below the one before it, translated from the end: a step back up finds all below complete."""
    tree = TokenTree(tuple(range(-1, words - 1)), (VERB,) * words, tuple((word,) for word in range(words)))
    backwards = [(word, word + 1) for word in reversed(range(words))]
    assert of_kernel(tree, backwards) == cohesion(tree, backwards)
    assert cohesion(tree, backwards)["coh4"] == (0,)
