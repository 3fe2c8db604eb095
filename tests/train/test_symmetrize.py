"""grow-diag-final-and against the published pseudo-code, read literally."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.train.corpus import ParallelCorpus, number_words
from gpusearch.train.symmetrize import grow_diag_final_and

Points = set[tuple[int, int]]

# (english, foreign) steps, as the published procedure lists them.
STEPS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def published(e2f: Points, f2e: Points, english: int, foreign: int) -> Points:
    """GROW-DIAG, FINAL-AND(e2f), FINAL-AND(f2e), with points (english, foreign)."""
    union, result = e2f | f2e, e2f & f2e

    def english_free(e: int) -> bool:
        return all(point[0] != e for point in result)

    def foreign_free(f: int) -> bool:
        return all(point[1] != f for point in result)

    while True:
        before = len(result)
        for e in range(english):
            for f in range(foreign):
                if (e, f) in result:
                    for step in STEPS:
                        new = (e + step[0], f + step[1])
                        if new in union and (english_free(new[0]) or foreign_free(new[1])):
                            result.add(new)
        if len(result) == before:
            break
    for direction in (e2f, f2e):
        for e in range(english):
            for f in range(foreign):
                if (e, f) in direction and english_free(e) and foreign_free(f):
                    result.add((e, f))
    return result


@st.composite
def directions(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    source, target = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    forward = draw(st.lists(st.integers(-1, source - 1), min_size=target, max_size=target))
    backward = draw(st.lists(st.integers(-1, target - 1), min_size=source, max_size=source))
    return forward, backward


@given(st.lists(directions(), min_size=1, max_size=5))
def test_equals_the_published_procedure(pairs: list[tuple[list[int], list[int]]]) -> None:
    source = number_words([["f"] * len(backward) for _, backward in pairs])
    target = number_words([["e"] * len(forward) for forward, _ in pairs])
    corpus = ParallelCorpus(source, target, np.arange(len(pairs)), len(pairs), 0, 0)
    links = grow_diag_final_and(
        corpus,
        np.array([place for forward, _ in pairs for place in forward], np.int16),
        np.array([place for _, backward in pairs for place in backward], np.int16),
    )
    for number, (forward, backward) in enumerate(pairs):
        e2f = {(e, f) for e, f in enumerate(forward) if f >= 0}
        f2e = {(e, f) for f, e in enumerate(backward) if e >= 0}
        expected = sorted((f, e) for e, f in published(e2f, f2e, len(forward), len(backward)))
        assert links.of(number) == expected


def test_a_word_aligned_in_one_direction_is_added_only_where_both_words_are_free() -> None:
    source, target = number_words([["f", "f", "f"]]), number_words([["e", "e", "e"]])
    corpus = ParallelCorpus(source, target, np.arange(1), 1, 0, 0)
    # 0-0 is agreed on; 2-2 stands apart in one direction, both words free; 2-0 competes for an aligned word.
    links = grow_diag_final_and(corpus, np.array([0, -1, 2], np.int16), np.array([0, -1, 0], np.int16))
    assert links.of(0) == [(0, 0), (2, 2)]
