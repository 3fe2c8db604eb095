"""What the tests of phrase and reordering tables share: a plain reader, and rows as hypothesis draws them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

# Words that other tools take for something else: separators, non-terminals, mark-up, Unicode spaces and line ends.
ODD_WORDS = [
    *("a", "b", "ab", "é", "語", "😀", "|", "||", "a|b", "[X]", "[]", "(((", "<a>", "<s>", "&apos;", "&amp;lt;", "&"),
    *("&#124;", "\u00a0", "a\u00a0b", "\u2028", "\u0085", "\x0b", "\x1c", "\ufeff", "\u3000", "0-0", "0.5", "\\"),
    *("'", '"', "#", "\x01", "\x7f"),
]


@dataclass
class NaiveTable:
    """Rows as the definition has them: by source, in the order of the file."""

    rows: dict[tuple[str, ...], list[tuple[tuple[str, ...], list[float], list[tuple[int, int]]]]] = field(
        default_factory=dict
    )


def tokens(text: str) -> tuple[str, ...]:
    return tuple(token for token in re.split("[ \t\r\0]+", text) if token)


def log32(text: str) -> float:
    """Natural logarithm of a written probability, floored at -100, in single precision."""
    value = float(text)
    return float(np.float32(max(math.log(value), -100.0) if value > 0 else -100.0))


def read_naively(text: str) -> NaiveTable:
    table = NaiveTable()
    for line in text.removesuffix("\n").split("\n"):
        source, target, scores, *more = line.removesuffix("\r").split("|||")
        points = [tuple(map(int, point.split("-"))) for point in tokens(more[0])] if more else []
        row = (tokens(target), [log32(score) for score in tokens(scores)], points)
        table.rows.setdefault(tokens(source), []).append(row)
    return table


words = st.sampled_from(ODD_WORDS)
blanks = st.sampled_from([" ", "  ", "\t", " \t ", "\r", "\0"])


@st.composite
def phrases(draw: st.DrawFn, least: int = 0, most: int = 4) -> str:
    """A phrase with blanks on either side, so that a `|` of a word does not join the separator's."""
    drawn = draw(st.lists(words, min_size=least, max_size=most))
    return draw(blanks) + "".join(word + draw(blanks) for word in drawn)


@st.composite
def probabilities(draw: st.DrawFn) -> str:
    value = draw(st.one_of(st.floats(0, 1), st.floats(0, 1e300), st.sampled_from([0.0, 1.0, 1e-44, 2.718])))
    form = draw(st.sampled_from(["r", ".6g", ".3e", ".17g", ".25f", "+.4E"]))
    return repr(value) if form == "r" else format(value, form)


@st.composite
def table_texts(draw: st.DrawFn, pairs: bool = True) -> str:
    """The text of a table with any number of score columns; with alignment and further fields where rows have pairs."""
    width = draw(st.integers(1, 6))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        source, target = draw(phrases(least=1)), draw(phrases())
        fields = [source, target] if pairs else [source]
        fields.append(draw(blanks) + "".join(draw(probabilities()) + draw(blanks) for _ in range(width)))
        if pairs and draw(st.booleans()):
            n, m = len(tokens(source)), len(tokens(target))
            points = st.tuples(st.integers(0, n - 1), st.integers(0, max(m - 1, 0)))
            fields.append(" ".join(f"{s}-{t}" for s, t in draw(st.lists(points, max_size=4)) if t < m))
            fields += draw(st.sampled_from([[], [" 1 2 3 "], [" 1 2 3 ", "", ""], ["|", " {{x y}}"]]))
        lines.append("|||".join(fields))
    return newline.join(lines) + draw(st.sampled_from(["", newline]))
