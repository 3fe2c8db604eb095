"""The settings of a training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gpusearch.errors import InputError
from gpusearch.train.alignment import LARGEST_SEED, LONGEST_SENTENCE
from gpusearch.train.language_model import TOOLS
from gpusearch.train.lmplz import find_lmplz
from gpusearch.train.phrases import LONGEST
from gpusearch.train.reordering import MODELS
from gpusearch.train.significance import threshold


@dataclass(frozen=True)
class TrainOptions:
    """What a model is made of; the defaults are those of the command line.

    Attributes:
        tokenizer, source_language, target_language, truecase, lowercase: see `gpusearch.config.TextConfig`;
            languages are read from the file names where not given.
        sentencepiece_size: pieces of each vocabulary, for the tokenizer sentencepiece.
        max_sentence_length: pairs with more tokens on either side make no phrases.
        aligner: "fast_align", "hmm" or "eflomal".
        alignment: file of word alignments to use instead (`0-0 1-2`), of the text as it is tokenised here.
        seed: all randomness of the aligner follows from it.
        max_phrase_length: words of the longest phrases.
        kneser_ney_phrases: smooth the phrase probabilities.
        significance: "alpha+epsilon", "alpha-epsilon", "alpha" or a number; None: keep all pairs.
        min_count: drop phrase pairs that were extracted fewer times.
        reordering: "msd" or "mslr"; None: no reordering table.
        order: of the language model.
        lm_text: more text in the target language, for the language model only.
        lm_tool: "own", or "lmplz" if that is on the PATH.
    """

    tokenizer: Literal["none", "moses", "sentencepiece"] = "moses"
    source_language: str | None = None
    target_language: str | None = None
    truecase: bool = True
    lowercase: bool = False
    sentencepiece_size: int = 16_000
    max_sentence_length: int = 120
    aligner: str = "eflomal"
    alignment: Path | None = None
    seed: int = 1
    max_phrase_length: int = 7
    kneser_ney_phrases: bool = False
    significance: str | None = None
    min_count: int = 1
    reordering: str | None = "msd"
    order: int = 5
    lm_text: tuple[Path, ...] = ()
    lm_tool: str = "own"

    def check(self) -> None:
        """Raise InputError where a value cannot be used."""
        _one_of("aligner", self.aligner, tuple(LONGEST_SENTENCE))
        if self.reordering is not None:
            _one_of("reordering model", self.reordering, (*MODELS, "none"))
        _within("maximum phrase length", self.max_phrase_length, 1, LONGEST)
        _within("maximum sentence length", self.max_sentence_length, 1, LONGEST_SENTENCE[self.aligner])
        _within("seed", self.seed, 0, LARGEST_SEED)
        _within("order of the language model", self.order, 2, 9)
        if self.significance is not None:
            threshold(self.significance, 1)
        _one_of("tool for language models", self.lm_tool, TOOLS)
        if self.lm_tool == "lmplz":
            find_lmplz()


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"unknown {what}", found=repr(value), expected=" | ".join(known))


def _within(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(f"unusable {what}", found=value, expected=f"{least} to {most}")
