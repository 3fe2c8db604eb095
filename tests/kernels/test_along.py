"""What features of the document read for a proposal depends on the proposal and its sentence, never on the document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpusearch.features.builtin import BUILT_IN
from gpusearch.features.material import Material
from gpusearch.features.record import make_document
from gpusearch.kernels.commit import commit
from gpusearch.kernels.document import bound, delta, list_changes
from gpusearch.kernels.records import (
    ACTIVE_WEIGHT,
    DOCUMENT_VALUES,
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    Change,
    Problem,
    State,
)
from gpusearch.kernels.semantic_document import BEFORE, BEHIND, CONTENT
from gpusearch.kernels.step import draw, start_monotone
from gpusearch.kernels.target import Exact, exact
from gpusearch.search.state import make_scratch, make_state
from tests.paths import Case
from tests.random_features import OF_TEXTS, WEIGHT, feature, of_few_words, random_material

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


def reads(problem: Problem, steps: int) -> tuple[list[float], list[float]]:
    """Of each proposal of a walk: what bound and delta read of counts, and what they read of all arrays; by the words
    and phrases that it changes."""
    _, search, values = CASE.problem()
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values + problem.document.number[DOCUMENT_VALUES])
    count = Counting(state.count)
    records = [exact(record) for record in (problem, search, state, make_scratch(problem))]
    records[2] = records[2]._replace(count=count)
    start_monotone(*records, 0)
    problem, _, state, scratch = records
    active = problem.document.features
    of_counts, of_all = [], []
    for step in range(steps):
        _, local, first, replaced, many = draw(*records, 0, step)
        if first < 0:
            continue
        sentence = int(problem.unit[0, UNIT_FIRST_SENTENCE]) + local
        where = (0, local, sentence, first, replaced, many)
        list_changes(problem.document, problem, state, scratch, 0, *where[2:])
        change = Change(*where[1:])
        before = count.reads
        with pytest.MonkeyPatch.context() as patch:
            everything = count_all(patch)
            bound(active.feature, active.number[ACTIVE_WEIGHT], *records, 0, change)
            delta(active.feature, *records, 0, change)
        words = sum(problem.option_place[scratch.option[k], OPTION_WORDS] for k in range(many))
        by = words + replaced + many + ORDER
        of_counts.append((count.reads - before) / by)
        of_all.append(everything() / by)
        if step % 2:
            commit(*records, *where)
    return of_counts, of_all


def count_all(patch: pytest.MonkeyPatch) -> Callable[[], int]:
    """From now on reads of any array are counted; what is returned says how many there were."""
    found = 0
    read = Exact.__getitem__

    def counted(array: Exact, index: Any) -> Any:
        nonlocal found
        found += 1
        return read(array, index)

    patch.setattr(Exact, "__getitem__", counted)
    return lambda: found


CASE = Case(3, lengths=(0, 1, 2))


def document_of(
    written: str, sentences: int, case: Case = CASE, change: Callable[[Material], Material] = lambda same: same
) -> Problem:
    """A document of sentences of four words with a feature; `change` is made to its material."""
    problem, _, _ = replace(case, sentences=(4,) * sentences).problem()
    material = change(random_material(problem))
    made = feature(written)
    return problem._replace(document=make_document(material, [(made, [WEIGHT] * max(1, len(made.names)))]))


@pytest.mark.parametrize("written", WRITTEN)
def test_a_proposal_costs_the_same_in_a_long_document(written: str) -> None:
    """Some five numbers at most for each word and phrase that it changes, in 4 sentences or in 100."""
    short, long = (reads(document_of(written, sentences), 400)[0] for sentences in (4, 100))
    assert max(short) > 0
    assert max(short + long) < 8


# More than a random problem has words. What random features make of a word goes by its number modulo 4 or 6.
OWN = 600
FULL_CASE = replace(CASE, lengths=(1, 1, 2))  # an empty phrase would be of all sentences


def own_words(material: Material) -> Material:
    """No word is in two sentences, so that the partners of a word do not grow with the document."""
    word = material.word.copy()
    places, first = material.target_places()
    word[places] += OWN * np.repeat(material.sentence, np.diff(first))
    source = material.source + OWN * np.repeat(np.arange(len(material.sentences)), np.diff(material.first_source))
    return replace(
        material,
        word=word,
        words=[f"w{number}" for number in range(int(word.max()) + 1)],
        source=source,
        source_words=[f"s{number}" for number in range(int(source.max()) + 1)],
    )


def in_few_sentences(material: Material) -> Material:
    """Every tenth sentence alone has words that features know."""
    own = own_words(material)
    return replace(own, words=[f"w{k % OWN}" if k // OWN % 10 == 3 else "nowhere" for k in range(len(own.words))])


# But for well-formedness, which reads what all sentences leave of their tags.
CHANGES = {name: own_words for name in BUILT_IN if name != "well-formedness"}
CHANGES |= dict.fromkeys(OF_TEXTS, of_few_words)
CHANGES |= {"semantic-lm": in_few_sentences, "gappy-lm": in_few_sentences, "semantic-lm:history=2": lambda same: same}


@pytest.mark.parametrize("written", sorted(CHANGES))
def test_nothing_that_is_read_grows_with_the_document(written: str) -> None:
    """A document 25 times as long: the dearest of its proposals reads less than twice what the other's does."""
    short, long = (reads(document_of(written, many, FULL_CASE, CHANGES[written]), 300)[1] for many in (4, 100))
    assert 0 < max(long) < 2 * max(short)


def test_sentences_know_the_next_ones_with_words_of_the_space() -> None:
    """As words of the space come and go, at every step of a walk; the first and the last sentence too."""
    _, search, values = CASE.problem()
    problem = document_of("semantic-lm", 7, change=lambda same: replace(same, words=_few(same.words)))
    feature = problem.document.features.feature
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values + 1)
    records = [exact(record) for record in (problem, search, state, make_scratch(problem))]
    start_monotone(*records, 0)
    seen = set()
    for step in range(600):
        content = words_of_the_space(problem, state)
        filled = np.flatnonzero(content).tolist()
        seen.add(tuple(filled))
        kept = [state.count[0, feature.number[column] :][:7].tolist() for column in (CONTENT, BEFORE, BEHIND)]
        assert kept == [
            content,
            [max((k for k in filled if k < local), default=-1) for local in range(7)],
            [min((k for k in filled if k > local), default=-1) for local in range(7)],
        ]
        _, local, first, replaced, many = draw(*records, 0, step)
        if first >= 0:
            commit(*records, 0, local, local, first, replaced, many)
    assert len(seen) > 15 and any(0 in one for one in seen) and any(6 in one for one in seen)


def _few(words: Sequence[str]) -> list[str]:
    return [word if number % 8 == 3 else "nowhere" for number, word in enumerate(words)]


def words_of_the_space(problem: Problem, state: State) -> list[int]:
    """Of each sentence of the first lane how many, from its phrases."""
    found = []
    for row, length in zip(problem.sentence, state.length[0].tolist(), strict=False):
        slots = int(row[SENTENCE_SLOT])
        of_options = problem.option_place[state.option[0, slots : slots + length]]
        code = problem.document.features.feature.code
        places = [code[place[OPTION_TARGET] :][: place[OPTION_WORDS]] for place in of_options]
        found.append(sum(int((codes >= 0).sum()) for codes in places))
    return found
