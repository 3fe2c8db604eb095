"""The first stage of training: models of the text, and both sides as lines of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from gpusearch.config import TextConfig
from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, replaced, split_blank
from gpusearch.progress import SILENT, Progress
from gpusearch.text import (
    make_processor,
    tokenize_lines,
    train_sentencepiece,
    train_spacing,
    train_truecaser,
)
from gpusearch.text.languages import check_language, language_code
from gpusearch.text.processor import Side, compose

SIDES: tuple[Side, Side] = ("source", "target")


def guess_language(path: Path) -> str | None:
    """The two-letter code in a file name such as `train.fr`, `fr.txt` or `corpus.fr.gz`."""
    parts = [part for part in reversed(path.name.split(".")) if len(part) == 2 and part.islower()]
    return next((part for part in parts if language_code(part)), None)


def settle_text(
    paths: Sequence[Path],
    *,
    tokenizer: Literal["none", "moses", "sentencepiece"],
    languages: Sequence[str | None],
    truecase: bool,
    lowercase: bool,
    folder: Path,
) -> TextConfig:
    """The `[text]` group of a model to be trained, whose files will stand in `folder`.

    Raises:
        InputError: the Moses tokenizer is to be used, and a language is neither given nor seen in the file name, or
            what is given is no language code.
    """
    codes = [given or guess_language(path) for given, path in zip(languages, paths, strict=True)]
    moses = tokenizer == "moses"
    for side, code, path in zip(SIDES, codes, paths, strict=True):
        if moses and code is None:
            raise InputError(
                f"the {side} language is not known",
                found=f"no two-letter code in the name {path.name}",
                hint=f"give --{side}-language, or --tokenizer none",
            )
        if moses and code is not None:
            check_language(code, f"--{side}-language")
    cased = moses and truecase and not lowercase
    pieces = tokenizer == "sentencepiece"
    return TextConfig(
        tokenizer=tokenizer,
        source_language=codes[0],
        target_language=codes[1],
        lowercase=lowercase,
        truecase=cased,
        source_truecaser=folder / "truecaser.source" if cased else None,
        target_truecaser=folder / "truecaser.target" if cased else None,
        target_spacing=folder / "spacing.target" if moses else None,
        sentencepiece_source=folder / "sentencepiece.source" if pieces else None,
        sentencepiece_target=folder / "sentencepiece.target" if pieces else None,
    )


def prepare_text(
    paths: Sequence[Path],
    tokens: Sequence[Path],
    config: TextConfig,
    *,
    pieces: int = 16_000,
    threads: int = 1,
    progress: Progress = SILENT,
) -> None:
    """Train the models that `config` names and write the tokens of both sides.

    Args:
        paths: raw text of source and target.
        tokens: files to write, a line for each line of text, tokens with a blank between them.
        pieces: size of each SentencePiece vocabulary.
    """
    for side, path, out in zip(SIDES, paths, tokens, strict=True):
        subwords: Path | None = getattr(config, f"sentencepiece_{side}")
        if subwords is not None:
            with progress.task(f"learn the pieces of the {side}"):
                lines = map(compose, read_lines(path)) if config.nfc else read_lines(path)
                train_sentencepiece(lines, subwords, vocabulary_size=pieces, lowercase=config.lowercase)
        # Tokens do not depend on the spacing. Of the truecased text only the case differs, so that it is tokenised
        # once, for the model and for its use.
        processor = make_processor(config.model_copy(update={"truecase": False, f"{side}_spacing": None}), side)
        spacing: Path | None = getattr(config, f"{side}_spacing")
        language: str | None = getattr(config, f"{side}_language")
        if spacing is not None and language is not None:
            with progress.task(f"learn the spacing of the {side}"):
                train_spacing(map(processor.normalized, read_lines(path)), language, spacing)
        with progress.task(f"tokenize the {side}", None, "lines") as task:
            lines = tokenize_lines(read_lines(path), processor, threads)
            _write(_counted(lines, task.advance), out)
        truecaser: Path | None = getattr(config, f"{side}_truecaser")
        if truecaser is not None:
            with progress.task(f"truecase the {side}", None, "lines") as task:
                model = train_truecaser(map(split_blank, read_lines(out)), truecaser)
                known = side == "source"
                lines = (" ".join(model.apply(split_blank(line), known_forms=known)) for line in read_lines(out))
                _write(_counted(lines, task.advance), out)


def prepare_target(
    paths: Sequence[Path], out: Path, config: TextConfig, *, threads: int = 1, progress: Progress = SILENT
) -> None:
    """Write the tokens of more target text, for the language model, with the models that were trained."""
    processor = make_processor(config, "target")
    raw = (line for path in paths for line in read_lines(path))
    with progress.task("tokenize more target text", None, "lines") as task:
        _write(_counted(tokenize_lines(raw, processor, threads), task.advance), out)


def _counted(lines: Iterable[str], advance: Callable[[int], None]) -> Iterator[str]:
    for line in lines:
        advance(1)
        yield line


def _write(lines: Iterable[str], path: Path) -> None:
    with replaced(path) as stream:
        for line in lines:
            stream.write(line.encode() + b"\n")
