"""What is said of users' features that contradict themselves or fail, and what those may do that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpusearch
from gpusearch.errors import InputError
from gpusearch.kernels.records import ACCEPTED, LIMIT_STEPS
from gpusearch.model.model import load_model
from gpusearch.search.device import make_driver
from gpusearch.search.judged import make_judges
from gpusearch.search.temperature import temperature_levels
from tests.features.user_features import AT, TEXTS, WORTH, Write, built, of, tried, write
from tests.search.sampling import sample, settings
from tests.tiny import TINY

__all__ = ["write"]  # a fixture


def paths(*settings: str) -> list[tuple[Any, ...]]:
    """What chains come to, and how."""
    decoded = gpusearch.load(TINY, list(settings)).decode(TEXTS, chains=3, steps_per_word=20.0)
    return [(one.best.score, one.chain_scores.tolist(), one.steps.tolist()) for one in decoded.result.documents]


# Different words of the document, counted over and over, or kept count of.
TYPES = """
from collections import Counter


class Types:
    scope = "document"

    def full(self, state):
        return [len(set(row[row >= 0].tolist())) for row in state.words]


class Kept(Types):
    forgets = False

    def __init__(self):
        self.counts = {}

    def full(self, state):
        for lane, row in zip(state.lane.tolist(), state.words):
            self.counts[lane] = Counter(row[row >= 0].tolist())
        return [len(self.counts[lane]) for lane in state.lane.tolist()]

    def moved(self, proposal):
        for lane, gone, come in zip(proposal.state.lane.tolist(), proposal.removed, proposal.added):
            counts = self.counts[lane].copy()
            counts.subtract(gone[gone >= 0].tolist())
            counts.update(come[come >= 0].tolist())
            yield lane, counts

    def delta(self, state, proposal):
        return [len(+counts) - len(+self.counts[lane]) for lane, counts in self.moved(proposal)]

    def commit(self, state, proposal):
        for row, (words, begin) in enumerate(zip(state.words, proposal.begin)):
            gone = proposal.removed[row][proposal.removed[row] >= 0]
            assert (words[begin : begin + len(gone)] == gone).all()
        for lane, counts in self.moved(proposal):
            self.counts[lane] = counts


class Forgetful(Kept):
    def commit(self, state, proposal):
        for lane, gone in zip(state.lane.tolist(), proposal.removed):
            self.counts[lane].subtract(gone[gone >= 0].tolist())
"""


def test_a_feature_may_keep_a_state_of_its_own(write: Write) -> None:
    """`commit` sees the state before the proposals; the chains are those of a feature that keeps nothing."""
    write(TYPES)
    tried(of("Kept"))
    assert paths(*of("Kept")) == paths(*of("Types"))


def test_a_commit_that_does_not_keep_up_is_told_from_a_wrong_delta(write: Write) -> None:
    write(TYPES)
    with pytest.raises(InputError, match=rf"commit of feature x does not keep up .* {AT}; .* was called last at"):
        tried(of("Forgetful"))


COMPILED = """
import numpy as np

from gpusearch.kernels.operations import phrase
from gpusearch.kernels.records import UNIT_FIRST_SENTENCE, UNIT_SENTENCES


class Square:
    # Of the number of letters, which it keeps.
    scope = "document"
    compiled = True

    def value(self, document):
        return sum(len(word) for sentence in document for word in sentence.words) ** 2

    def largest(self, material):
        return 1e4

    def prepare(self, room):
        letters = room.material.sums(np.array([len(word) for word in room.material.words], np.int64))
        return {"letters": letters, "place": np.array([room.keep_sums(1)])}

    def full(my, problem, search, state, scratch, lane):
        total = 0
        unit = state.unit[lane]
        for local in range(problem.unit[unit, UNIT_SENTENCES]):
            for slot in range(state.length[lane, local]):
                total += my.letters[phrase(problem, state, lane, problem.unit[unit, UNIT_FIRST_SENTENCE] + local, slot)]
        state.sum[lane, my.place[0]] = total
        return total * total << 20

    def delta(my, problem, search, state, scratch, lane, change):
        more = 0
        for k in range(change.count):
            more += my.letters[scratch.option[k]]
        for slot in range(change.first, change.first + change.replaced):
            more -= my.letters[phrase(problem, state, lane, change.sentence, slot)]
        now = state.sum[lane, my.place[0]]
        return more * (2 * now + more) << 20

    def commit(my, problem, search, state, scratch, lane, change):
        more = 0
        for k in range(change.count):
            more += my.letters[scratch.option[k]]
        for slot in range(change.first, change.first + change.replaced):
            more -= my.letters[phrase(problem, state, lane, change.sentence, slot)]
        state.sum[lane, my.place[0]] = state.sum[lane, my.place[0]] + more


class Confused(Square):
    def commit(my, problem, search, state, scratch, lane, change):
        state.sum[lane, my.place[0]] = state.sum[lane, my.place[0]] + change.count
"""


def test_what_a_compiled_feature_keeps_is_tried_as_well(write: Write) -> None:
    """Functions of a class may be those of its base."""
    write(COMPILED)
    tried(of("Square"))
    with pytest.raises(InputError, match=rf"commit of feature x does not keep up .* {AT}; .* was called last at"):
        tried(of("Confused"))


def test_a_bound_changes_nothing(write: Write) -> None:
    """One that is exact but for rounding; infinity, where nothing is known; both by turns, with a gradient."""
    write(WORTH)
    weight = "features.x.weights=0.5"
    expected = paths(*of("Words", weight))
    for name in ("Tight", "Unknown", "Sometimes"):
        assert paths(*of(name, weight)) == expected, name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Column", rf"bound of feature x {AT}; found shape \(1, 1\); expected \[1\]"),
        ("Nan", rf"bound of feature x {AT}; found a bound that is no number; expected nats, or infinity for none"),
        ("Text", rf"bound of feature x {AT}; found list: items of type <U4; expected numbers"),
        ("Restless", rf"full of feature x does not say the same twice {AT}; found 1; expected 2: from 1 to 3"),
        ("Endless", r"full of feature x; found a value that is no number, or too large"),
        ("Ragged", r"full of feature x; found list: .*; expected numbers"),
        ("Masked", r"full of feature x; found MaskedArray: masked items; expected numbers"),
        ("Huge", r"full of feature x; found a value of 3000\d\d.* nats, weighted; expected less than 131072; give it"),
        ("Off", rf"delta of feature x is not the difference of full {AT}; found [-\d.e]+; expected [-\d.e]+: from"),
        (
            "Hidden",
            rf"delta of feature x is not the difference .* {AT}; .*; what is computed in float32",
        ),
    ],
)
def test_numbers_that_mean_nothing_are_refused(write: Write, name: str, message: str) -> None:
    write(WORTH)
    with pytest.raises(InputError, match=message):
        tried(of(name))


LATE = """


class Late(Words):
    # Right for as long as the trial lasts.
    asked, after = 0, 0

    def delta(self, state, proposal):
        self.asked += len(proposal)
        return super().delta(state, proposal) + (50.0 if self.asked > self.after else 0.0)


class Never(Late):
    after = 10**9
"""


def test_a_delta_that_goes_wrong_after_the_trial_is_told_of(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    """By the sum of its changes, which the value from nothing is not; one within rounding is not told of."""
    write(WORTH + LATE)
    paths(*of("Never", "features.x.weights=0.1"))
    assert "goes wrong" not in caplog.text
    write((WORTH + LATE).replace("after = 0, 0", "after = 0, 250"))
    paths(*of("Late", "features.x.weights=0.1"))
    assert "delta of feature x goes wrong after the trial: " in caplog.text
    assert "in document " in caplog.text


@pytest.mark.parametrize("method", ["gibbs", "metropolis", "tempering"])
def test_so_it_is_of_samplers(write: Write, method: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write((WORTH + LATE).replace("after = 0, 0", "after = 0, 250"))
    for name in ("Never", "Late"):
        assert "goes wrong" not in caplog.text
        config = settings(f"sample.method={method}", *of(name, "features.x.weights=0.1"))
        sample(load_model(config), config, tmp_path / name)
    assert "delta of feature x goes wrong after the trial: " in caplog.text


@pytest.mark.parametrize("name", ["Words", "Single"])
def test_changes_add_up_to_values(write: Write, name: str) -> None:
    """Within 2^-21 nat a step that is taken, and what float32 adds where it is returned."""
    write(WORTH)
    config, batch, search = built(of(name, "features.x.weights=0.01", "search.threads=1"))
    tried(of(name))
    lanes, model = 40, batch.options.model
    judges = make_judges(batch, lanes)
    hot = search._replace(temperature=temperature_levels((20.0,)))
    names = len(model.features.names)
    driver = make_driver(batch.problem, hot, lanes, names, config.search, model.language_models, judges)
    state, every = driver.state, np.arange(lanes)
    state.unit[:], state.chain[:] = every % 2, every
    driver.start(every)
    state.limit[:, LIMIT_STEPS] = 400
    driver.run(every, lambda: None)
    driver.close()
    column = model.features.index("x")
    sums, taken = state.feature[:, column].copy(), state.tally[:, :, ACCEPTED].sum(axis=1)
    judges[0].full(state, every)
    off = np.abs(sums - state.feature[:, column])
    values = np.abs(state.feature[:, column]).max()
    assert taken.min() > 20
    assert (off <= taken / 2 + 1 + taken * 4 * judges[0].step * values).all()
    assert off.max() > 0
