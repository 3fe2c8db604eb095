"""Spaces between tokens on the way back to text: learned from raw text, with rules where nothing was learned.

Where a blank stands is a convention of the text, not of the language: European French writes ``mot ;`` with
a no-break space, Canadian French ``mot;``, statutes write ``2(1)`` and prose ``2 (one)``. So the gaps are
counted in the raw training text, in the context of the kinds of the tokens around them, and the most frequent
one is written.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, replaced
from gpusearch.text.segmentation import JOINED_HYPHEN, MosesSegmenter

Context = tuple[str, str, str, str]
"""Kinds of the tokens around a gap: two before it, two after it; ``any`` where one does not matter."""

_GAPS = {"none": "", "blank": " ", "no-break": "\u00a0", "narrow-no-break": "\u202f"}
_NAMES = {gap: name for name, gap in _GAPS.items()}
_LEAST_COUNT = 3  # a context seen less often than this is not trusted
_BORDER = "border"  # stands for what lies outside of the line
_ANY = "any"
_APOSTROPHES = frozenset("'’")
_STRAIGHT_QUOTES = frozenset("\"'")
_CLOSING = frozenset(",.;:!?)]}%”»›…°′″")
_OPENING = frozenset("([{“„«‹¿¡$£€#")
_SPACED_IN_FRENCH = frozenset(";:!?%»›")
_LOW_QUOTES = frozenset(("bg", "cs", "de", "hr", "lt", "sk", "sl"))  # languages that write „so“


class Spacing:
    """Writes tokens as text.

    The gap between two tokens is looked up in four contexts, the narrowest first: kinds of two tokens before
    it and two after, two and one, one and two, one and one; then the rules decide. The kind of a word is what
    its near end looks like (letter, digit, apostrophe), that of any other token is the token itself; straight
    quotes count as opening and closing in turn.

    Args:
        language: code of ISO 639, for the rules.
        gaps: context -> gap, as :func:`train_spacing` makes it.
    """

    def __init__(self, language: str, gaps: dict[Context, str] | None = None) -> None:
        self.language = language
        self.gaps = gaps or {}

    def join(self, tokens: Sequence[str]) -> str:
        """The text of a line's tokens."""
        pieces: list[str] = []
        for token, contexts in zip(tokens, _contexts(tokens), strict=False):
            pieces += (token, self._gap(contexts))
        pieces += tokens[-1:]
        if JOINED_HYPHEN in tokens:
            return "".join("-" if piece == JOINED_HYPHEN else piece for piece in pieces)
        return "".join(pieces)

    def _gap(self, contexts: tuple[Context, ...]) -> str:
        for context in contexts:
            gap = self.gaps.get(context)
            if gap is not None:
                return gap
        return self._gap_by_rule(*contexts[0])

    def _gap_by_rule(self, before: str, left: str, right: str, after: str) -> str:
        if JOINED_HYPHEN in (left, right):
            return ""
        high_quote_closes = self.language in _LOW_QUOTES
        if left in ('"<', "'<") or (left in _OPENING and not (left == "“" and high_quote_closes)):
            return " " if left in "«‹" and self.language == "fr" else ""
        if right in ('">', "'>") or right in _CLOSING or (right == "“" and high_quote_closes):
            return " " if right in _SPACED_IN_FRENCH and self.language == "fr" else ""
        if left == "word'" or right == "'word" or right == "’":
            return ""  # l' | eau, Minister | 's, the members | ’
        if right == "(" and (left == ")" or (left == "number" and after in ("number", "letter"))):
            return ""  # paragraph 3(1)(e)
        if (left == "/" and {before, right} <= _WORD_KINDS) or (right == "/" and {left, after} <= _WORD_KINDS):
            return ""  # and/or
        return " "

    def write(self, path: str | Path) -> None:
        """Write a line per context, sorted: its four kinds, a tab, the name of the gap."""
        rows = sorted(" ".join(context) + "\t" + _NAMES[gap] for context, gap in self.gaps.items())
        with replaced(path) as stream:
            stream.writelines(f"{row}\n".encode() for row in rows)


def read_spacing(path: str | Path, language: str) -> Spacing:
    """Read a file of :meth:`Spacing.write`.

    Raises:
        InputError: a line of another form, with its number.
    """
    gaps = {}
    for number, line in enumerate(read_lines(path), 1):
        kinds, _, name = line.partition("\t")
        context = kinds.split(" ")
        if name not in _GAPS or len(context) != 4:
            expected = f"four kinds of tokens, a tab, one of {', '.join(_GAPS)}"
            raise InputError("not a spacing file", path=path, line=number, found=repr(line), expected=expected)
        gaps[context[0], context[1], context[2], context[3]] = _GAPS[name]
    return Spacing(language, gaps)


def train_spacing(
    lines: Iterable[str], language: str, path: str | Path | None = None, *, limit: int = 50_000
) -> Spacing:
    """Learn the gaps between tokens from raw text.

    Args:
        lines: raw lines; ``limit`` of them are read (the figures settle long before).
        language: code of ISO 639, for the tokenizer and the rules.
        path: where to write the file, if anywhere.
    """
    segmenter = MosesSegmenter(language)
    counts: defaultdict[Context, Counter[str]] = defaultdict(Counter)
    for _, raw in zip(range(limit), lines, strict=False):
        spans = segmenter.spans(raw)
        contexts = _contexts([raw[start:stop] for start, stop in spans])
        for (_, left), (right, _), tuples in zip(spans, spans[1:], contexts, strict=False):
            gap = raw[left:right]
            for context in tuples:
                counts[context][gap if gap in _NAMES else " "] += 1
    spacing = Spacing(language, _most_frequent(counts))
    if path is not None:
        spacing.write(path)
    return spacing


def _most_frequent(counts: dict[Context, Counter[str]]) -> dict[Context, str]:
    """The most frequent gap of each trusted context (ties: the first in code order)."""
    return {
        context: min(gaps, key=lambda gap: (-gaps[gap], gap))
        for context, gaps in counts.items()
        if gaps.total() >= _LEAST_COUNT
    }


def _contexts(tokens: Sequence[str]) -> Iterator[tuple[Context, ...]]:
    """For each gap between neighbours its contexts, the narrowest first."""
    left_kinds, right_kinds = [_BORDER], []
    quotes: Counter[str] = Counter()
    for token in tokens:
        if token in _STRAIGHT_QUOTES:
            quotes[token] += 1
            side = token + ("<" if quotes[token] % 2 else ">")
            left_kinds.append(side)
            right_kinds.append(side)
        else:
            left_kinds.append(_kind(token, token[-1], "{}'"))
            right_kinds.append(_kind(token, token[0], "'{}"))
    right_kinds.append(_BORDER)
    for before, left, right, after in zip(left_kinds, left_kinds[1:], right_kinds[1:], right_kinds[2:], strict=False):
        yield (
            (before, left, right, after),
            (before, left, right, _ANY),
            (_ANY, left, right, after),
            (_ANY, left, right, _ANY),
        )


_WORD_KINDS = frozenset(("word", "letter", "number", "mixed"))


def _kind(token: str, end: str, with_apostrophe: str) -> str:
    """Kind of a token, seen from one ``end`` of it."""
    if token.isalpha():
        return "letter" if len(token) == 1 else "word"
    if len(token) == 1:
        return "number" if token.isdigit() else token
    if end in _APOSTROPHES:
        return with_apostrophe.format("word")
    if token == JOINED_HYPHEN or not any(map(str.isalnum, token)):
        return token
    if end.isdigit():
        return "mixed" if any(map(str.isalpha, token)) else "number"
    return "word" if end.isalpha() else with_apostrophe.format("word").replace("'", end)
