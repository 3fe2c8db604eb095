"""Documents as a model reads them: source tokens, and what the input says of their translation.

A segment of JSONL may carry ``"constraints"``, a list of ``{"span": [first, last], "translations": ["a b", ...],
"prob": [0.5, ...], "exclusive": true, "forbidden": ["c", ...]}``; positions are those of source tokens, from 0, the
last one included; all but the span may be absent.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpusearch.candidates.of_input import by_segment, frozen_alignment, frozen_texts
from gpusearch.config import CandidatesConfig, TextConfig
from gpusearch.errors import InputError
from gpusearch.io.candidates import Candidate
from gpusearch.io.corpus import Corpus, Segment, describe_segment, line_numbers
from gpusearch.model.tableless import LOWEST_LOG, Constraint, Words
from gpusearch.text.processor import TextProcessor
from gpusearch.text.xml_input import MarkedText, parse_marked

logger = logging.getLogger(__name__)

_NAMED = 10
"""How many segments a warning names."""

_KEYS = {"span", "translations", "prob", "exclusive", "forbidden"}


@dataclass
class Prepared:
    """Source tokens ``tokens[document][segment]``, source text without tags, constraints by document and segment."""

    tokens: list[list[list[str]]] = field(default_factory=list)
    plain: list[list[str]] = field(default_factory=list)
    constraints: dict[tuple[int, int], list[Constraint]] = field(default_factory=dict)
    written: dict[tuple[int, int], dict[Words, str]] = field(default_factory=dict)
    """By document and segment: translations of it that the input gives as a whole, from their tokens to their text."""


def prepare(
    corpus: Corpus,
    config: TextConfig,
    source: TextProcessor,
    target: TextProcessor,
    candidates: Sequence[Candidate] = (),
    scores: CandidatesConfig | None = None,
) -> Prepared:
    """Tokens and constraints of a corpus.

    Args:
        candidates: translations of whole segments by other systems.
        scores: what becomes of them.

    Raises:
        InputError: mark-up or constraints that mean nothing; names document and segment, from 1.
    """
    prepared = Prepared()
    for d, document in enumerate(corpus.documents):
        prepared.tokens.append([])
        prepared.plain.append([])
        for s, segment in enumerate(document.segments):
            name = f"document {d + 1}, segment {s + 1}"
            constraints: list[Constraint] = []
            if config.xml_input == "none":
                tokens, plain = source.to_tokens(segment.source), segment.source
            else:
                marked = parse_marked(segment.source, config.xml_brackets, name)
                tokens, places = _tokens(marked, source)
                plain = marked.plain
                if config.xml_input != "ignore":
                    constraints += _of_markup(marked, places, config.xml_input == "exclusive", target, name)
            constraints += _of_attributes(segment, target, name)
            prepared.tokens[-1].append(tokens)
            prepared.plain[-1].append(plain)
            if constraints:
                prepared.constraints[d, s] = constraints
    add_candidates(prepared, corpus, target, candidates, scores or CandidatesConfig())
    add_frozen(prepared, corpus, target)
    return prepared


def add_candidates(
    prepared: Prepared,
    corpus: Corpus,
    target: TextProcessor,
    candidates: Sequence[Candidate],
    scores: CandidatesConfig,
) -> None:
    """Let translations of whole segments by other systems be options, beside others or alone."""
    for place, several in by_segment(candidates, corpus, prepared.tokens, scores.weights).items():
        words = [tuple(target.to_tokens(one.text)) for one in several]
        of_segment = Constraint(
            0,
            len(prepared.tokens[place[0]][place[1]]),
            tuple((one, 0.0) for one in words),
            exclusive=scores.alone,
            scores=tuple(tuple(one.scores[name] for name in scores.weights) for one in several),
        )
        prepared.constraints.setdefault(place, []).append(of_segment)
        written = prepared.written.setdefault(place, {})
        for tokens, one in zip(words, several, strict=True):
            written.setdefault(tokens, one.text)


def add_frozen(prepared: Prepared, corpus: Corpus, target: TextProcessor) -> None:
    """Let the translation of a frozen segment be its only option; a warning names what else the input says of it."""
    for (d, s), text in frozen_texts(corpus).items():
        words, count = tuple(target.to_tokens(text)), len(prepared.tokens[d][s])
        if words and not count:
            name = describe_segment(corpus.documents[d], d, s)
            raise InputError(f"{name} has no words to translate", path=corpus.path, found=f"frozen: {text!r}")
        unused = _beside_frozen(prepared, corpus.documents[d].segments[s], (d, s), text)
        if unused:
            name = describe_segment(corpus.documents[d], d, s)
            logger.warning("%s is frozen: its %s do not count", name, " and ".join(unused))
        prepared.written[d, s] = {words: text}
        if count:
            alignment = frozen_alignment(corpus, (d, s), count, words)
            prepared.constraints[d, s] = [Constraint(0, count, ((words, 0.0),), exclusive=True, alignment=alignment)]


def _beside_frozen(prepared: Prepared, segment: Segment, place: tuple[int, int], text: str) -> list[str]:
    """What the input says of a frozen segment besides its translation."""
    candidates = ["candidates"] if place in prepared.written else []
    others = len(prepared.constraints.get(place, ())) > len(candidates)
    hyp = segment.attributes.get("hyp")
    return [*candidates, *["constraints"] * others, *['"hyp" and what is beside it'] * (hyp not in (None, text))]


def check_translated(prepared: Prepared, corpus: Corpus) -> None:
    """Where a model has no phrase table: refuse input without any translation, and warn of segments without one.

    Raises:
        InputError: there are words, but neither candidates nor other translations of any of them.
    """
    numbers, _ = line_numbers(corpus)
    places = [(d, s) for d, document in enumerate(prepared.tokens) for s, tokens in enumerate(document) if tokens]
    without = [(d, s) for d, s in places if not any(one.translations for one in prepared.constraints.get((d, s), ()))]
    if places and len(without) == len(places):
        raise InputError(
            "nothing translates these documents: the model has no phrase table, and no segment has a candidate",
            path=corpus.path,
            hint="decode takes candidates with --candidates FILE",
        )
    if without:
        named = [str(numbers[d][s]) for d, s in without]
        shown = ", ".join(named[:_NAMED]) + (f" and {len(named) - _NAMED} more" if len(named) > _NAMED else "")
        logger.warning("segments without a candidate, whose words are copied (numbers from 0): %s", shown)


def _tokens(marked: MarkedText, source: TextProcessor) -> tuple[list[str], list[int]]:
    """The tokens of a marked text, and where each piece of it begins (with the end behind the last).

    The text is tokenised as a whole, so that its beginning is one; piece by piece where a tag stands inside a token.
    """
    pieces = [source.to_tokens(piece) for piece in marked.pieces]
    places = [0]
    for piece in pieces:
        places.append(places[-1] + len(piece))
    whole = source.to_tokens(" ".join(marked.pieces))
    return (whole if len(whole) == places[-1] else [token for piece in pieces for token in piece]), places


def _of_markup(
    marked: MarkedText, places: list[int], exclusive: bool, target: TextProcessor, name: str
) -> list[Constraint]:
    constraints = []
    for one in marked.marked:
        start, stop = places[one.first], places[one.last]
        if start == stop:
            raise InputError(f"a tag in {name} with no words inside", found=" || ".join(one.translations))
        translations = tuple(
            (tuple(target.to_tokens(text)), _log(probability))
            for text, probability in zip(one.translations, one.probabilities, strict=True)
        )
        constraints.append(Constraint(start, stop, translations, exclusive))
    return constraints


def _of_attributes(segment: Segment, target: TextProcessor, name: str) -> list[Constraint]:
    given = segment.attributes.get("constraints")
    if given is None or isinstance(given, str):  # a text: an attribute of another format
        return []
    rows = given if isinstance(given, list) else [given]
    return [_constraint(row, target, name) for row in rows]


def _constraint(row: Any, target: TextProcessor, name: str) -> Constraint:
    if not isinstance(row, dict) or not set(row) <= _KEYS or not _is_list(row.get("span"), int, 2):
        raise _unusable(row, name)
    translations, forbidden = row.get("translations", []), row.get("forbidden", [])
    numbers = row.get("prob", [1] * len(translations) if isinstance(translations, list) else [])
    exclusive = row.get("exclusive", False)
    if not (_is_list(translations, str) and _is_list(forbidden, str) and isinstance(exclusive, bool)):
        raise _unusable(row, name)
    if not _is_list(numbers, (int, float), len(translations)) or any(number < 0 for number in numbers):
        raise _unusable(row, name)
    if exclusive and not translations:
        raise InputError(
            f"nothing is left of some words of {name}", found=row, expected='"translations" with exclusive'
        )
    first, last = row["span"]
    return Constraint(
        first,
        last + 1,
        tuple((tuple(target.to_tokens(text)), _log(p)) for text, p in zip(translations, numbers, strict=True)),
        exclusive,
        tuple(tuple(target.to_tokens(text)) for text in forbidden),
    )


def _is_list(value: Any, kind: type | tuple[type, ...], length: int | None = None) -> bool:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        return False
    return all(isinstance(one, kind) and not isinstance(one, bool) for one in value)


def _unusable(row: Any, name: str) -> InputError:
    return InputError(
        f"unusable constraint of {name}",
        found=row,
        expected='{"span": [first, last], "translations": [...], "prob": [...], "exclusive": ..., "forbidden": [...]}',
    )


def _log(probability: float) -> float:
    return max(math.log(probability), LOWEST_LOG) if probability > 0 else LOWEST_LOG
