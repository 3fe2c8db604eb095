"""Translations with their segmentation as Moses' ``-t`` prints it: ``words |0-1| words |2-2|``, a sentence a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, split_blank

Phrase = tuple[int, int, list[str]]
"""First source word, the one behind the last, target words."""

_SPAN = re.compile(r"\|([0-9]{1,9})-([0-9]{1,9})\|")


def is_span(word: str) -> bool:
    """Whether a word looks like the span of a phrase."""
    return _SPAN.fullmatch(word) is not None


def parse_trace(line: str) -> list[Phrase] | None:
    """Phrases of a line in target order; None where the line does not end in a span: it is plain text."""
    phrases: list[Phrase] = []
    words: list[str] = []
    for token in split_blank(line):
        span = _SPAN.fullmatch(token)
        if span is None:
            words.append(token)
        else:
            phrases.append((int(span[1]), int(span[2]) + 1, words))
            words = []
    return None if words else phrases


def read_trace(path: str | Path) -> list[list[Phrase]]:
    """Phrases of each line that is not blank, in target order.

    Raises:
        InputError: words behind the last span, or a span whose end lies before its start; names the line.
    """
    sentences = []
    for number, line in enumerate(read_lines(path), 1):
        if not split_blank(line):
            continue
        phrases = parse_trace(line)
        if phrases is None:
            raise InputError(
                "no source span behind the last words",
                path=path,
                line=number,
                found=repr(split_blank(line)[-1]),
                expected="a span such as |3-4|",
                hint="was the translation written with its segmentation (Moses: -t, here: --format trace)?",
            )
        for start, stop, _ in phrases:
            if stop <= start:
                raise InputError("a span ends before its start", path=path, line=number, found=f"|{start}-{stop - 1}|")
        sentences.append(phrases)
    return sentences


def format_trace(phrases: Iterable[tuple[int, int, Sequence[str]]]) -> str:
    """The line of a sentence, without Moses' trailing blank; the source words of a phrase are start .. stop - 1.

    Raises:
        InputError: a target word that looks like a span: the line could not be read again.
    """
    parts = []
    for start, stop, words in phrases:
        for word in words:
            if _SPAN.fullmatch(word):
                raise InputError(
                    "a word that the format trace cannot hold, for it looks like a span",
                    found=word,
                    hint='write the format "jsonl", which has the segmentation, too',
                )
        parts += [*words, f"|{start}-{stop - 1}|"]
    return " ".join(parts)
