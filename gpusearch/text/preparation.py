"""One side of a parallel text made ready for training: its models, and its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, replaced, split_blank
from gpusearch.text.processor import (
    BlankProcessor,
    MosesProcessor,
    SentencePieceProcessor,
    Side,
    punctuation_normalizer,
)
from gpusearch.text.spacing import train_spacing
from gpusearch.text.subwords import train_sentencepiece
from gpusearch.text.tokenize_file import tokenize_file
from gpusearch.text.truecaser import train_truecaser


def prepare_side(
    raw: str | Path,
    tokens: str | Path,
    folder: str | Path,
    side: Side,
    *,
    tokenizer: Literal["none", "moses", "sentencepiece"] = "moses",
    language: str | None = None,
    truecase: bool = True,
    lowercase: bool = False,
    unescape: bool = False,
    normalize: bool = False,
    split_hyphens: bool = False,
    vocabulary_size: int = 16_000,
    threads: int = 1,
) -> dict[str, Path]:
    """Train the models of one side from its raw text and write its tokens.

    The tokens are those that :func:`~gpusearch.text.processor.make_processor` gives for the same settings and
    the returned files, line for line. All files are the same for equal text and any number of threads.

    Args:
        raw: raw text, a segment a line.
        tokens: file to write the tokens of each line to.
        folder: where the models go.
        side: ``source`` or ``target``.
        tokenizer, language, truecase, lowercase, unescape, normalize, split_hyphens: as ``[text]`` has them;
            truecasing and the last two are the Moses tokenizer's.
        vocabulary_size: pieces of a SentencePiece model.
        threads: processes that tokenise.

    Returns:
        The keys of ``[text]`` that name the files of this side, with their paths.

    Raises:
        InputError: the text cannot be read; no language for the Moses tokenizer; too large a vocabulary_size.
    """
    folder = Path(folder)
    if tokenizer == "none":
        tokenize_file(raw, tokens, BlankProcessor(unescape=unescape, lowercase=lowercase), threads)
        return {}
    if tokenizer == "sentencepiece":
        model = folder / f"sentencepiece.{side}.model"
        lines = read_lines(raw)
        subwords = train_sentencepiece(lines, model, vocabulary_size=vocabulary_size, lowercase=lowercase)
        tokenize_file(raw, tokens, SentencePieceProcessor(subwords, lowercase=lowercase), threads)
        return {f"sentencepiece_{side}": model}
    if language is None:
        raise InputError('tokenizer = "moses" without a language', hint=f"give the {side}'s")
    files = {f"{side}_spacing": folder / f"spacing.{side}"}
    lines = map(punctuation_normalizer(language), read_lines(raw)) if normalize else read_lines(raw)
    train_spacing(lines, language, files[f"{side}_spacing"])
    processor = MosesProcessor(language, lowercase=lowercase, normalize=normalize, split_hyphens=split_hyphens)
    tokenize_file(raw, tokens, processor, threads)
    if truecase and not lowercase:
        files[f"{side}_truecaser"] = folder / f"truecaser.{side}"
        truecaser = train_truecaser(_token_lines(tokens), files[f"{side}_truecaser"])
        with replaced(tokens) as stream:
            for line in _token_lines(tokens):
                cased = truecaser.apply(line, known_forms=side == "source")
                stream.write(" ".join(cased).encode() + b"\n")
    return files


def _token_lines(path: str | Path) -> Iterator[list[str]]:
    return map(split_blank, read_lines(path))
