"""Lists of the n best translations of each sentence, to the letter as Moses writes and reads them.

    id ||| words  ||| Name= v v Name= v ||| total ||| 0-1=0-3 2=4 ||| 0-1 1-2 2-4

Each word is followed by a blank, so that two stand before the third field; segmentation and word alignment are there
or not; behind the last point of an alignment stands a blank.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, split_blank, wrong_line
from gpusearch.io.trace import parse_trace

Segment = tuple[int, int, int, int]
"""A phrase: source words start .. stop - 1, target words first .. last - 1, all from 0."""
Point = tuple[int, int]

BORDER = "|||"
"""Between the fields of a line."""
_BORDER = f" {BORDER} "


@dataclass(frozen=True)
class NBestEntry:
    """A translation of a sentence. Feature values and total are natural logarithms, and finite."""

    sentence: int
    """The sentence's number in the input, from 0."""
    words: tuple[str, ...]
    features: tuple[tuple[str, tuple[float, ...]], ...]
    """Names and values in the order of the list; one without a name where the list has none."""
    total: float
    segments: tuple[Segment, ...] | None = None
    """In target order; None where the list does not say."""
    alignment: tuple[Point, ...] | None = None
    """(source, target) word positions in the sentence."""

    @property
    def phrases(self) -> list[tuple[int, int, list[str]]]:
        """Source words start .. stop - 1 and target words of each phrase, in target order.

        Raises:
            ValueError: the list does not say.
        """
        if self.segments is None:
            raise ValueError("a list without segmentation")
        return [(start, stop, list(self.words[first:last])) for start, stop, first, last in self.segments]


def format_n_best(entry: NBestEntry, *, spans_in_text: bool = False) -> str:
    """The line of an entry, without its end.

    Args:
        spans_in_text: put the span of each phrase behind its words, as Moses' ``-t`` does.

    Raises:
        InputError: a word that would be read as a border, or that breaks the line.
    """
    for word in entry.words:
        if word == BORDER or "\n" in word:
            found = word if word == BORDER else repr(word)
            raise InputError("a word that an n-best list cannot hold", found=found, hint="write the list as .jsonl")
    if spans_in_text:
        text = "".join(f"{_followed(words)}|{start}-{stop - 1}| " for start, stop, words in entry.phrases)
    else:
        text = _followed(entry.words)
    scores = " ".join(
        part
        for name, values in entry.features
        for part in ([f"{name}="] if name else []) + [_number(v) for v in values]
    )
    fields = [str(entry.sentence), text, scores, _number(entry.total)]
    if entry.segments is not None:
        fields.append(
            " ".join(f"{_range(start, stop)}={_range(first, last)}" for start, stop, first, last in entry.segments)
        )
    if entry.alignment is not None:
        fields.append(_followed([f"{source}-{target}" for source, target in entry.alignment]))
    return _BORDER.join(fields)


def _followed(words: Sequence[str]) -> str:
    return "".join(f"{word} " for word in words)


def _number(value: float) -> str:
    """Six significant digits; no minus in front of 0."""
    return f"{value + 0.0:g}"


def _range(start: int, stop: int) -> str:
    return str(start) if stop == start + 1 else f"{start}-{stop - 1}"


def read_n_best(path: str | Path) -> Iterator[NBestEntry]:
    """The entries of a list, plain or compressed; spans in the text are taken out of it.

    Raises:
        InputError: a line that is no entry; names it.
    """
    yield from parse_n_best_lines(read_lines(path), path)


def parse_n_best_lines(lines: Iterable[str], path: str | Path) -> Iterator[NBestEntry]:
    """As :func:`read_n_best`, from lines that were read already; ``path`` is for the messages."""
    for number, line in enumerate(lines, 1):
        try:
            yield parse_n_best(line)
        except ValueError as error:
            raise wrong_line(
                f"not a line of an n-best list ({error})", path, number, line, "id ||| words ||| Name= values ||| total"
            ) from None


def parse_n_best(line: str) -> NBestEntry:
    """The entry of a line.

    Raises:
        ValueError: it is none.
    """
    fields = line.split(_BORDER)
    if not 4 <= len(fields) <= 6:
        raise ValueError(f"{len(fields)} fields")
    segments = alignment = None
    for field in fields[4:]:
        if "=" in field:
            segments = tuple(_parse_segment(part) for part in split_blank(field))
        elif segments is None and len(fields) == 6 and field is fields[4]:
            segments = ()
        else:
            alignment = tuple(_parse_point(part) for part in split_blank(field))
    words = split_blank(fields[1])
    trace = parse_trace(fields[1])
    if trace and (segments is None or len(trace) == len(segments)):
        words = [word for _, _, phrase in trace for word in phrase]
        if segments is None:
            segments = _segments_of(trace)
    return NBestEntry(
        int(fields[0]), tuple(words), _parse_scores(fields[2]), _parse_number(fields[3]), segments, alignment
    )


def _segments_of(phrases: Sequence[tuple[int, int, list[str]]]) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    said = 0
    for start, stop, words in phrases:
        segments.append((start, stop, said, said + len(words)))
        said += len(words)
    return tuple(segments)


def _parse_scores(field: str) -> tuple[tuple[str, tuple[float, ...]], ...]:
    scores: list[tuple[str, list[float]]] = []
    for part in split_blank(field):
        if part.endswith("="):
            scores.append((part[:-1], []))
        elif scores:
            scores[-1][1].append(_parse_number(part))
        else:
            scores.append(("", [_parse_number(part)]))
    return tuple((name, tuple(values)) for name, values in scores)


def _parse_number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text.strip()} is no finite number")
    return value


def _parse_segment(part: str) -> Segment:
    sides = re.fullmatch(r"(\d+)(?:-(\d+))?=(\d+)(?:-(-?\d+))?", part)
    if sides is None:
        raise ValueError(f"{part} is no segment")
    start, end, first, last = sides.groups()
    return int(start), int(end or start) + 1, int(first), int(last or first) + 1


def _parse_point(part: str) -> Point:
    source, dash, target = part.partition("-")
    if not dash:
        raise ValueError(f"{part} is no point of an alignment")
    return int(source), int(target)
