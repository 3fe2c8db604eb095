"""The features that are built in, by the name that a configuration calls them by."""

from __future__ import annotations

from collections.abc import Callable

from gpusearch.features.cohesive import (
    Cohesion,
    ExhaustiveInterruptionCheck,
    ExhaustiveInterruptionCount,
    InterruptionCheck,
    InterruptionCount,
    NounCount,
    VerbCount,
)
from gpusearch.features.protocol import Feature
from gpusearch.features.q_value import QValueOfPhrases, QValueOfWords
from gpusearch.features.semantic_lm import semantic_language_model
from gpusearch.features.sentence_length import SentenceLength
from gpusearch.features.type_token import Ovix, TypeTokenRatio

COHESION: dict[str, type[Cohesion]] = {
    "coh1": InterruptionCheck,
    "coh2": ExhaustiveInterruptionCheck,
    "coh3": InterruptionCount,
    "coh4": ExhaustiveInterruptionCount,
    "coh5-nouns": NounCount,
    "coh5-verbs": VerbCount,
}
BUILT_IN: dict[str, Callable[..., Feature]] = {
    **COHESION,
    "ovix": Ovix,
    "q-value-phrases": QValueOfPhrases,
    "q-value-words": QValueOfWords,
    "semantic-lm": semantic_language_model,
    "sentence-length": SentenceLength,
    "type-token-ratio": TypeTokenRatio,
}
