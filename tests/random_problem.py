"""Random search problems, made directly as the records that kernels read, and the same on every machine.

Short spans, many ties, deletions, copied words, values at their extremes: whatever a model may hold. Nothing here
needs more than numpy, torch and numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.language_model import bound_phrases_cpu
from gpusearch.kernels.records import (
    LM_VOCABULARY,
    LM_WEIGHT,
    OPTION_BOUND,
    OPTION_SCORE,
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
    UNIT_COLUMNS,
    Language,
    Problem,
    Reordering,
    Search,
)
from gpusearch.model.lengths import length_table
from gpusearch.search.settings import make_search

LARGEST = 100 << 20


@dataclass(frozen=True)
class PlainOperations:
    """The fields of `gpusearch.config.OperationsConfig`, without what reads configurations."""

    change: float = 30
    swap: float = 15
    resegment: float = 20
    permute: float = 8
    linearise: float = 5
    move: float = 10
    insertion: float = 10
    split_and_swap: float = 10
    swap_decay: float = 0.5
    block_decay: float = 0.5
    resegment_swap: float = 0.25
    move_decay: float = 0.5
    move_right: float = 0.5

    def shares(self) -> dict[str, float]:
        return dict(list(asdict(self).items())[:8])


@dataclass(frozen=True)
class PlainSettings:
    """Those values of `gpusearch.config.SearchConfig` that `make_search` reads."""

    operations: PlainOperations = field(default_factory=PlainOperations)
    distortion_limit: int = 6
    distortion_check: str = "jump"
    first_jump: bool = True
    compat: str = "none"
    longest_visit: int = 4096


def random_settings(seed: int) -> PlainSettings:
    """Any distortion limit, either check, the first jump or not."""
    rng = np.random.default_rng((seed, 1))
    return PlainSettings(
        distortion_limit=int(rng.choice([-1, 0, 2, 4])),
        distortion_check=("jump", "moses")[rng.integers(2)],
        first_jump=bool(rng.integers(2)),
        longest_visit=int(rng.choice([1, 2, 4096])),
    )


def random_problem(
    seed: int,
    language: Language,
    *,
    sentences: tuple[int, ...] = (7, 1, 0, 4),
    units: str = "document",
    longest: int = 3,
    most_options: int = 5,
    values: int = 6,
    words: Sequence[int] | None = None,
    lengths: tuple[int, ...] = (0, 1, 1, 2, 2, 3, 5),
    largest: int = LARGEST,
    settings: PlainSettings | None = None,
    reordering: int = 0,
) -> tuple[Problem, Search, int]:
    """A problem over sentences of the given lengths, its settings, and K, the feature values of a state.

    Args:
        units: "document", or "sentence" for a unit each.
        longest: source words of the longest option.
        most_options: of one span.
        values: K', feature values of an option; all their weights may be of either sign.
        words: ids that the options' words are drawn from (by default all that every model has).
        lengths: target words that an option may have (0: a deletion).
        largest: magnitude of the options' values (2^-20 nat).
        settings: by default `random_settings`.
        reordering: number of lexicalised reordering models.
    """
    rng = np.random.default_rng(seed)
    rows, span, place = _options(rng, sentences, longest, most_options, lengths)
    count = len(place)
    offsets = np.concatenate(([0], np.cumsum(place[:, OPTION_WORDS]))).astype(np.int64)
    place[:, OPTION_TARGET] = offsets[:-1]
    vocabulary = np.arange(int(language.info[:, LM_VOCABULARY].min(initial=1 << 30))) if words is None else words
    models = language.info.shape[0]
    target = rng.choice(np.asarray(vocabulary[: 1 << 20], np.int32), (models, int(offsets[-1])))
    value = rng.integers(-largest, 1 << 20, (count, values), dtype=np.int32)
    value[rng.random(count) < 0.1] = 0
    value[rng.random(count) < 0.05] = -largest
    weight = rng.integers(-(1 << 20), 1 << 20, values)
    share = rng.integers(1, 1000, count)
    bound = np.zeros_like(target)
    option_open = np.zeros((models, count), np.int32)
    score = np.zeros((count, 2), np.int64)
    score[:, OPTION_SCORE] = value.astype(np.int64) @ weight
    for m in range(models):
        bound_phrases_cpu(
            language, m, offsets, target[m], 0, count, bound[m], np.zeros(count, np.int64), option_open[m]
        )
        summed = np.concatenate(([0], np.cumsum(bound[m], dtype=np.int64)))
        score[:, OPTION_BOUND] += language.info[m, LM_WEIGHT] * (summed[offsets[1:]] - summed[offsets[:-1]])
    unit, word = _units(rng, rows, units, _most_words(rows, span, place))
    problem = Problem(
        unit=unit,
        word=word,
        sentence=rows,
        span=span,
        option_place=place,
        option_score=score,
        option_draw=_summed_within_spans(share, span),
        length=length_table(span, _rows_of_positions(rows)),
        option_value=value,
        option_open=option_open,
        target_word=target,
        word_bound=bound,
        language=language,
    )
    settings = settings or random_settings(seed)
    distortion_weight = int(rng.integers(0, 1 << 20))
    search = make_search(settings, longest=longest, values=values, distortion_weight=distortion_weight)
    if reordering:
        made, orders = _reordering(np.random.default_rng((seed, 3)), count, reordering)
        return problem._replace(reordering=made), search, values + 1 + orders + models
    return problem, search, values + 1 + models


def _reordering(rng: np.random.Generator, options: int, models: int) -> tuple[Reordering, int]:
    """Reordering models of any type and direction with weights of either sign, and the number of their features."""
    column = np.full((models, 2 * ORIENTATIONS, 2), -1, np.int64)
    width = features = 0
    share = []  # of each column of `value` its feature
    for model in range(models):
        kinds = ((0, 1, 2, 2), (0, 1, 2, 3), (0, 1, 1, 1), (0, 1, 1, 0))[rng.integers(4)]
        directions = ((0,), (1,), (0, 1))[rng.integers(3)]
        collapsed = rng.random() < 0.3
        for direction in directions:
            here = slice(direction * ORIENTATIONS, (direction + 1) * ORIENTATIONS)
            column[model, here, 0] = width + np.array(kinds)
            column[model, here, 1] = features if collapsed else features + np.array(kinds)
            classes = max(kinds) + 1
            share += [features] * classes if collapsed else list(range(features, features + classes))
            width += classes
            features += 1 if collapsed else classes
    value = rng.integers(-LARGEST, 1 << 20, (options, width), dtype=np.int32)
    value[rng.random(options) < 0.2] = 0
    weight = rng.integers(-(1 << 20), 1 << 20, features)[share]
    score = np.zeros((options, 2 * ORIENTATIONS), np.int64)
    for model in range(models):
        for turn in range(2 * ORIENTATIONS):
            k = int(column[model, turn, 0])
            if k >= 0:
                score[:, turn] += weight[k] * value[:, k]
    return Reordering(score, value, column), features


def _options(
    rng: np.random.Generator, sentences: tuple[int, ...], longest: int, most_options: int, lengths: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Sentences, spans and places of options; every word has an option of its own, four tenths of longer spans none."""
    rows = np.zeros((len(sentences), SENTENCE_COLUMNS), np.int64)
    place, span = [], [0]
    for number, words in enumerate(sentences):
        rows[number, [SENTENCE_WORDS, SENTENCE_SPAN, SENTENCE_OPTION]] = words, len(span) - 1, len(place)
        counts = np.zeros((words, longest), np.int64)
        for start in range(words):
            for length in range(1, longest + 1):
                count = int(rng.integers(1 if length == 1 else 0, most_options + 1))
                if start + length > words or (length > 1 and rng.random() < 0.4):
                    count = 0
                place += [(start, length, 0, int(rng.choice(lengths))) for _ in range(count)]
                counts[start, length - 1] = count
        rows[number, SENTENCE_LONGEST] = most = 1 + max(np.flatnonzero(counts.any(axis=0)), default=0)
        span += (span[-1] + counts[:, :most].cumsum()).tolist()
    return rows, np.array(span, np.int32), np.array(place, np.int32).reshape(-1, 4)


def _summed_within_spans(share: NDArray[np.int64], span: NDArray[np.int32]) -> NDArray[np.int32]:
    summed = np.concatenate(([0], np.cumsum(share)))
    return (summed[1:] - np.repeat(summed[span[:-1]], np.diff(span))).astype(np.int32)


def _rows_of_positions(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of each source position in `Problem.span`."""
    parts = [
        row[SENTENCE_SPAN] + np.arange(row[SENTENCE_WORDS], dtype=np.int64) * row[SENTENCE_LONGEST] for row in rows
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _most_words(rows: NDArray[np.int64], span: NDArray[np.int32], place: NDArray[np.int32]) -> list[int]:
    """Target words of the longest derivation of each sentence."""
    result = []
    for row in rows:
        most, longest = [0] * (int(row[SENTENCE_WORDS]) + 1), int(row[SENTENCE_LONGEST])
        for start in range(int(row[SENTENCE_WORDS])):
            for length in range(1, longest + 1):
                first = int(row[SENTENCE_SPAN]) + start * longest + length - 1
                for option in range(span[first], span[first + 1]):
                    words = most[start] + int(place[option, OPTION_WORDS])
                    most[start + length] = max(most[start + length], words)
        result.append(most[-1])
    return result


def _units(
    rng: np.random.Generator, rows: NDArray[np.int64], kind: str, most_words: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Units with some words, and for each source word its sentence; gives the sentences their places in the unit."""
    numbers = range(len(rows))
    groups = [numbers] if kind == "document" else [range(i, i + 1) for i in numbers]
    groups = [group for group in groups if rows[group.start : group.stop, SENTENCE_WORDS].any()]
    unit = np.zeros((len(groups), UNIT_COLUMNS), np.int64)
    word: list[int] = []
    for number, group in enumerate(groups):
        slot = place = source = 0
        first_word = len(word)
        for local, i in enumerate(group):
            words = int(rows[i, SENTENCE_WORDS])
            rows[i, [SENTENCE_SLOT, SENTENCE_PLACE, SENTENCE_SOURCE]] = slot, place, source
            slot += words + 1
            place += most_words[i] + 1
            source += words
            word += [local] * words
        key = rng.integers(0, 1 << 32, 2)
        unit[number] = (group[0], len(group), source, first_word, key[0], key[1], place)
    return unit, np.array(word, np.int32)
