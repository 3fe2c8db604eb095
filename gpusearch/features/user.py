"""Features that users write: loading ``module:object``, and what the two forms have in common.

A feature is a class, made with the options of its configuration (or the object itself, where it is no class):

    names    names of its values; () for one value, which has the feature's own name
    scope    "sentence" or "document": how far it looks

*In Python or torch*, over many translations at once (`gpusearch.features.batch`):

    prepare(preparation)      told of all words and sources before a search; may be absent
    full(state)               values [L] or [L, K] of the translations, nats
    delta(state, proposal)    by how much proposals change them, [R] or [R, K]; where it is absent, `full` is used twice
    bound(state, proposal)    what the weighted change is at most, [R]; cheap; may be absent
    commit(state, proposal)   these proposals are accepted; may be absent

*Compiled into the kernels*, with ``compiled = True``: see ``compiled.py``.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.features.batch import Preparation, States, states_of_text
from gpusearch.features.material import Material
from gpusearch.features.protocol import Room, Scope
from gpusearch.features.text import Document
from gpusearch.model.weights import VALUE_UNITS

Floats = NDArray[np.float64]


def find(use: str) -> Any:
    """The object that ``module:object`` names. Modules are looked for in the working folder as well.

    Raises:
        InputError: no such module or object, or an error while the module was imported.
    """
    module, _, name = use.partition(":")
    try:
        with _working_folder():
            found: Any = importlib.import_module(module)
    except ImportError as error:
        raise InputError(
            f"cannot import {module}",
            found=f"{type(error).__name__}: {error}",
            expected="a module in the working folder or on PYTHONPATH",
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module} has no {name}", found=use)
        found = getattr(found, part)
    return found


@contextmanager
def _working_folder() -> Iterator[None]:
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def made(name: str, kind: Any, options: Mapping[str, Any]) -> Any:
    """The object that a feature's class makes of its options.

    Raises:
        InputError: options that it does not take, or lacks.
    """
    if not callable(kind):
        return kind
    known = signature(kind).parameters
    for option in options:
        if option not in known and not any(one.kind is Parameter.VAR_KEYWORD for one in known.values()):
            what = f"one of {', '.join(known)}" if known else "no options"
            raise InputError(f"unknown option of feature {name}", found=option, expected=what)
    for option, parameter in known.items():
        plain = parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        if plain and option not in options and parameter.default is Parameter.empty:
            raise InputError(f"feature {name} needs {option}", hint=f"give it in [features.{name}]")
    return kind(**options)


def scope_of(name: str, feature: Any) -> Scope:
    """How far a user's feature looks.

    Raises:
        InputError: it does not say so.
    """
    written = getattr(feature, "scope", None)
    if isinstance(written, Scope):
        return written
    if written not in ("sentence", "document"):
        raise InputError(f"feature {name} has no scope", found=repr(written), expected='"sentence" or "document"')
    return Scope(written)


@dataclass(frozen=True, eq=False)
class BatchFeature:
    """A feature in Python or torch, of K values."""

    name: str
    written: Any
    scope: Scope
    names: tuple[str, ...]
    counts: ClassVar[tuple[str, ...]] = ()

    @property
    def count(self) -> int:
        """K"""
        return max(1, len(self.names))

    def records(self, room: Room) -> list[tuple[Any, ...]]:
        """None: kernels know but the places of its values."""
        return []

    def prepare(self, preparation: Preparation) -> None:
        """Tell the feature what there is."""
        if hasattr(self.written, "prepare"):
            self.written.prepare(preparation)

    def full(self, state: States) -> Floats:
        """Values ``[L, K]``, nats."""
        return self.checked(self.written.full(state), len(state), "full")

    def values(self, document: Document) -> list[float]:
        """See `gpusearch.features.protocol.Feature`."""
        preparation, state = states_of_text(document)
        self.prepare(preparation)
        return [float(value) for value in self.full(state)[0]]

    def largest(self, material: Material) -> Floats:
        """Nothing is known of its values; each is checked as it comes."""
        return np.zeros(len(material.problem.unit))

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        return repr((type(self.written).__module__, type(self.written).__qualname__, vars(self.written))).encode()

    def checked(self, answer: Any, rows: int, function: str) -> Floats:
        """What a function of the feature has returned, as float64 ``[rows, K]``.

        Raises:
            InputError: another shape; no numbers, or numbers that are too large.
        """
        if hasattr(answer, "detach"):  # a tensor of torch
            answer = answer.detach().cpu().numpy()
        values = np.asarray(answer, np.float64)
        if values.shape == (rows,) and self.count == 1:
            values = values[:, None]
        if values.shape != (rows, self.count):
            expected = f"[{rows}]" if self.count == 1 else f"[{rows}, {self.count}]"
            raise InputError(f"{function} of feature {self.name}", found=f"shape {values.shape}", expected=expected)
        if not (np.abs(values) * VALUE_UNITS < 2.0**50).all():
            raise InputError(f"{function} of feature {self.name}", found="a value that is no number, or too large")
        return values


def batch_feature(name: str, written: Any) -> BatchFeature:
    """A feature in Python or torch.

    Raises:
        InputError: it lacks what it needs.
    """
    if not hasattr(written, "full"):
        raise InputError(f"feature {name} has no function full", found=type(written).__name__)
    return BatchFeature(name, written, scope_of(name, written), tuple(getattr(written, "names", ())))
