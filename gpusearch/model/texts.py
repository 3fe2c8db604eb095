"""The target words of what lanes have become."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.records import (
    LM_END,
    OPTION_TARGET,
    OPTION_WORDS,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Problem,
    State,
)
from gpusearch.model.entries import offsets_of, ranges


@dataclass(frozen=True, eq=False)
class Texts:
    """Target texts, a sentence each, the sentences of a lane one after the other."""

    column: NDArray[np.int64]
    """Of each word, in ``Problem.target_word``."""
    counts: NDArray[np.int64]
    """Words of each text."""

    def words(self, problem: Problem, model: int) -> NDArray[np.int32]:
        """Ids in a language model's vocabulary, with ``</s>`` behind each text: one word more than `counts`."""
        return np.insert(
            problem.target_word[model, self.column], np.cumsum(self.counts), problem.language.info[model, LM_END]
        )


def lane_texts(problem: Problem, state: State, lanes: NDArray[np.int64]) -> Texts:
    """The texts of lanes, from ``state.option`` and ``state.length``."""
    unit = problem.unit[state.unit[lanes]]
    sentences = unit[:, UNIT_SENTENCES]
    lane, local = np.repeat(lanes, sentences), ranges(np.zeros_like(sentences), sentences)
    sentence = np.repeat(unit[:, UNIT_FIRST_SENTENCE], sentences) + local
    phrases = state.length[lane, local].astype(np.int64)
    slot = ranges(problem.sentence[sentence, SENTENCE_SLOT], phrases)
    place = problem.option_place[state.option[np.repeat(lane, phrases), slot]].astype(np.int64)
    words = offsets_of(place[:, OPTION_WORDS])
    borders = offsets_of(phrases)
    return Texts(ranges(place[:, OPTION_TARGET], place[:, OPTION_WORDS]), np.diff(words[borders]))
