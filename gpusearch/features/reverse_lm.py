"""A language model that reads sentences from their ends, as a feature."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.sequence_lm import OwnModel
from gpusearch.features.text import Document
from gpusearch.kernels.sequence_lm import SequenceModel
from gpusearch.model.language_model import LanguageModel


@dataclass(frozen=True, eq=False)
class ReverseLanguageModel(OneValue):
    """Sum of ln p of each target word given the words that follow it, under a model of `gpusearch train-lm --reverse`.

    A sentence is read from its last word, behind <s>, to its first, and </s> ends it; an empty one counts nothing.
    """

    own: OwnModel
    scope: ClassVar[Scope] = Scope.SENTENCE
    counts: ClassVar[tuple[str, ...]] = ()

    def record(self, room: Room) -> SequenceModel:
        """See `gpusearch.features.protocol.Feature`."""
        return self.own.record(room, self.own.model.index(room.material.words), backwards=True)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        return self.own.score([sentence.words[::-1] for sentence in document if sentence.phrases], ends=True)

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return self.own.largest(material)

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        return self.own.fingerprint()


def reverse_language_model(path: str | Path) -> ReverseLanguageModel:
    """The model of an ARPA file that was trained on reversed sentences.

    Raises:
        InputError: it cannot be read, or is no such file.
    """
    return ReverseLanguageModel(OwnModel(LanguageModel.from_arpa(path)))
