"""Dependency trees from CoNLL-U: words with heads and parts of speech, and which characters each stands for.

https://universaldependencies.org/format.html
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines
from gpusearch.io.formats.conllu import word_rows


@dataclass(frozen=True)
class Word:
    """A syntactic word."""

    form: str
    head: int
    """Place of the word that it depends on, from 0; -1 for a root."""
    upos: str
    xpos: str
    start: int
    """Its first character among those of the sentence's text; the words of a multiword token
    (French ``du``: de, le) stand for all of its characters."""
    stop: int
    """Behind its last character."""


@dataclass(frozen=True)
class Tree:
    """The words of a sentence. Not always a projective tree, and not always with one root."""

    words: tuple[Word, ...]
    text: str
    """All that is `visible`."""
    path: str
    line: int
    """The sentence's first line in the file, for messages."""


def visible(text: str) -> str:
    """A text without white space, control and format characters (soft hyphens, joiners): what is compared, and what
    characters are counted by.

    Characters are taken apart (Unicode NFKD): accents are characters of their own, a ligature is its letters, a
    fraction its numbers. So it does not matter which form tokens and trees have, and pieces of SentencePiece, whose
    models bring text into NFKC unless they were trained not to, are found in a tree of the text as it was written.
    """
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(one for one in decomposed if not one.isspace() and unicodedata.category(one) not in ("Cc", "Cf"))


def read_trees(path: str | Path) -> list[Tree]:
    """The trees of a file, one a sentence.

    Empty nodes (8.1) are left out.

    Raises:
        InputError: a line that is no CoNLL-U; words that are not numbered 1, 2, ...; a head that the sentence does
            not have; heads that form a circle. Names file and line.
    """
    return trees_of_lines(read_lines(path), path)


def trees_of_lines(lines: Iterable[str], path: str | Path) -> list[Tree]:
    """As `read_trees`, from lines that are read already; ``path`` is for the messages."""
    trees = []
    for first, rows in _sentences(lines):
        comments = next((place for place, row in enumerate(rows) if not row.startswith("#")), len(rows))
        trees.append(_tree(rows[comments:], str(path), first, first + comments))
    return trees


def _sentences(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines of each sentence, and the number of the first."""
    rows: list[str] = []
    for number, line in enumerate(chain(lines, [""]), start=1):
        if line:
            rows.append(line)
        elif rows:
            yield number - len(rows), rows
            rows = []


def _tree(rows: Sequence[str], path: str, first: int, first_row: int) -> Tree:
    words: list[Word] = []
    text = ""
    shared = (0, 0, 0)  # last word of the multiword token that we are in; its characters
    for line, columns, first_word, last_word in word_rows(rows, path, first_row):
        surface = visible(columns[1])
        if first_word < last_word:  # a multiword token: a range of words
            shared = (last_word, len(text), len(text) + len(surface))
            text += surface
            continue
        if first_word != len(words) + 1:
            raise InputError(
                "words that are not numbered one by one",
                path=path,
                line=line,
                found=columns[0],
                expected=f"{len(words) + 1}",
            )
        if first_word <= shared[0]:
            start, stop = shared[1:]
        else:
            start, stop = len(text), len(text) + len(surface)
            text += surface
        words.append(Word(columns[1], _head(columns[6], path, line), columns[3], columns[4], start, stop))
    if not words:
        raise InputError("a sentence without words", path=path, line=first, expected="word lines")
    _check_heads(words, path, first)
    return Tree(tuple(words), text, path, first)


def _head(text: str, path: str, line: int) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError("no head", path=path, line=line, found=repr(text), expected="the number of a word, or 0")
    return int(text) - 1


def _check_heads(words: Sequence[Word], path: str, line: int) -> None:
    for place, word in enumerate(words):
        if word.head >= len(words):
            raise InputError(
                f"the head of word {place + 1} is no word of the sentence",
                path=path,
                line=line,
                found=f"{word.head + 1}",
                expected=f"at most {len(words)}",
            )
    above = [False] * len(words)  # whether a word is known to stand below a root
    for place in range(len(words)):
        passed: list[int] = []
        here = place
        while here >= 0 and not above[here]:
            if len(passed) == len(words):
                raise InputError(f"word {place + 1} depends on itself", path=path, line=line, expected="a tree")
            passed.append(here)
            here = words[here].head
        for each in passed:
            above[each] = True
