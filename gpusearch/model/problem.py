"""From documents to the arrays that a search reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpusearch.config import SearchConfig
from gpusearch.errors import InputError
from gpusearch.kernels.records import (
    OPTION_LENGTH,
    OPTION_START,
    OPTION_TARGET,
    OPTION_WORDS,
    ORIENTATIONS,
    SENTENCE_COLUMNS,
    SENTENCE_LONGEST,
    SENTENCE_OPTION,
    SENTENCE_PLACE,
    SENTENCE_SLOT,
    SENTENCE_SOURCE,
    SENTENCE_SPAN,
    SENTENCE_WORDS,
    UNIT_FIRST_SENTENCE,
    UNIT_PLACES,
    Problem,
    Reordering,
)
from gpusearch.model.entries import offsets_of, ranges
from gpusearch.model.extents import largest_sums, longest_derivations
from gpusearch.model.lengths import length_table
from gpusearch.model.model import Model
from gpusearch.model.option_draw import draw_weights
from gpusearch.model.options import Options
from gpusearch.model.reordering import make_orders
from gpusearch.model.spans import Phrase, Spans, find_spans
from gpusearch.model.tableless import Constraint, Constraints, check_constraints
from gpusearch.model.units import Document, Units, document_identities, make_units
from gpusearch.model.weights import DISTORTION, VALUE_UNITS, check_range

Array = np.ndarray[Any, Any]

Forced = Mapping[tuple[int, int], Sequence[Phrase]]
"""Phrases of given derivations, by document and sentence."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Documents ready to be searched."""

    problem: Problem
    options: Options
    units: Units
    slots: int
    """Phrase slots P of the largest unit, sentinels included."""
    places: int
    """Word places W of the largest unit, each sentence's ``</s>`` included."""


def build_problem(
    model: Model,
    documents: Sequence[Document],
    ids: Sequence[str | None] | None = None,
    search: SearchConfig | None = None,
    *,
    units: str = "sentence",
    identities: Sequence[bytes] | None = None,
    forced: Forced | None = None,
    constraints: Constraints | None = None,
    memory_limit: int | None = None,
) -> Batch:
    """Make the problem of a batch of documents: lists of sentences, which are lists of words.

    Args:
        ids: names of the documents, which their random numbers depend on; None for a document without one.
        search: seed, option draw and distortion limit are looked at.
        units: ``sentence`` or ``document``: the smallest text that is searched by itself.
        identities: from `document_identities` of the whole corpus, where this batch is a part of it.
        forced: phrase pairs that are options even where the table limit leaves them out.
        constraints: translations that the input gives or forbids, by document and sentence.
        memory_limit: most bytes that the problem may take.

    Raises:
        InputError: scores that could overflow (names the feature and the text), not enough memory, settings that
            are unknown.
    """
    search = search or SearchConfig()
    if identities is None:
        identities = document_identities(documents, ids)
    made = make_units(documents, identities, units=units, seed=search.seed)
    sentences = [sentence for document in documents for sentence in document]
    first_sentence = made.first_sentence
    spans = find_spans(
        model,
        sentences,
        {int(first_sentence[d]) + s: phrases for (d, s), phrases in (forced or {}).items()},
        _checked(made, constraints or {}),
    )
    need = problem_bytes(model, made, spans)
    if memory_limit is not None and need > memory_limit:
        raise InputError(
            "the documents do not fit the memory",
            found=f"{need / 2**20:.0f} MiB for {spans.options} translation options",
            expected=f"at most {memory_limit / 2**20:.0f} MiB",
            hint="make table_limit smaller, or decode fewer documents at a time",
        )

    words = made.words
    first_position = offsets_of(words)
    sentence = np.repeat(np.arange(len(words)), words)[spans.position]
    start = spans.position - first_position[sentence]
    longest = spans.longest(words)
    first_row = offsets_of(words * longest)
    amount = np.diff(spans.first)[spans.set]
    per_row = np.zeros(int(first_row[-1]), np.int64)
    per_row[first_row[sentence] + start * longest[sentence] + spans.length - 1] = amount
    span = offsets_of(per_row).astype(np.int32)
    first_option = span[first_row].astype(np.int64)
    first_row = first_row[:-1]

    member = ranges(spans.first[spans.set], amount)
    entry = spans.entry[member]
    entries = spans.entries
    place = np.empty((len(entry), 4), np.int32)
    place[:, OPTION_START] = np.repeat(start, amount)
    place[:, OPTION_LENGTH] = np.repeat(spans.length, amount)
    place[:, OPTION_TARGET] = entries.first_word[entry]
    place[:, OPTION_WORDS] = np.diff(entries.first_word)[entry]
    draw = draw_weights(
        entries.score[spans.entry],
        spans.first,
        draw=search.option_draw,
        temperature=search.option_temperature * model.deviation,
        uniform=search.option_uniform,
    )
    value = entries.value[entry]
    places = longest_derivations(words, first_row, span, place[:, OPTION_WORDS], longest) + 1
    largest = largest_sums(words, first_option, place, value)
    reordering: Reordering | tuple[()] = ()
    if model.reordering:
        orders = make_orders(model.features, model.reordering, entries.table, entries.row, spans.tableless)
        reordering = Reordering(orders.score[entry], orders.value[entry], orders.column)
        largest = np.hstack((largest, largest_sums(words, first_option, place, orders.largest[entry])))
    _check_sums(model, search, made, places, largest)

    rows = np.zeros((len(words), SENTENCE_COLUMNS), np.int64)
    rows[:, SENTENCE_WORDS] = words
    rows[:, SENTENCE_SLOT] = _within_units(made, words + 1)
    rows[:, SENTENCE_PLACE] = _within_units(made, places)
    rows[:, SENTENCE_SPAN] = first_row
    rows[:, SENTENCE_SOURCE] = _within_units(made, words)
    rows[:, SENTENCE_OPTION] = first_option[:-1]
    rows[:, SENTENCE_LONGEST] = longest
    in_unit = np.arange(len(words)) - made.rows[made.of_sentence, UNIT_FIRST_SENTENCE] if len(made.rows) else words
    problem = Problem(
        unit=made.rows,
        word=np.repeat(in_unit, words).astype(np.int32),
        sentence=rows,
        span=span,
        option_place=place,
        option_score=entries.known[entry],
        option_draw=draw[member].astype(np.int32),
        length=length_table(span, _rows_of_positions(words, first_row, longest)),
        option_value=value,
        option_open=entries.open.take(entry, axis=1),
        target_word=entries.word,
        word_bound=entries.word_bound,
        language=model.language,
        reordering=reordering,
    )
    options = Options(
        model=model,
        units=made,
        sentences=tuple(sentences),
        entry=entry.astype(np.int32),
        place=place,
        first_option=first_option,
        first_row=first_row,
        span=span,
        longest_of=longest,
        entries=entries,
        tableless=spans.tableless,
    )
    room = _totals(made, np.stack((words + 1, places), axis=1))
    made.rows[:, UNIT_PLACES] = room[:, 1]
    size = room.max(axis=0, initial=0)
    return Batch(problem, options, made, slots=int(size[0]), places=int(size[1]))


def _checked(units: Units, constraints: Constraints) -> dict[int, Sequence[Constraint]]:
    """The constraints by sentence of the batch."""
    checked: dict[int, Sequence[Constraint]] = {}
    for (document, index), of_sentence in constraints.items():
        sentence = int(units.first_sentence[document]) + index
        name = f"document {document + 1}, sentence {index + 1}"
        check_constraints(of_sentence, int(units.words[sentence]), name)
        checked[sentence] = of_sentence
    return checked


def _rows_of_positions(words: Array, first_row: Array, longest: Array) -> Array:
    """The first row of each source position, for the span of its word alone."""
    return np.repeat(first_row, words) + ranges(np.zeros_like(words), words) * np.repeat(longest, words)


def problem_bytes(model: Model, units: Units, spans: Spans) -> int:
    """Bytes that the arrays of a `Problem` take, language models not counted (they are shared by all batches)."""
    models, values = len(model.language_models), model.features.option_values
    orders = sum(reordering.type.columns for reordering in model.reordering)
    words = int(units.words.sum())
    return (
        units.rows.nbytes
        + 4 * words
        + 8 * SENTENCE_COLUMNS * len(units.words)
        + 4 * (3 * int(units.words @ spans.longest(units.words)) + 1)
        + (4 * 4 + 2 * 8 + 4 + 4 * values + 4 * models) * spans.options
        + ((8 * 2 * ORIENTATIONS + 4 * orders) * spans.options if orders else 0)
        + 2 * 4 * models * int(spans.entries.first_word[-1])
    )


def _within_units(units: Units, sizes: Array) -> Array:
    """Where each sentence begins in its unit when the sentences take so much room; 0 where it is in none."""
    begin = offsets_of(sizes)[:-1]
    inside = units.of_sentence >= 0
    offsets = np.zeros(len(sizes), np.int64)
    first = units.rows[units.of_sentence[inside], UNIT_FIRST_SENTENCE]
    offsets[inside] = begin[inside] - begin[first]
    return offsets


def _totals(units: Units, sizes: Array) -> Array:
    """``[U, ...]`` sums over the sentences of each unit."""
    totals = np.zeros((len(units.rows), sizes.shape[1]), sizes.dtype)
    inside = units.of_sentence >= 0
    np.add.at(totals, units.of_sentence[inside], sizes[inside])
    return totals


def _check_sums(model: Model, search: SearchConfig, units: Units, places: Array, option_sums: Array) -> None:
    """Bound the absolute sum of every feature of each unit, and make sure that scores cannot overflow.

    Args:
        option_sums: bounds of the features of options, then of those of reordering models.
    """
    features = model.features
    largest = np.zeros((len(units.words), len(features.names)))
    options = features.option_values
    largest[:, :options] = option_sums[:, :options]
    largest[:, options + 1 : option_sums.shape[1] + 1] = option_sums[:, options:]
    limit = units.words if search.distortion_limit < 0 else np.minimum(units.words, search.distortion_limit)
    largest[:, features.index(DISTORTION)] = (units.words * limit).astype(np.float64) * VALUE_UNITS
    for name, language_model in zip(features.language_models, model.language_models, strict=True):
        largest[:, features.index(name)] = places.astype(np.float64) * language_model.largest_value
    check_range(features, _totals(units, largest), [units.name(unit) for unit in range(len(units.rows))])
