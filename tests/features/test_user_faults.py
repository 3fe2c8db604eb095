"""Features that users write, and what is said where they fail or contradict themselves."""

from __future__ import annotations

import pytest

from gpusearch.errors import InputError
from tests.features.user_features import AT, COMPILED, MODULE, Write, of, tried, write

__all__ = ["write"]  # a fixture


FAILING = (
    COMPILED
    + """

import numpy as np


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


class Leaves(Fails):
    def full(self, state):
        raise SystemExit(3)


class Letters(Fails):
    names = "long"


class Twice(Fails):
    names = ("a", "a")


class Slightly(Fails):
    def delta(self, state, proposal):
        return [1e-5] * len(proposal)


class FloatArray(Compiled):
    def prepare(self, room):
        return {"value": np.zeros(3)}


class PlainInt(Compiled):
    def prepare(self, room):
        return {"value": 3}


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
)
FIRST = "at the first translation of document 1"
LINE = rf"{MODULE}.py:\d+: "


@pytest.mark.parametrize(
    ("name", "message", "cause"),
    [
        ("InFull", rf"{LINE}full of feature x fails; found ZeroDivisionError: division by zero", ZeroDivisionError),
        ("Leaves", rf"{LINE}full of feature x fails; found SystemExit: 3", SystemExit),
        ("InDelta", rf"{LINE}delta of feature x fails {AT}; found AttributeError", AttributeError),
        ("InBound", rf"{LINE}bound of feature x fails {AT}; found KeyError: 'bound'", KeyError),
        ("InCommit", rf"{LINE}commit of feature x fails {AT}; found RuntimeError: no room", RuntimeError),
        ("InPrepare", rf"{LINE}prepare of feature x fails; found IndexError", IndexError),
        ("InTheMaking", rf"{LINE}making feature x fails; found FileNotFoundError", FileNotFoundError),
        ("Asking", rf"delta of feature x fails {AT}; found TypeError: .* takes 2 positional", TypeError),
        ("CompiledFull", rf"{LINE}full of feature x fails {FIRST}; found IndexError", IndexError),
        ("CompiledDelta", rf"{LINE}delta of feature x fails {AT}; found ZeroDivisionError", ZeroDivisionError),
        ("CompiledBound", rf"{LINE}bound of feature x fails {AT}; found AttributeError", AttributeError),
        ("CompiledCommit", rf"{LINE}commit of feature x fails {AT}; found IndexError", IndexError),
        ("Overflowing", rf"feature x fails {FIRST}; found OverflowError", OverflowError),
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
        (
            "FloatArray",
            "prepare of feature x returns something else under 'value'; found an array of float64",
        ),
        ("PlainInt", "prepare of feature x returns something else under 'value'; found int; expected an array of int"),
        ("Letters", "names of feature x; found 'long'; expected a list of different names"),
        ("Twice", r"names of feature x; found \('a', 'a'\); expected a list of different names"),
        ("Slightly", rf"delta of feature x is not the difference of full {AT}; found \S+; expected 0: from 0 to 0$"),
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
