"""The trial of users' features: what it compares before a search, and what it says where that is little."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from gpusearch.errors import InputError
from gpusearch.kernels import step
from gpusearch.kernels.records import RESEGMENT, SWAP
from gpusearch.model.tableless import Constraint, Constraints
from gpusearch.search import feature_check
from gpusearch.search.feature_check import check_features
from tests.features.user_features import AT, Write, built, of, tried, write

__all__ = ["write"]  # a fixture


# Letters of the translation; what is wrong shows only where several phrases, or words, are put in.
LETTERS = """
import numpy as np

from gpusearch.kernels.operations import phrase
from gpusearch.kernels.records import UNIT_FIRST_SENTENCE, UNIT_SENTENCES


class Letters:
    scope = "sentence"
    compiled = True

    def value(self, document):
        return sum(len(word) for sentence in document for word in sentence.words)

    def prepare(self, room):
        return {"letters": room.material.sums(np.array([len(word) for word in room.material.words], np.int64)) << 20}

    def full(my, problem, search, state, scratch, lane):
        total = 0
        unit = state.unit[lane]
        for local in range(problem.unit[unit, UNIT_SENTENCES]):
            for slot in range(state.length[lane, local]):
                total += my.letters[phrase(problem, state, lane, problem.unit[unit, UNIT_FIRST_SENTENCE] + local, slot)]
        return total

    def delta(my, problem, search, state, scratch, lane, change):
        more = 0
        for k in range(change.count):
            more += my.letters[scratch.option[k]]
        for slot in range(change.first, change.first + change.replaced):
            more -= my.letters[phrase(problem, state, lane, change.sentence, slot)]
        return more


class FirstPhrase(Letters):
    def delta(my, problem, search, state, scratch, lane, change):
        more = my.letters[scratch.option[0]]
        for slot in range(change.first, change.first + change.replaced):
            more -= my.letters[phrase(problem, state, lane, change.sentence, slot)]
        return more


class FirstPhraseOfDocument(FirstPhrase):
    scope = "document"


class LettersOfDocument(Letters):
    scope = "document"


class InPython:
    scope = "sentence"

    def prepare(self, preparation):
        self.letters = np.array([*map(len, preparation.words), 0])

    def full(self, state):
        return self.letters[state.words].sum(axis=1)

    def delta(self, state, proposal):
        return self.letters[proposal.added].sum(axis=1) - self.letters[proposal.removed].sum(axis=1)


class FirstWord(InPython):
    def delta(self, state, proposal):
        first = self.letters[proposal.added[:, :1]].sum(axis=1)
        return first - self.letters[proposal.removed].sum(axis=1)


class FirstWordOfDocument(FirstWord):
    scope = "document"
"""
# Sentences of one word among others; documents of two such, too.
SHORT = ("la", "maison")
LONG = ("le petit chien ne dort pas dans la maison bleue .",)
MIXED = ("la", *LONG, "chien", "une maison", "petit")


@pytest.mark.parametrize(
    ("right", "wrong", "units"),
    [
        ("Letters", "FirstPhrase", "sentence"),
        ("LettersOfDocument", "FirstPhraseOfDocument", "document"),
        ("InPython", "FirstWord", "sentence"),
        ("InPython", "FirstWordOfDocument", "document"),
    ],
)
def test_what_is_wrong_with_several_phrases_alone_is_found(write: Write, right: str, wrong: str, units: str) -> None:
    """However short the shortest texts are: there every change puts one phrase in, or there is none."""
    write(LETTERS)
    tried(of(right), SHORT, MIXED, units=units)
    with pytest.raises(InputError, match=rf"delta of feature x is not the difference of full {AT}"):
        tried(of(wrong), SHORT, MIXED, units=units)


def compared_by(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[int, int]]:
    """Counts what the trial draws that is not empty, by operation and unit."""
    found: Counter[tuple[int, int]] = Counter()

    def counting(problem: Any, search: Any, state: Any, scratch: Any, lane: int, number: int) -> Any:
        drawn = step.draw(problem, search, state, scratch, lane, number)
        if drawn[2] >= 0:
            found[int(drawn[0]), int(state.unit[lane])] += 1
        return drawn

    monkeypatch.setattr(feature_check, "draw", counting)
    return found


def test_a_hundred_proposals_of_several_operations_are_compared(
    write: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On the smallest unit in which they are possible, though shorter ones stand before it."""
    write(LETTERS)
    found = compared_by(monkeypatch)
    tried(of("InPython"), SHORT, LONG * 3, MIXED, LONG, units="sentence")
    assert {unit for _, unit in found} == {2}
    assert found.total() == 100
    assert {SWAP, RESEGMENT} < {operation for operation, _ in found}
    assert not caplog.records


def test_many_short_texts_together_are_enough(
    write: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Those that allow nothing are left soon, and what one allows is not all."""
    write(LETTERS)
    found = compared_by(monkeypatch)
    tried(of("InPython"), ("chien",) * 20, ("la", "maison", "petit"), units="sentence")
    assert {unit for _, unit in found} > {20, 21}
    assert found.total() > 50
    assert not caplog.records


@pytest.mark.parametrize("units", ["sentence", "document"])
def test_little_to_compare_is_said(write: Write, caplog: pytest.LogCaptureFixture, units: str) -> None:
    """A feature that is wrong wherever anything changes passes a trial in which nothing can: not in silence."""
    write(LETTERS)
    tried(of("FirstPhrase"), ("chien",), ("bleue", "", "."), units=units)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    # The two words of the document may not change places: they are sentences.
    assert "x: tried on 0 proposals, 0 of them of several phrases" in record.getMessage()


def test_proposals_of_one_phrase_are_little_where_there_could_be_others(
    write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    """With changes alone every proposal is of one phrase; with whole candidates, too, but there is nothing else."""
    write(LETTERS)
    tried(of("FirstPhrase", "search.operations.swap=0", "search.operations.resegment=0"), LONG)
    (record,) = caplog.records
    assert "x: tried on 100 proposals, 0 of them of several phrases" in record.getMessage()
    caplog.clear()
    texts = tuple(tuple(f"translation {k} of it".split()) for k in range(5))
    whole = Constraint(0, len(LONG[0].split()), tuple((text, -1.0) for text in texts), exclusive=True)
    candidates: Constraints = {(0, 0): (whole,)}
    _, batch, search = built(of("InPython"), (LONG,), constraints=candidates)
    check_features(batch, search)
    assert not caplog.records
