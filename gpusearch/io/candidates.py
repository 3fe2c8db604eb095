"""Candidates: translations of whole segments by any system, several a segment, with scores.

========================== =========================================================================================
JSONL, a candidate a line  ``{"id": 0, "text": "...", "scores": {"nmt": -3.2, ...}}``; ``words`` for ``text``, and
                           ``score`` for ``scores`` with one of that name, do as well
n-best list                ``id ||| text ||| name= value name= value value ||| total``; several values of one name are
                           ``name.0``, ``name.1``, ...; the total is ``total``, values without a name are ``score``
========================== =========================================================================================

``id`` is the number of the segment in the input, from 0: of its line where the input is plain text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpusearch.io.corpus import lines_of
from gpusearch.io.files import read_bytes, wrong_line
from gpusearch.io.json_files import finite_number, parse_json
from gpusearch.io.nbest import parse_n_best_lines

_KEYS = {"id", "text", "words", "scores", "score"}


@dataclass(frozen=True)
class Candidate:
    """A translation of a segment."""

    segment: int
    """Number of the segment, from 0."""
    text: str
    scores: dict[str, float] = field(default_factory=dict)
    """By name; each is a value of a feature, such as a log probability."""
    path: str = "-"
    line: int = 0
    """Where it stands, for messages."""


def read_candidates(path: str | Path) -> list[Candidate]:
    """The candidates of a file, compressed or not, in its order.

    Raises:
        InputError: a line that is no candidate; names file and line.
    """
    lines = lines_of(read_bytes(path), str(path))
    first = next((line for line in lines if line), "")
    return list(_json(lines, str(path)) if first.lstrip().startswith("{") else _listed(lines, str(path)))


def _json(lines: Sequence[str], path: str) -> Iterator[Candidate]:
    for number, line in enumerate(lines, 1):
        try:
            yield _of_row(parse_json(line), path, number)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise wrong_line(
                f"not a candidate ({error})", path, number, line, '{"id": 0, "text": "...", "scores": {"name": number}}'
            ) from None


def _of_row(row: Any, path: str, line: int) -> Candidate:
    if not isinstance(row, dict) or not set(row) <= _KEYS:
        raise TypeError("not an object with these keys alone")
    segment, text = row["id"], row["text"] if "text" in row else row["words"]
    scores = row.get("scores", {"score": row["score"]} if "score" in row else {})
    if isinstance(segment, bool) or not isinstance(segment, int) or segment < 0:
        raise TypeError("the id is no number of a segment")
    if not isinstance(text, str) or not isinstance(scores, dict):
        raise TypeError("text or scores of another kind")
    return Candidate(segment, text, {name: finite_number(value) for name, value in scores.items()}, path, line)


def _listed(lines: Sequence[str], path: str) -> Iterator[Candidate]:
    for number, entry in enumerate(parse_n_best_lines(lines, path), 1):
        scores = {"total": entry.total}
        for name, values in entry.features:
            one = name or "score"
            scores |= {one if len(values) == 1 else f"{one}.{place}": value for place, value in enumerate(values)}
        yield Candidate(entry.sentence, " ".join(entry.words), scores, path, number)
