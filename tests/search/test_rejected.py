"""What is said of a user's compiled feature that Numba rejects, by its own messages about the functions alone."""

from __future__ import annotations

import re
from importlib import import_module

import numba
import pytest
from numba.core.errors import NumbaError

from gpusearch.config import load_config
from gpusearch.errors import InputError
from gpusearch.features.load import with_features
from gpusearch.model.model import Model, load_model
from gpusearch.search.rejected import compiling
from tests.features.user_features import COMPILED, MODULE, Write, of, write
from tests.tiny import TINY

__all__ = ["write"]  # a fixture

REJECTED = (
    COMPILED
    + """

def plain(number):
    return number + 1


class Calls(Compiled):
    def delta(my, problem, search, state, scratch, lane, change):
        return plain(change)


class Keeps(Calls):
    def delta(my, problem, search, state, scratch, lane, change):
        many = [b"a"]
        many.append(change)
        return len(many)
"""
)


def model_of(name: str) -> Model:
    """The tiny model with a feature x of the module."""
    config = load_config(TINY, of(name))
    return with_features(load_model(config), config)


@pytest.mark.parametrize(
    ("name", "line", "code", "lacks"),
    [
        ("Calls", 22, "return plain(change)", "Untyped global name 'plain'"),
        ("Keeps", 28, "many.append(change)", ""),
    ],
)
def test_the_line_is_named(write: Write, name: str, line: int, code: str, lacks: str) -> None:
    """Whatever Numba writes around it."""
    write(REJECTED)
    model = model_of(name)
    delta = numba.njit(getattr(import_module(MODULE), name).delta)
    with pytest.raises(InputError) as raised, compiling(model):
        delta.compile((numba.int64,) * 7)
    said = str(raised.value)
    assert re.search(rf"{MODULE}\.py:{line}: Numba cannot compile delta of feature x; found '{re.escape(code)}'", said)
    assert lacks in said and "@shared" in said and "\n" not in said


def test_errors_elsewhere_are_left_as_they_are(write: Write) -> None:
    """What names no line of a user's is a fault of ours."""
    write(REJECTED)
    model = model_of("Calls")
    with pytest.raises(NumbaError), compiling(model):
        numba.njit(lambda number: number.absent).compile((numba.int64,))
