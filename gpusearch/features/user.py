"""Features that users write: making them, and what the two forms have in common.

A feature is a class, made with the options of its configuration, or what a function makes of them (or the object
itself, where it has ``full`` and is no class):

    names    names of its values; () for one value, which has the feature's own name
    scope    "sentence" or "document": how far it looks

*In Python or torch*, over many translations at once (`gpusearch.features.batch`):

    prepare(preparation)      told of all words and sources before a search; may be absent
    full(state)               values [L] or [L, K] of the translations, nats
    delta(state, proposal)    by how much proposals change them, [R] or [R, K]; where it is absent, `full` is used twice
    bound(state, proposal)    what the weighted change is at most, [R], infinity where that is not known; cheap; may be
                              absent
    commit(state, proposal)   these proposals are accepted, the state is still the one before them; may be absent

`full` begins anew whatever a feature keeps of a lane; one that keeps something has a `delta`, since without it `full`
is asked about translations that are only proposed.

*Compiled into the kernels*, with ``compiled = True``: see ``compiled.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, file_digest
from inspect import Parameter, getsource, signature
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.answers import Answer, Floats, bounds_of, values_of
from gpusearch.features.batch import Preparation, Proposed, States
from gpusearch.features.material import Material
from gpusearch.features.protocol import Room, Scope
from gpusearch.features.text import Document
from gpusearch.features.told import Told, told_of
from gpusearch.user_code import calling

# Texts whose values are asked for at a time.
TEXTS = 256


def made(name: str, kind: Any, options: Mapping[str, Any]) -> Any:
    """The object that a feature's class makes of its options, or the object itself.

    An object may be callable as well, such as a module of torch.

    Raises:
        InputError: options that it does not take, or lacks.
    """
    if not callable(kind) or (hasattr(kind, "full") and not isinstance(kind, type)):
        for option in options:
            what = f"unknown option of feature {name}"
            raise InputError(what, found=option, expected="none: it is an object, made without options")
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
    with calling(f"making feature {name}", kind):
        return kind(**options)


def identity(use: str, written: Any, options: Mapping[str, Any]) -> bytes:
    """What tells users' features apart: how one is named, its options, what is in files, the source of its module."""
    digest = blake2b(use.encode())
    for name, value in sorted(options.items()):
        said = repr(value).encode()
        if isinstance(value, Path) and value.is_file():
            with value.open("rb") as file:
                said = file_digest(file, "blake2b").digest()
        digest.update(f"\0{name}\0".encode() + said)
    for module in dict.fromkeys((use.partition(":")[0], type(written).__module__)):
        digest.update(f"\0{module}\0".encode() + _source(module).encode())
    return digest.digest()


def _source(module: str) -> str:
    try:
        return getsource(sys.modules[module])
    except (KeyError, OSError, TypeError):  # it has none: compiled, or typed in
        return ""


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


@dataclass(eq=False)
class BatchFeature:
    """A feature in Python or torch, of K values."""

    name: str
    written: Any
    scope: Scope
    names: tuple[str, ...]
    identity: bytes
    counts: ClassVar[tuple[str, ...]] = ()
    told: Told | None = field(default=None, init=False)
    """What it was told last."""
    step: float = field(default=0.0, init=False)
    """Of the least exact type of numbers that it has returned (`gpusearch.features.answers.Answer`)."""

    @property
    def count(self) -> int:
        """K"""
        return max(1, len(self.names))

    def has(self, function: str) -> bool:
        """Whether it is written."""
        return hasattr(self.written, function)

    def records(self, room: Room) -> list[tuple[Any, ...]]:
        """None: kernels know but the places of its values."""
        return []

    def prepare(self, preparation: Preparation) -> None:
        """Tell the feature what there is."""
        self._prepare(Told(preparation))

    def full(self, state: States) -> Answer:
        """Values ``[L, K]``, nats."""
        return self._noted(values_of(self._what("full"), self._call("full", state), len(state), self.count))

    def delta(self, proposed: Proposed) -> Answer:
        """Changes of the values ``[R, K]``, nats."""
        returned = self._call("delta", proposed.state, proposed)
        return self._noted(values_of(self._what("delta"), returned, len(proposed), self.count))

    def bound(self, proposed: Proposed) -> Floats:
        """What the weighted changes are at most, ``[R]``, nats."""
        return bounds_of(self._what("bound"), self._call("bound", proposed.state, proposed), len(proposed))

    def commit(self, proposed: Proposed) -> None:
        """Tell the feature what is accepted."""
        if self.has("commit"):
            self._call("commit", proposed.state, proposed)

    def values(self, document: Document) -> list[float]:
        """See `gpusearch.features.protocol.Feature`."""
        return [float(value) for value in self.values_of([document])[0]]

    def values_of(self, documents: Sequence[Document]) -> Floats:
        """`values` of N documents, ``[N, K]``: told of all together, and of none where it has been told of them."""
        told = self._told_of(documents)
        parts = [documents[first : first + TEXTS] for first in range(0, len(documents), TEXTS)]
        return np.concatenate([np.zeros((0, self.count)), *(self.full(told.states(part)).values for part in parts)])

    def largest(self, material: Material) -> Floats:
        """Nothing is known of its values; each is checked as it comes."""
        return np.zeros(len(material.problem.unit))

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        return self.identity

    def _noted(self, answer: Answer) -> Answer:
        self.step = max(self.step, answer.step)
        return answer

    def _told_of(self, documents: Sequence[Document]) -> Told:
        """What it has been told of these documents, now or before."""
        if self.told is not None:
            if self.told.holds(documents):
                return self.told
            # What looks at sentences is asked about each by itself, though documents may be what a search is about.
            sentences = self.told.by_sentence()
            if sentences.holds(documents):
                return self._prepare(sentences)
        return self._prepare(told_of(documents))

    def _prepare(self, told: Told) -> Told:
        self.told = None
        if self.has("prepare"):
            self._call("prepare", told.preparation)
        self.told = told
        return told

    def _what(self, function: str) -> str:
        return f"{function} of feature {self.name}"

    def _call(self, function: str, *arguments: Any) -> Any:
        with calling(self._what(function), type(self.written)):
            return getattr(self.written, function)(*arguments)


def batch_feature(name: str, written: Any, identity: bytes) -> BatchFeature:
    """A feature in Python or torch.

    Raises:
        InputError: it lacks what it needs, or asks for what it cannot have.
    """
    if not hasattr(written, "full"):
        raise InputError(f"feature {name} has no function full", found=type(written).__name__)
    if getattr(written, "counts", ()):
        hint = "count in full and commit, or write it in compiled form (docs/features.md)"
        raise InputError(f"feature {name} is written in Python and has no tables of counts", found="counts", hint=hint)
    names = getattr(written, "names", ())
    listed = isinstance(names, tuple | list) and all(isinstance(one, str) for one in names)
    if not listed or len(set(names)) < len(names):
        raise InputError(f"names of feature {name}", found=repr(names), expected="a list of different names")
    return BatchFeature(name, written, scope_of(name, written), tuple(names), identity)
