"""Mark-up in source text: ``<x translation="a||b" prob="0.7||0.3">words</x>``, as Moses' ``xml-input`` reads it.

Only what has the form of a tag is one; ``a < b`` stays text. Nothing is unescaped. Any name of a tag will do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from gpusearch.errors import InputError

_ATTRIBUTE = re.compile(r'([A-Za-z][\w-]*)\s*=\s*"([^"]*)"')
# Tags that mean something in Moses, and nothing here.
_OTHER_MEANINGS = {"wall", "zone", "ne", "dlt", "passthrough", "seg", "weight-overwrite", "update", "coord"}
_SEPARATOR = "||"


@dataclass(frozen=True)
class Marked:
    """What a tag says of the text between it and its end."""

    first: int
    """The pieces first .. last - 1 of the text stand between them."""
    last: int
    translations: tuple[str, ...]
    probabilities: tuple[float, ...]
    """One for each translation."""


@dataclass(frozen=True)
class MarkedText:
    """A text cut at its tags."""

    pieces: tuple[str, ...]
    marked: tuple[Marked, ...]

    @property
    def plain(self) -> str:
        """The text without tags."""
        return "".join(self.pieces)


@cache
def _tag(opening: str, closing: str) -> re.Pattern[str]:
    inside = r"""(/?)([A-Za-z][\w.-]*)((?:\s+[A-Za-z][\w-]*\s*=\s*"[^"]*")*)\s*(/?)"""
    return re.compile(f"{re.escape(opening)}{inside}{re.escape(closing)}")


def parse_marked(text: str, brackets: Sequence[str] = ("<", ">"), name: str = "the text") -> MarkedText:
    """Cut a text at its tags.

    Args:
        brackets: what opens and closes a tag.
        name: of the text, for messages.

    Raises:
        InputError: a tag without its end or the other way round, numbers of translations and probabilities that
            differ, a tag that has another meaning in Moses.
    """
    pieces: list[str] = []
    marked: list[Marked] = []
    open_tags: list[tuple[str, str, int]] = []
    position = 0
    for tag in _tag(*brackets).finditer(text):
        pieces.append(text[position : tag.start()])
        position = tag.end()
        ends, kind, attributes, empty = tag.groups()
        if kind in _OTHER_MEANINGS:
            raise InputError(f"a tag in {name} that only Moses knows", found=tag[0], hint="leave it out")
        if ends:
            if not open_tags or open_tags[-1][0] != kind:
                raise InputError(f"the end of a tag in {name} that was not opened", found=tag[0])
            _, given, first = open_tags.pop()
            marked += _marked(given, first, len(pieces), name)
        elif empty:
            marked += _marked(attributes, len(pieces), len(pieces), name)
        else:
            open_tags.append((kind, attributes, len(pieces)))
    if open_tags:
        raise InputError(f"a tag in {name} without its end", found=f"{brackets[0]}{open_tags[-1][0]}{open_tags[-1][1]}")
    pieces.append(text[position:])
    return MarkedText(tuple(pieces), tuple(marked))


def _marked(attributes: str, first: int, last: int, name: str) -> list[Marked]:
    values = dict(_ATTRIBUTE.findall(attributes))
    written = values.get("translation", values.get("english"))
    if written is None:
        return []
    if "span" in values:
        raise InputError(f'a tag in {name} with "span"', found=attributes.strip(), hint="put the words into the tag")
    translations = tuple(written.split(_SEPARATOR))
    numbers = values["prob"].split(_SEPARATOR) if "prob" in values else ["1"] * len(translations)
    if len(numbers) != len(translations):
        raise InputError(
            f"translations and probabilities of a tag in {name} differ in number",
            found=f"{len(numbers)} probabilities",
            expected=f"{len(translations)}",
        )
    return [Marked(first, last, translations, tuple(_probability(number, name) for number in numbers))]


def _probability(written: str, name: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise InputError(f"a probability in a tag of {name}", found=repr(written), expected="a number of 0 or more")
    return value
