"""What features with a language model of their own have in common: the model, and the record that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.features.material import Material
from gpusearch.features.protocol import Room
from gpusearch.kernels import sequences as kernels
from gpusearch.kernels.records import UNIT_PLACES, UNIT_SENTENCES, UNIT_WORDS
from gpusearch.kernels.sequence_lm import SequenceModel  # with its functions
from gpusearch.model.automaton import UNIT
from gpusearch.model.entries import offsets_of
from gpusearch.model.language_model import LanguageModel

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OwnModel:
    """A language model for either sign of a feature's weight."""

    model: LanguageModel

    @cached_property
    def lower(self) -> LanguageModel:
        """The model with lower bounds."""
        return self.model.with_lower_bounds()

    def score(self, texts: Sequence[Sequence[str]], *, ends: bool) -> float:
        """ln P of texts, each behind <s>; with `ends` each has a </s>."""
        return float(self.model.score_texts(texts, eos=ends, threads=1).sum())

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Bound of the absolute value of all words of each unit ``[U]``, nats."""
        return material.problem.unit[:, UNIT_PLACES] * (self.model.largest_value / UNIT)

    def fingerprint(self) -> bytes:
        """What tells models apart."""
        digest = blake2b(digest_size=8)
        for array in (self.model.language.slot, self.model.language.state):
            digest.update(np.ascontiguousarray(array).tobytes())
        for array in self.model.vocabulary.sequences.arrays("").values():
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.digest()

    def record(
        self,
        room: Room,
        ids: NDArray[np.int32],
        selected: NDArray[np.bool_] | None = None,
        *,
        across: bool = False,
        backwards: bool = False,
    ) -> SequenceModel:
        """The record of a feature; sequences that are read backwards end with </s>.

        Args:
            ids: of each of `Material.words` its number in the model.
            selected: which of them are read; None: all.
            across: a sequence goes on across sentences.
            backwards: sentences are read from their ends.
        """
        material = room.material
        model = self.lower if room.weights and room.weights[0] < 0 else self.model
        places, first = material.target_places()
        option = np.repeat(np.arange(len(first) - 1), np.diff(first))
        if backwards:
            places = places[first[option] + first[option + 1] - 1 - np.arange(len(places))]
        if selected is not None:
            kept = selected[material.word[places]]
            places, first = places[kept], offsets_of(np.bincount(option[kept], minlength=len(first) - 1))
        word = np.ascontiguousarray(ids[material.word[places]], np.int32)
        bounds = model.phrase_bounds(word, first, threads=1)
        number = _columns(room, selected is not None)
        number[kernels.ACROSS], number[kernels.BACKWARDS], number[kernels.ENDS] = across, backwards, backwards
        return SequenceModel(model.language, first, word, bounds.word_bound, number)


def _columns(room: Room, ranks: bool) -> Integers:
    """``SequenceModel.number`` without its switches."""
    unit = room.material.problem.unit
    places, sentences = (int(unit[:, column].max(initial=1)) for column in (UNIT_PLACES, UNIT_SENTENCES))
    slots = int((unit[:, UNIT_WORDS] + unit[:, UNIT_SENTENCES]).max(initial=1))
    number = np.zeros(kernels.SEQUENCE_NUMBERS, np.int64)
    for column in (kernels.WORDS, kernels.VALUES, kernels.STATES, kernels.SLACKS):
        number[column] = room.keep_counts(places)
    number[kernels.RANKS] = room.keep_counts(slots) if ranks else -1
    for column in (kernels.LENGTHS, kernels.BEFORE, kernels.BEHIND):
        number[column] = room.keep_counts(sentences)
    number[kernels.MOST] = max(1, room.material.longest_sentence)
    room.need_work(2 * int(number[kernels.MOST]))
    return number
