"""The semantic document language model as a feature (Hardmeier et al. 2012, section 4.3, equation 15)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.semantic import VALUE_UNITS, SemanticSpace, load_space
from gpusearch.features.semantic_lift import lifts
from gpusearch.features.text import Document
from gpusearch.kernels import semantic_document as kernels
from gpusearch.kernels.records import UNIT_PLACES
from gpusearch.kernels.semantic import SEMANTIC_HISTORY


@dataclass(frozen=True, eq=False)
class SemanticLanguageModel(OneValue):
    """ln of the probability of a translated document under a space that `gpusearch train-lsa` made."""

    space: SemanticSpace
    scope: ClassVar[Scope] = Scope.DOCUMENT
    counts: ClassVar[tuple[str, ...]] = ()

    def record(self, room: Room) -> kernels.SemanticDocument:
        """See `gpusearch.features.protocol.Feature`."""
        material, model = room.material, self.space.kernel
        places = int(material.problem.unit[:, UNIT_PLACES].max(initial=1))
        words = max(1, material.longest_sentence)
        number = np.zeros(kernels.SEMANTIC_NUMBERS, np.int64)
        number[kernels.CODES], number[kernels.CELLS] = room.keep_counts(places), room.keep_counts(places)
        number[kernels.MOST_WORDS] = words
        sign = -1 if room.weights and room.weights[0] < 0 else 1
        number[kernels.BEST] = sign * (sign * model.value).max()
        room.need_work(model.vector.shape[1] + 3 * (words + int(model.number[SEMANTIC_HISTORY])))
        codes = self.space.codes(material.words)[material.word]
        return kernels.SemanticDocument(model, codes, lifts(model, sign), number)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        return self.space.document_score(sentence.words for sentence in document)

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        model = self.space.kernel
        every = np.concatenate((model.value, model.fixed))
        return material.problem.unit[:, UNIT_PLACES] * float(np.abs(every).max()) / VALUE_UNITS

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        words = "\n".join((f"{self.space.lowercase}", *self.space.content, "", *self.space.stop))
        digest = blake2b(words.encode(), digest_size=8)
        for array in (self.space.vector, *self.space.kernel[1:]):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.digest()


def semantic_language_model(path: str | Path) -> SemanticLanguageModel:
    """The model of a file.

    Raises:
        InputError: it cannot be read, or is no such model.
    """
    return SemanticLanguageModel(load_space(path))
