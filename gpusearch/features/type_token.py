"""Lexical variation of a translation: type-token ratio and OVIX (Stymne et al. 2013, section 5.4, equation 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.kernels import type_token as kernels
from gpusearch.kernels.records import UNIT_PLACES

FORMS = ("paper", "docent")


def check_form(name: str, form: str) -> None:
    """Refuse a form that a feature does not have.

    Raises:
        InputError: names the feature.
    """
    if form not in FORMS:
        raise InputError(f"unknown form of {name}", found=repr(form), expected=" or ".join(FORMS))


@dataclass(frozen=True)
class TypeTokenRatio(OneValue):
    """V / N, different target words by all of them; with ``form = "docent"`` its logarithm.

    A translation without words has the value 0.
    """

    form: str = "paper"
    scope: ClassVar[Scope] = Scope.DOCUMENT
    counts: ClassVar[tuple[str, ...]] = ("words",)

    def __post_init__(self) -> None:
        check_form("type-token-ratio", self.form)

    def record(self, room: Room) -> kernels.TypeToken:
        """See `gpusearch.features.protocol.Feature`."""
        return _record(room, kernels.RATIO if self.form == "paper" else kernels.LOGARITHM)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        types, tokens = types_and_tokens(document)
        if not tokens:
            return 0.0
        return types / tokens if self.form == "paper" else math.log(types / tokens)

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return np.log(np.maximum(3, material.problem.unit[:, UNIT_PLACES]).astype(np.float64))


@dataclass(frozen=True)
class Ovix(OneValue):
    """OVIX = ln N / ln (2 - ln V / ln N), which depends on the length of a text less than V / N does.

    Where it is not defined (N < 2, or V = N) it is that of V = N - 1 for N > 2, else 0. With ``form = "docent"`` it is
    -ln N / ln (2 - ln V / ln (N + 1)).
    """

    form: str = "paper"
    scope: ClassVar[Scope] = Scope.DOCUMENT
    counts: ClassVar[tuple[str, ...]] = ("words",)

    def __post_init__(self) -> None:
        check_form("ovix", self.form)

    def record(self, room: Room) -> kernels.TypeToken:
        """See `gpusearch.features.protocol.Feature`."""
        return _record(room, kernels.OVIX if self.form == "paper" else kernels.OVIX_OF_DOCENT)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        types, tokens = types_and_tokens(document)
        if self.form == "docent":
            return -math.log(tokens) / math.log(2 - math.log(types) / math.log(tokens + 1)) if tokens else 0.0
        if types == tokens:
            if tokens < 3:
                return 0.0
            types -= 1
        return math.log(tokens) / math.log(2 - math.log(types) / math.log(tokens))

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        # Where V = N - 1, ln V / ln N is nearly 1 - 1 / (N ln N).
        tokens = np.maximum(3, material.problem.unit[:, UNIT_PLACES]).astype(np.float64)
        return 2 * tokens * np.log(tokens) ** 2


def types_and_tokens(document: Document) -> tuple[int, int]:
    """Different target words of a document, and all of them."""
    words = [word for sentence in document for word in sentence.words]
    return len(set(words)), len(words)


def _record(room: Room, form: int) -> kernels.TypeToken:
    return kernels.TypeToken(np.array([room.tables["words"], form], np.int64))
