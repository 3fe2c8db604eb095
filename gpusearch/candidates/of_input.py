"""Translations of whole segments that come with the input: candidates of other systems, and frozen segments.

A segment of JSONL whose ``"frozen"`` is a text, or true beside a ``"hyp"`` (what `decode` writes), keeps that
translation: it is the only option of its words, and counts in all features like any other; in those over aligned words
by the ``"alignment"`` beside it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence

from gpusearch.errors import InputError
from gpusearch.io.candidates import Candidate
from gpusearch.io.corpus import Corpus, Segment, describe_segment, line_numbers
from gpusearch.io.files import split_blank
from gpusearch.model.weights import RANGE, is_in_range

logger = logging.getLogger(__name__)

_POINT = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")

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
        InputError: a candidate of a segment that is not there or has no words; one that lacks a score, or has
            one that values of features cannot be.
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
        for name in scores:
            if not is_in_range(one.scores[name]):
                raise InputError(
                    f"the score {name} of a candidate is out of range",
                    path=one.path,
                    line=one.line,
                    found=one.scores[name],
                    expected=RANGE,
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


def frozen_alignment(corpus: Corpus, place: Place, source: int, target: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The points ``source-target`` in the ``"alignment"`` of a frozen segment; none where that is of other words.

    What `decode` writes has phrases beside it: whoever corrects the translation leaves them as they were.

    Args:
        source: number of source tokens.
        target: tokens of the translation.

    Raises:
        InputError: something else, or a point outside the segment.
    """
    document, segment = corpus.documents[place[0]], corpus.documents[place[0]].segments[place[1]]
    given = segment.attributes.get("alignment")
    if given is None or _words_of_phrases(segment) not in (None, list(target)):
        return ()
    found = [_POINT.fullmatch(part) for part in split_blank(given)] if isinstance(given, str) else [None]
    points = tuple((int(point[1]), int(point[2])) for point in found if point)
    if len(points) < len(found) or any(s >= source or t >= len(target) for s, t in points):
        raise InputError(
            f'unusable "alignment" of {describe_segment(document, *place)}',
            path=corpus.path,
            found=repr(given),
            expected=f"points such as 0-0, within {source} source and {len(target)} target tokens",
        )
    return points


def _words_of_phrases(segment: Segment) -> list[str] | None:
    """Target words of the phrases that an earlier run has written of a segment; None where it has not."""
    phrases = segment.attributes.get("phrases")
    if not isinstance(phrases, list) or not all(isinstance(phrase, dict) for phrase in phrases):
        return None
    return split_blank(" ".join(str(phrase.get("words", "")) for phrase in phrases))


def _frozen(segment: Segment) -> object:
    """The translation of a frozen segment, None of any other; something else where it makes no sense."""
    frozen = segment.attributes.get("frozen")
    if frozen is None or frozen is False:
        return None
    text = segment.attributes.get("hyp")
    return text if frozen is True and isinstance(text, str) else frozen
