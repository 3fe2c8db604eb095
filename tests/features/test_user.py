"""What is said of users' features that contradict themselves or fail, and what those may do that do not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpusearch
from gpusearch.cli.main import run
from gpusearch.errors import InputError
from gpusearch.features.batch import Reader
from gpusearch.features.load import made_feature
from gpusearch.kernels.records import ACCEPTED, LIMIT_STEPS
from gpusearch.search.device import make_driver
from gpusearch.search.judged import make_judges
from gpusearch.search.temperature import temperature_levels
from tests.features.user_features import DOCUMENTS, MODULE, Write, built, of, tried, write
from tests.tiny import TINY

__all__ = ["write"]  # a fixture

TEXTS = [list(document) for document in DOCUMENTS]
AT = r"at proposal \d+, sentence \d, '.*' to '.*'"


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


WORTH = """
import numpy as np
import torch


class Words:
    scope = "sentence"

    def prepare(self, preparation):
        self.worth = np.array([*np.sqrt(2.0 + np.arange(len(preparation.words))), 0.0])

    def full(self, state):
        return self.worth[state.words].sum(axis=1)

    def delta(self, state, proposal):
        return self.worth[proposal.added].sum(axis=1) - self.worth[proposal.removed].sum(axis=1)


class Tight(Words):
    def bound(self, state, proposal):
        return 0.5 * self.delta(state, proposal)


class Unknown(Words):
    def bound(self, state, proposal):
        return [(np.inf, 1e300)[row % 2] for row in range(len(proposal))]


class Sometimes(Words):
    def bound(self, state, proposal):
        exact = 0.5 * self.delta(state, proposal)
        return torch.where(torch.arange(len(exact)) % 2 == 0, torch.inf, torch.tensor(exact, requires_grad=True))


class Column(Words):
    def bound(self, state, proposal):
        return self.delta(state, proposal)[:, None]


class Nan(Words):
    def bound(self, state, proposal):
        return np.full(len(proposal), np.nan)


class Text(Words):
    def bound(self, state, proposal):
        return ["much"] * len(proposal)


class Single(Words):
    # The same in float32.
    def prepare(self, preparation):
        super().prepare(preparation)
        self.worth = self.worth.astype(np.float32) * 1000


class Hidden(Single):
    # In float32, but not returned as such.
    def delta(self, state, proposal):
        return super().delta(state, proposal).astype(np.float64)

    def full(self, state):
        return super().full(state).tolist()


class Off(Words):
    # Within a ten-thousandth, which is not rounding.
    def delta(self, state, proposal):
        return super().delta(state, proposal) + 1e-5


class Endless(Words):
    def full(self, state):
        return [1e300] * len(state)


class Ragged(Words):
    def full(self, state):
        return [[1.0], [1.0, 2.0]]


class Restless:
    scope = "document"
    asked = 0

    def full(self, state):
        self.asked += 1
        return [float(self.asked)] * len(state)


class Huge(Words):
    def full(self, state):
        return 3e5 + super().full(state)
"""


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


@pytest.mark.parametrize("name", ["Words", "Single"])
def test_changes_add_up_to_values(write: Write, name: str) -> None:
    """Within 2^-20 nat a step that is taken, and what float32 adds where it is returned."""
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
    assert (off <= taken * (1 + 4 * judges[0].step * values)).all()
    assert off.max() > 0


FAILING = """
class Fails:
    scope = "document"

    def full(self, state):
        return [0.0] * len(state)


class InFull(Fails):
    def full(self, state):
        return [1 / 0] * len(state)


class InDelta(Fails):
    def delta(self, state, proposal):
        return list(proposal.nothing)


class InBound(Fails):
    def bound(self, state, proposal):
        return {}["bound"]


class InCommit(Fails):
    def commit(self, state, proposal):
        raise RuntimeError("no room")


class InPrepare(Fails):
    def prepare(self, preparation):
        return preparation.words[-1][99]


class InTheMaking(Fails):
    def __init__(self):
        open("nowhere")


class Asking(Fails):
    def delta(self, state):
        return [0]


class Compiled:
    scope = "document"
    compiled = True

    def value(self, document):
        return 0.0

    def full(my, problem, search, state, scratch, lane):
        return 0

    def delta(my, problem, search, state, scratch, lane, change):
        return 0


class CompiledFull(Compiled):
    def full(my, problem, search, state, scratch, lane):
        return my.nothing[3 + lane]


class CompiledDelta(Compiled):
    def delta(my, problem, search, state, scratch, lane, change):
        return 1 // 0


class CompiledBound(Compiled):
    def bound(my, weight, problem, search, state, scratch, lane, change):
        return my.missing


class CompiledCommit(Compiled):
    def commit(my, problem, search, state, scratch, lane, change):
        state.sum[lane, 99] = 1


class Overflowing(Compiled):
    def full(my, problem, search, state, scratch, lane):
        return 1 << 70


class CompiledPrepare(Compiled):
    def prepare(self, room):
        return room.material.nothing


class NoDict(Compiled):
    def prepare(self, room):
        return [room]


class Value(Compiled):
    def value(self, document):
        return document[0].nothing


class OtherValue(Compiled):
    def value(self, document):
        return sum(len(sentence.words) for sentence in document)


class Short(Compiled):
    def delta(my, problem, search, state, scratch, lane):
        return 0


class Gap(Compiled):
    def bound(my, weight, problem, search, state, scratch, lane, change):
        return 5 << 40

    def gap(my, weight, room, problem, search, state, scratch, lane, change):
        return -(4 << 40)


class Two(Compiled):
    names = ("a", "b")


class Counting(Compiled):
    counts = ("letters",)


class PythonCounting(Fails):
    counts = ("words",)


class Small(Compiled):
    def value(self, document):
        return 1.0

    def full(my, problem, search, state, scratch, lane):
        return 1 << 20

    def largest(self, material):
        return 0.5


class Large(Small):
    def largest(self, material):
        return [1e7] * len(material.problem.unit)


class Negative(Small):
    def largest(self, material):
        return -1.0
"""
LINE = rf"{MODULE}.py:\d+: "


@pytest.mark.parametrize(
    ("name", "message", "cause"),
    [
        ("InFull", rf"{LINE}full of feature x fails; found ZeroDivisionError: division by zero", ZeroDivisionError),
        ("InDelta", rf"{LINE}delta of feature x fails {AT}; found AttributeError", AttributeError),
        ("InBound", rf"{LINE}bound of feature x fails {AT}; found KeyError: 'bound'", KeyError),
        ("InCommit", rf"{LINE}commit of feature x fails {AT}; found RuntimeError: no room", RuntimeError),
        ("InPrepare", rf"{LINE}prepare of feature x fails; found IndexError", IndexError),
        ("InTheMaking", rf"{LINE}making feature x fails; found FileNotFoundError", FileNotFoundError),
        ("Asking", rf"delta of feature x fails {AT}; found TypeError: .* takes 2 positional", TypeError),
        ("CompiledFull", rf"{LINE}full of feature x fails at the first translation; found IndexError", IndexError),
        ("CompiledDelta", rf"{LINE}delta of feature x fails {AT}; found ZeroDivisionError", ZeroDivisionError),
        ("CompiledBound", rf"{LINE}bound of feature x fails {AT}; found AttributeError", AttributeError),
        ("CompiledCommit", rf"{LINE}commit of feature x fails {AT}; found IndexError", IndexError),
        ("Overflowing", r"feature x fails at the first translation; found OverflowError", OverflowError),
        ("CompiledPrepare", rf"{LINE}prepare of feature x fails; found AttributeError", AttributeError),
        ("Value", rf"{LINE}value of feature x fails; found AttributeError", AttributeError),
    ],
)
def test_what_fails_is_named(write: Write, name: str, message: str, cause: type[Exception]) -> None:
    """The feature, its function, the proposal, the line of the module; the exception itself is the cause."""
    write(FAILING)
    with pytest.raises(InputError, match=message) as caught:
        tried(of(name))
    error: BaseException | None = caught.value
    while isinstance(error, InputError):
        error = error.__cause__
    assert isinstance(error, cause)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NoDict", "prepare of feature x; found list; expected a dict of arrays"),
        ("OtherValue", r"value of feature x is not what full says of '.*'; found [\d.]+; expected 0.0"),
        (
            "Short",
            "delta of feature x does not take what it is called with; found 6 arguments; expected 7: my,",
        ),
        ("Gap", rf"gap of feature x is not its change less its bound {AT}; found 1 nats more"),
        ("Two", "feature x is compiled, so it has one value; found names of 2; write one for each value"),
        ("Counting", "counts of feature x; found 'letters'; expected of words, phrase-pairs"),
        ("PythonCounting", "feature x is written in Python and has no tables of counts; found counts; count in full"),
        ("Small", "largest of feature x is not its largest value at proposal .*; found 0.5; expected full 1"),
        ("Large", "feature x may exceed the range of exact scores in document 1; found values up to 1e.07"),
        ("Negative", r"largest of feature x; found -1.0; expected a number from 0 up, or 2 of them"),
    ],
)
def test_what_a_feature_says_of_itself_is_held_against_it(write: Write, name: str, message: str) -> None:
    write(FAILING)
    with pytest.raises(InputError, match=message):
        tried(of(name))


def test_a_module_that_cannot_be_imported_is_named(write: Write) -> None:
    write("x = 1\ny = x.nothing\n")
    with pytest.raises(InputError, match=rf"{MODULE}.py:2: the import of {MODULE} fails; found AttributeError"):
        tried(of("Any"))
    write("x = 1\n\ny = (\n")
    with pytest.raises(InputError, match=rf"{MODULE}.py:3: the import of {MODULE} fails; found SyntaxError"):
        tried(of("Any"))


WRONG = """
class Wrong:
    scope = "document"

    def full(self, state):
        return (state.words >= 0).sum(axis=1)

    def delta(self, state, proposal):
        return (proposal.added >= 0).sum(axis=1)
"""


@pytest.mark.parametrize("method", ["gibbs", "metropolis", "tempering"])
def test_features_are_tried_before_they_are_sampled(
    write: Write, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    write(WRONG)
    Path("documents.txt").write_text("la maison\nune maison bleue\n", encoding="utf-8")
    command = ["sample", "-c", str(TINY), "--set", f"features.x={MODULE}:Wrong", "-o", "out", "--method", method]
    assert run([*command, "--quiet", "--chains", "2", "--iterations", "4", "--burn-in", "2", "documents.txt"]) == 2
    assert re.search(f"delta of feature x is not the difference of full {AT}", capsys.readouterr().err)


def test_features_are_tried_before_they_are_measured(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(WRONG)
    Path("documents.txt").write_text("la maison\nune maison bleue\n", encoding="utf-8")
    assert run(["bench", "-c", str(TINY), "--set", f"features.x={MODULE}:Wrong", "documents.txt"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and re.search(f"delta of feature x is not the difference of full {AT}", said.err)


HOLDING = """
import numpy as np


class Holding:
    scope = "document"

    def __init__(self, path=None, letters=3):
        self.model, self.letters = object(), letters
        self.long = np.arange(5000)

    def prepare(self, preparation):
        self.words = preparation.words

    def full(self, state):
        return [0.0] * len(state)
"""


def fingerprint(*settings: str) -> bytes:
    config, _, _ = built(of("Holding", *settings))
    return made_feature("x", config.features["x"], config.text).feature.fingerprint()


def test_a_feature_is_known_by_its_code_and_options(write: Write) -> None:
    """Not by what it holds or was told; `model_hash` and `sample --resume` go by that."""
    write(HOLDING)
    first = fingerprint()
    _, batch, _ = built(of("Holding"))
    (named,) = batch.options.model.document
    assert named.feature.fingerprint() == first == fingerprint()
    Path("data").write_text("one", encoding="utf-8")
    with_file = fingerprint("features.x.path=data")
    others = {first, with_file, fingerprint("features.x.options={letters=4}")}
    Path("data").write_text("two", encoding="utf-8")
    others.add(fingerprint("features.x.path=data"))
    write(HOLDING.replace("[0.0]", "[0.25]"))
    assert len({*others, fingerprint()}) == 5


def test_sampling_with_a_feature_that_holds_a_model_goes_on(write: Write) -> None:
    write(HOLDING)
    Path("documents.txt").write_text("la maison\nune maison bleue\n", encoding="utf-8")
    command = ["sample", "-c", str(TINY), "--set", f"features.x={MODULE}:Holding", "-o", "out", "--chains", "2"]
    command += ["--iterations", "4", "--burn-in", "2", "--quiet", "documents.txt"]
    assert run(command) == 0
    assert run([*command, "--resume"]) == 0


def test_words_that_nobody_looks_at_are_not_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A feature that says what changes costs what changes: documents are read for `full` alone."""
    write(WORTH)
    read: list[int] = []
    whole = Reader._rows

    def counted(self: Reader, *arguments: Any) -> Any:
        read.append(1)
        return whole(self, *arguments)

    monkeypatch.setattr(Reader, "_rows", counted)
    counts = {}
    for steps in (10, 40):
        read.clear()
        decoder = gpusearch.load(TINY, of("Tight", "features.x.weights=0.5"))
        decoder.decode(TEXTS, chains=2, steps_per_word=float(steps))
        counts[steps] = len(read)
    assert counts[10] == counts[40] > 0


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        (["search.policy=sweep"], 'policy = "sweep"'),
        (["search.final_sweep=true"], "final_sweep = true"),
        (["search.lattice.every=50"], "lattice.every = 50"),
    ],
)
def test_what_features_in_python_cannot_have_is_refused(write: Write, settings: list[str], found: str) -> None:
    write(WORTH)
    with pytest.raises(InputError, match=f"feature x is written in Python; found {found}"):
        gpusearch.load(TINY, of("Words", *settings)).decode(TEXTS, chains=2)


def test_what_a_preset_asks_for_gives_way(write: Write) -> None:
    write(WORTH)
    decoded = gpusearch.load(TINY, of("Words", "search.preset=best")).decode(TEXTS, chains=2, steps_per_word=2.0)
    assert "recombine:best-unit" in decoded.signature and "final_sweep" not in decoded.signature
