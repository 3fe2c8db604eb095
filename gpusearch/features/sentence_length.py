"""Length of a sentence's translation beside that of its source, as Docent has it (sentence-length-model)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.kernels import sentence_length as kernels
from gpusearch.kernels.records import SENTENCE_PLACE, SENTENCE_WORDS, UNIT_PLACES, UNIT_SENTENCES
from gpusearch.model.tableless import LOWEST_LOG
from gpusearch.model.weights import VALUE_UNITS


@dataclass(frozen=True)
class SentenceLength(OneValue):
    """ln of the probability of a sentence's length: that of its source, or d words less or more, d geometric.

    ln p(0) = ln `identical`; shorter by d: ln `shorter` + ln `decay_shorter` + (d - 1) ln (1 - `decay_shorter`); longer
    by d the same with 1 - `identical` - `shorter` and `decay_longer`; not below -100. Empty sentences do not count.
    """

    identical: float = 0.1
    shorter: float = 0.45
    decay_shorter: float = 0.3
    decay_longer: float = 0.3
    scope: ClassVar[Scope] = Scope.SENTENCE
    counts: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in ("identical", "shorter", "decay_shorter", "decay_longer"):
            value = getattr(self, name)
            if not isinstance(value, float) or not 0 < value < 1:
                raise InputError(f"unusable {name} of sentence-length", found=value, expected="between 0 and 1")
        if self.identical + self.shorter >= 1:
            raise InputError(
                "identical and shorter of sentence-length leave nothing for longer translations",
                found=self.identical + self.shorter,
                expected="a sum below 1",
            )

    def log(self, more: int) -> float:
        """The value of a sentence whose translation has so many words more than its source."""
        if more == 0:
            return max(LOWEST_LOG, math.log(self.identical))
        share, decay = self.shorter, self.decay_shorter
        if more > 0:
            share, decay = 1 - self.identical - self.shorter, self.decay_longer
        return max(LOWEST_LOG, math.log(share) + math.log(decay) + (abs(more) - 1) * math.log1p(-decay))

    def record(self, room: Room) -> kernels.SentenceLength:
        """See `gpusearch.features.protocol.Feature`."""
        most = _longest(room.material)
        value: NDArray[np.int32] = np.array(
            [[round(VALUE_UNITS * self.log(sign * d)) for d in range(most + 1)] for sign in (-1, 1)], np.int32
        )
        return kernels.SentenceLength(value)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        return sum(self.log(len(sentence.words) - len(sentence.source)) for sentence in document if sentence.phrases)

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return -LOWEST_LOG * material.problem.unit[:, UNIT_SENTENCES].astype(np.float64)


def _longest(material: Material) -> int:
    """Most words that a sentence has on either side."""
    rows, unit = material.problem.sentence, material.problem.unit
    return int(
        max(
            rows[:, SENTENCE_WORDS].max(initial=0),
            rows[:, SENTENCE_PLACE].max(initial=0),
            unit[:, UNIT_PLACES].max(initial=0),
        )
    )
