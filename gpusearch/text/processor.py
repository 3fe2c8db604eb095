"""From raw text to the tokens of the models and back: what the configuration's ``[text]`` describes."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gpusearch.errors import InputError
from gpusearch.io.files import split_blank
from gpusearch.text.escapes import unescape
from gpusearch.text.languages import check_language
from gpusearch.text.segmentation import MosesSegmenter
from gpusearch.text.spacing import Spacing, read_spacing
from gpusearch.text.subwords import Subwords
from gpusearch.text.truecaser import Truecaser, read_truecaser, restore

if TYPE_CHECKING:
    from gpusearch.config import TextConfig

Side = Literal["source", "target"]


def compose(text: str) -> str:
    """A letter and its accents as one character where there is one: Unicode's canonical composition, NFC."""
    return unicodedata.normalize("NFC", text)


class TextProcessor(ABC):
    """Raw text <-> tokens of one language.

    A token is any non-empty text without blanks (:data:`~gpusearch.io.files.BLANKS`) and line breaks; nothing else is
    forbidden or escaped. A segment is one line: line breaks inside of it count as blanks. No character is replaced but
    as ``[text]`` says (``nfc``, ``normalize``, ``lowercase``).
    """

    def normalized(self, raw: str) -> str:
        """The raw text that is cut into tokens."""
        return raw

    @abstractmethod
    def to_tokens(self, raw: str) -> list[str]:
        """Tokens of a raw segment; none for a segment without any."""

    @abstractmethod
    def to_text(self, tokens: Sequence[str], source: str | None = None) -> str:
        """Raw text of a segment's tokens.

        Args:
            tokens: target (or source) tokens, as the models have them.
            source: the raw source segment where there is one. If it begins in lower case, as the items of a
                list do, the text gets no initial capital.
        """


class BlankProcessor(TextProcessor):
    """``tokenizer = "none"``: the text is tokenised already. Tokens are what stands between blanks.

    Args:
        unescape: the text carries Moses' escapes, as do the tables; both are read without them.
        lowercase: lower-case all tokens.
    """

    def __init__(self, *, unescape: bool = False, lowercase: bool = False) -> None:
        self._unescape, self._lowercase = unescape, lowercase

    def to_tokens(self, raw: str) -> list[str]:
        """Split at blanks only: a no-break space is part of a word."""
        text = unescape(raw) if self._unescape else raw
        return _split(text.lower() if self._lowercase else text)

    def to_text(self, tokens: Sequence[str], source: str | None = None) -> str:
        """Tokens with one blank between them."""
        return " ".join(tokens)


class MosesProcessor(TextProcessor):
    """``tokenizer = "moses"``: words and punctuation marks, true-cased or lower-cased if wished.

    Args:
        language: code of ISO 639.
        spacing: how to write tokens as text; by rules where it is None.
        truecase: capitals at the beginnings of sentences are given back on the way to text.
        truecaser: the model that takes them away on the way to tokens.
        known_forms: see :meth:`~gpusearch.text.truecaser.Truecaser.apply`.
        lowercase: lower-case all tokens (and so the text that is made of them).
        nfc: see :func:`compose`.
        normalize: replace typographic quotes and other variants of punctuation by their plain forms, as
            Moses' ``normalize-punctuation`` does.
        split_hyphens: a hyphen inside of a word becomes a token of its own (``@-@``).
    """

    def __init__(
        self,
        language: str,
        *,
        spacing: Spacing | None = None,
        truecase: bool = False,
        truecaser: Truecaser | None = None,
        known_forms: bool = False,
        lowercase: bool = False,
        nfc: bool = True,
        normalize: bool = False,
        split_hyphens: bool = False,
    ) -> None:
        self._segmenter = MosesSegmenter(language, split_hyphens=split_hyphens)
        self._spacing = spacing or Spacing(language)
        self._truecase = truecase and not lowercase
        self._truecaser = truecaser
        self._known_forms = known_forms
        self._lowercase = lowercase
        self._nfc = nfc
        self._plain_punctuation = _punctuation_normalizer(language) if normalize else None

    def normalized(self, raw: str) -> str:
        """The raw text with composed letters and plain punctuation, as far as that is wished."""
        text = compose(raw) if self._nfc else raw
        return self._plain_punctuation(text) if self._plain_punctuation else text

    def to_tokens(self, raw: str) -> list[str]:
        """Tokens in their true case."""
        tokens = self._segmenter.tokens(self.normalized(raw))
        if self._lowercase:
            return [token.lower() for token in tokens]
        if not self._truecase:
            return tokens
        if self._truecaser is None:
            raise InputError("truecase = true without a truecasing model of this side", hint="name its file")
        return self._truecaser.apply(tokens, known_forms=self._known_forms)

    def to_text(self, tokens: Sequence[str], source: str | None = None) -> str:
        """Text with capitals at the beginnings of sentences and the usual spacing."""
        if self._truecase:
            tokens = restore(tokens, initial_capital=not _begins_in_lower_case(source or ""))
        return self._spacing.join(tokens)


class SentencePieceProcessor(TextProcessor):
    """``tokenizer = "sentencepiece"``: subwords.

    Args:
        subwords: the model.
        lowercase: lower-case the text first.
        nfc: see :func:`compose`.
    """

    def __init__(self, subwords: Subwords, *, lowercase: bool = False, nfc: bool = True) -> None:
        self._subwords, self._lowercase, self._nfc = subwords, lowercase, nfc

    def normalized(self, raw: str) -> str:
        """The raw text with composed and small letters, as far as that is wished."""
        text = compose(raw) if self._nfc else raw
        return text.lower() if self._lowercase else text

    def to_tokens(self, raw: str) -> list[str]:
        """Pieces; every Unicode space is a character like any other."""
        return self._subwords.split(self.normalized(raw).replace("\n", " "))

    def to_text(self, tokens: Sequence[str], source: str | None = None) -> str:
        """The pieces' text."""
        return self._subwords.join(tokens)


def make_processor(config: TextConfig, side: Side) -> TextProcessor:
    """The processor of one side as ``[text]`` of a configuration describes it.

    Raises:
        InputError: no language for the Moses tokenizer, a model file that is missing or faulty.
    """
    if config.tokenizer == "none":
        return BlankProcessor(unescape=config.unescape, lowercase=config.lowercase)
    if config.tokenizer == "sentencepiece":
        model = _of_side(config, "sentencepiece_{}", side)
        if model is None:
            raise InputError('tokenizer = "sentencepiece" without a model file', hint=f"set sentencepiece_{side}")
        return SentencePieceProcessor(Subwords(model), lowercase=config.lowercase, nfc=config.nfc)
    language = config.source_language if side == "source" else config.target_language
    if language is None:
        raise InputError('tokenizer = "moses" without a language', hint=f"set text.{side}_language")
    check_language(language, f"text.{side}_language")
    truecaser, spacing = _of_side(config, "{}_truecaser", side), _of_side(config, "{}_spacing", side)
    return MosesProcessor(
        language,
        spacing=read_spacing(spacing, language) if spacing else None,
        truecase=config.truecase,
        truecaser=read_truecaser(truecaser) if config.truecase and truecaser else None,
        known_forms=side == "source",
        lowercase=config.lowercase,
        nfc=config.nfc,
        normalize=config.normalize,
        split_hyphens=config.split_hyphens,
    )


def _of_side(config: TextConfig, key: str, side: Side) -> Path | None:
    value: Path | None = getattr(config, key.format(side))
    return value


def _split(text: str) -> list[str]:
    return split_blank(text.replace("\n", " "))


def _begins_in_lower_case(text: str) -> bool:
    """Whether the first letter or digit is a lower-case letter."""
    return next((character for character in text if character.isalnum()), "").islower()


def _punctuation_normalizer(language: str) -> Callable[[str], str]:
    """Moses' ``normalize-punctuation`` for a language, as sacremoses has it."""
    from sacremoses import MosesPunctNormalizer

    normalize: Callable[[str], str] = MosesPunctNormalizer(language).normalize
    return normalize
