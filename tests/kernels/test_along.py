"""Features that look along a document: what they read of a state for a proposal depends on the proposal alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpusearch.kernels.commit import commit
from gpusearch.kernels.document import bound, delta, list_changes
from gpusearch.kernels.records import (
    ACTIVE_WEIGHT,
    OPTION_WORDS,
    UNIT_FIRST_SENTENCE,
    Change,
)
from gpusearch.kernels.step import draw, start_monotone
from gpusearch.kernels.target import Exact, exact
from gpusearch.search.state import make_scratch, make_state
from tests.paths import Case

ORDER, WINDOW = 3, 2
WRITTEN = (
    f"reverse-lm:order={ORDER}",
    f"gappy-lm:order={ORDER},share=2",
    f"gappy-lm:order={ORDER},share=23",  # of one word in many sentences
    f"cache:letters=0,window={WINDOW}",
)


class Counting(Exact):
    """Counts what is read of an array."""

    __slots__ = ("reads",)

    def __init__(self, array: Any) -> None:
        super().__init__(array)
        self.reads = 0

    def __getitem__(self, index: Any) -> Any:
        self.reads += 1
        return super().__getitem__(index)


def reads(written: str, sentences: int, steps: int) -> list[float]:
    """Of each proposal of a walk: what bound and delta read of counts, by the words and phrases that it changes."""
    case = Case(3, sentences=(4,) * sentences, lengths=(0, 1, 2), features=(written,))
    problem, search, values = case.problem()
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values)
    count = Counting(state.count)
    records = [exact(record) for record in (problem, search, state, make_scratch(problem))]
    records[2] = records[2]._replace(count=count)
    start_monotone(*records, 0)
    problem, _, state, scratch = records
    active = problem.document.features
    found = []
    for step in range(steps):
        _, local, first, replaced, many = draw(*records, 0, step)
        if first < 0:
            continue
        sentence = int(problem.unit[0, UNIT_FIRST_SENTENCE]) + local
        where = (0, local, sentence, first, replaced, many)
        list_changes(problem.document, problem, state, scratch, 0, *where[2:])
        change = Change(*where[1:])
        before = count.reads
        bound(active.feature, active.number[ACTIVE_WEIGHT], *records, 0, change)
        delta(active.feature, *records, 0, change)
        words = sum(problem.option_place[scratch.option[k], OPTION_WORDS] for k in range(many))
        found.append((count.reads - before) / (words + replaced + many + ORDER))
        if step % 2:
            commit(*records, *where)
    return found


@pytest.mark.parametrize("written", WRITTEN)
def test_a_proposal_costs_the_same_in_a_long_document(written: str) -> None:
    """Some five numbers at most for each word and phrase that it changes, in 4 sentences or in 100."""
    short, long = (reads(written, sentences, 400) for sentences in (4, 100))
    assert max(short) > 0
    assert max(short + long) < 8
