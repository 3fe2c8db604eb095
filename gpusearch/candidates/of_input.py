"""Translations of whole segments that come with the input: candidates of other systems, and frozen segments.

A segment of JSONL whose ``"frozen"`` is a text, or true beside a ``"hyp"`` (what `decode` writes), keeps that
translation: it is the only option of its words, and counts in all features like any other.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from gpusearch.errors import InputError
from gpusearch.io.candidates import Candidate
from gpusearch.io.corpus import Corpus, Segment, describe_segment, line_numbers

logger = logging.getLogger(__name__)

Place = tuple[int, int]
"""A document and a segment of it, from 0."""


def by_segment(
    candidates: Sequence[Candidate],
    corpus: Corpus,
    tokens: Sequence[Sequence[Sequence[str]]],
    scores: Collection[str],
) -> dict[Place, list[Candidate]]:
    """The candidates of each segment that has some.

    Args:
        tokens: ``tokens[document][segment]``: source tokens.
        scores: those that count. Others that candidates have are left out, and a warning names them.

    Raises:
        InputError: a candidate of a segment that is not there or has no words; one that lacks a score.
    """
    numbers, _ = line_numbers(corpus)
    places = {
        number: (d, s) for d, of_document in enumerate(numbers) for s, number in enumerate(of_document) if tokens[d][s]
    }
    found: dict[Place, list[Candidate]] = {}
    for one in candidates:
        if one.segment not in places:
            raise InputError(
                "a candidate of no segment with words",
                path=one.path,
                line=one.line,
                found=f"id {one.segment}",
                expected=f"within {min(places)} to {max(places)}" if places else "none: all segments are empty",
            )
        missing = [name for name in scores if name not in one.scores]
        if missing:
            raise InputError(
                f"a candidate without the score {missing[0]}",
                path=one.path,
                line=one.line,
                found=", ".join(one.scores) or "no scores",
                hint=f"give it one, or take {missing[0]} out of [candidates.weights]",
            )
        found.setdefault(places[one.segment], []).append(one)
    # The total of an n-best list is there besides the scores that it is made of.
    left_out = {name for one in candidates for name in one.scores} - {*scores, "total"}
    if left_out:
        logger.warning("scores of candidates without a weight in [candidates.weights]: %s", ", ".join(sorted(left_out)))
    return found


def frozen_texts(corpus: Corpus) -> dict[Place, str]:
    """The translations of frozen segments.

    Raises:
        InputError: ``"frozen"`` of another kind, or true without a ``"hyp"``.
    """
    found: dict[Place, str] = {}
    for d, document in enumerate(corpus.documents if corpus.format == "jsonl" else ()):
        for s, segment in enumerate(document.segments):
            text = _frozen(segment)
            if text is None:
                continue
            if not isinstance(text, str):
                raise InputError(
                    f'unusable "frozen" of {describe_segment(document, d, s)}',
                    path=corpus.path,
                    found=repr(segment.attributes["frozen"]),
                    expected='a translation, or true and a "hyp"',
                )
            found[d, s] = text
    return found


def _frozen(segment: Segment) -> object:
    """The translation of a frozen segment, None of any other; something else where it makes no sense."""
    frozen = segment.attributes.get("frozen")
    if frozen is None or frozen is False:
        return None
    text = segment.attributes.get("hyp")
    return text if frozen is True and isinstance(text, str) else frozen
