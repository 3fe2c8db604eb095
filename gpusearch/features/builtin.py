"""The features that are built in, by the name that a configuration calls them by."""

from __future__ import annotations

from collections.abc import Callable

from gpusearch.features.bleu import BleuOracle
from gpusearch.features.cohesive import (
    Cohesion,
    ExhaustiveInterruptionCheck,
    ExhaustiveInterruptionCount,
    InterruptionCheck,
    InterruptionCount,
    NounCount,
    VerbCount,
)
from gpusearch.features.consensus import ConsensusOptions
from gpusearch.features.gappy_lm import gappy_language_model
from gpusearch.features.glossary import read_glossary
from gpusearch.features.protocol import Feature, OfTexts
from gpusearch.features.q_value import QValueOfPhrases, QValueOfWords
from gpusearch.features.reverse_lm import reverse_language_model
from gpusearch.features.semantic_lm import semantic_language_model
from gpusearch.features.sentence_length import SentenceLength
from gpusearch.features.simple import Bracketing, LongWords, SentenceParity
from gpusearch.features.translation_cache import TranslationCache
from gpusearch.features.type_token import Ovix, TypeTokenRatio
from gpusearch.features.well_formedness import WellFormedness

COHESION: dict[str, type[Cohesion]] = {
    "coh1": InterruptionCheck,
    "coh2": ExhaustiveInterruptionCheck,
    "coh3": InterruptionCount,
    "coh4": ExhaustiveInterruptionCount,
    "coh5-nouns": NounCount,
    "coh5-verbs": VerbCount,
}
# How far each looks, and what a proposal makes it look at.
_STEPS = "sentence", "the steps that change, and the phrases before them"
COSTS = dict.fromkeys(COHESION, _STEPS) | {
    "bleu-oracle": ("document", "the words that change, and three words on either side"),
    "bracketing": ("document", "the phrases that change"),
    "cache": ("document", "the items that change, and the sentences around that have them"),
    "consensus": ("sentence", "the words that change, and three words on either side"),
    "gappy-lm": ("document", "the selected words that change, and order - 1 of them behind"),
    "glossary": ("sentence", "the words that change, and as many on either side as the longest term has"),
    "long-words": ("sentence", "the phrases that change"),
    "ovix": ("document", "the words that change"),
    "q-value-phrases": ("document", "the phrase pairs that change, and those that share a side with them"),
    "q-value-words": ("document", "the word pairs that change, and those that share a side with them"),
    "reverse-lm": ("sentence", "the words that change, and order - 1 words before them"),
    "semantic-lm": ("document", "the words that change, and 30 words of the space behind them"),
    "sentence-length": ("sentence", "the number of words that change"),
    "sentence-parity": ("document", "the number of words that change"),
    "type-token-ratio": ("document", "the words that change"),
    "well-formedness": ("document", "the tags of the sentence, and those that sentences leave open or close"),
}
BUILT_IN: dict[str, Callable[..., Feature | OfTexts]] = {
    **{name: kind.of_file for name, kind in COHESION.items()},
    "bleu-oracle": BleuOracle,
    "bracketing": Bracketing,
    "cache": TranslationCache,
    "consensus": ConsensusOptions,
    "gappy-lm": gappy_language_model,
    "glossary": read_glossary,
    "long-words": LongWords,
    "ovix": Ovix,
    "q-value-phrases": QValueOfPhrases,
    "q-value-words": QValueOfWords,
    "reverse-lm": reverse_language_model,
    "semantic-lm": semantic_language_model,
    "sentence-length": SentenceLength,
    "sentence-parity": SentenceParity,
    "type-token-ratio": TypeTokenRatio,
    "well-formedness": WellFormedness,
}
