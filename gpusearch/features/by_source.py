"""What a feature knows of a sentence, found by the sentence's source words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from gpusearch.errors import InputError
from gpusearch.features.automata import Words

Found = TypeVar("Found")
_EXCERPT = 200


def excerpt(text: str) -> str:
    """The beginning of a text, in quotes, for a message."""
    return repr(text[:_EXCERPT])


def of_source(table: Mapping[Words, Found], tokens: Sequence[str], path: str | Path, what: str) -> Found:
    """What a table has of a sentence.

    Raises:
        InputError: nothing; shows the text and the one that is most like it.
    """
    found = table.get(tuple(tokens))
    if found is None:
        text = " ".join(tokens)
        like = nearest(text, [" ".join(source) for source in table])
        raise InputError(
            f"no {what} of a sentence that is translated",
            path=path,
            found="no sentence" if like is None else excerpt(like),
            expected=excerpt(text),
        )
    return found


def nearest(text: str, others: Iterable[str]) -> str | None:
    """The one of some texts that is most like another; None where there is none."""
    return next(iter(difflib.get_close_matches(text, others, n=1, cutoff=0)), None)


def numbered(sentences: Sequence[Sequence[str]]) -> tuple[list[int], list[Words]]:
    """Of each sentence a number, equal ones for equal words; and the different sentences by number."""
    numbers: dict[Words, int] = {}
    found = [numbers.setdefault(tuple(words), len(numbers)) for words in sentences]
    return found, list(numbers)
