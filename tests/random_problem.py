"""Random search problems, made directly as the records that kernels read.

Small spans, many ties, deletions, copied words, values at their extremes: whatever a model may hold.
"""

from __future__ import annotations

import numpy as np

from gpusearch.config.search import OperationsConfig, SearchConfig
from gpusearch.kernels.language_model import bound_phrase
from gpusearch.kernels.records import (
    LM_VOCABULARY,
    LM_WEIGHT,
    OPTION_WORDS,
    SENTENCE_COLUMNS,
    UNIT_COLUMNS,
    Language,
    Problem,
    Search,
)
from gpusearch.kernels.target import exact
from gpusearch.search.settings import make_search

ALL_OPERATIONS = OperationsConfig(
    change=30, swap=15, resegment=20, permute=8, linearise=5, move=10, insertion=10, split_and_swap=10
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
    config: SearchConfig | None = None,
) -> tuple[Problem, Search, int]:
    """A problem over sentences of the given lengths, its settings, and K, the feature values of a state."""
    rng = np.random.default_rng(seed)
    models = language.info.shape[0]
    weights = rng.integers(-(1 << 20), 1 << 20, values)
    place, value, draw, span = [], [], [], [0]
    targets: list[list[int]] = []  # per option the words of each model: [M][words]
    rows = np.zeros((len(sentences), SENTENCE_COLUMNS), np.int64)
    starts = []
    for number, words in enumerate(sentences):
        rows[number, 0] = words
        rows[number, 3] = len(span) - 1
        rows[number, 5] = len(place)
        for start in range(words):
            for length in range(1, longest + 1):
                inside = start + length <= words
                count = int(rng.integers(1 if length == 1 else 0, most_options + 1)) if inside else 0
                if length > 1 and rng.random() < 0.4:
                    count = 0
                shares = rng.integers(1, 1000, count)
                for k in range(count):
                    n = int(rng.choice([0, 1, 1, 2, 2, 3, 5]))
                    place.append((start, length, 0, n))
                    targets.append(
                        [rng.integers(0, language.info[m, LM_VOCABULARY], n) for m in range(models)]
                    )
                    value.append(
                        rng.integers(-(100 << 20), 1 << 20, values) if rng.random() < 0.9 else [0] * values
                    )
                    draw.append(int(shares[: k + 1].sum()))
                span.append(len(place))
    count = len(place)
    option_place = np.array(place, np.int32).reshape(count, 4)
    offsets = np.concatenate(([0], np.cumsum(option_place[:, OPTION_WORDS])))
    option_place[:, 2] = offsets[:-1]
    target = np.zeros((models, int(offsets[-1])), np.int32)
    for option, words in enumerate(targets):
        for m in range(models):
            target[m, offsets[option] : offsets[option + 1]] = words[m]
    bound = np.zeros_like(target)
    option_open = np.zeros((models, count), np.int32)
    option_score = np.zeros((count, 2), np.int64)
    option_value = np.array(value, np.int32).reshape(count, values)
    option_score[:, 0] = option_value.astype(np.int64) @ weights
    for m in range(models):
        for option in range(count):
            _, option_open[m, option] = bound_phrase(
                exact(language),
                m,
                exact(target[m]),
                int(offsets[option]),
                int(offsets[option + 1]),
                exact(bound[m]),
            )
            option_score[option, 1] += language.info[m, LM_WEIGHT] * int(
                bound[m, offsets[option] : offsets[option + 1]].sum(dtype=np.int64)
            )
    starts = [0]
    places = []
    for number, words in enumerate(sentences):
        longest_words = [0] * (words + 1)
        for stop in range(1, words + 1):
            longest_words[stop] = (
                max(
                    longest_words[start] + int(option_place[o, OPTION_WORDS])
                    for start in range(max(0, stop - longest), stop)
                    for o in range(
                        span[rows[number, 3] + start * longest + stop - start - 1],
                        span[rows[number, 3] + start * longest + stop - start],
                    )
                )
                if any(
                    span[rows[number, 3] + start * longest + stop - start]
                    > span[rows[number, 3] + start * longest + stop - start - 1]
                    for start in range(max(0, stop - longest), stop)
                )
                else 0
            )
        places.append(longest_words[words] + 1)
    unit_rows, word = _units(rows, sentences, places, units, rng)
    problem = Problem(
        unit=unit_rows,
        word=word,
        sentence=rows,
        span=np.array(span, np.int32),
        option_place=option_place,
        option_score=option_score,
        option_draw=np.array(draw, np.int64),
        option_value=option_value,
        option_open=option_open,
        target_word=target,
        word_bound=bound,
        language=language,
    )
    if config is None:
        config = SearchConfig(operations=ALL_OPERATIONS, distortion_limit=int(rng.choice([-1, 0, 2, 4])))
    search = make_search(
        config, longest=longest, values=values, distortion_weight=int(rng.integers(0, 1 << 20))
    )
    return problem, search, values + 1 + models


def _units(rows, sentences, places, kind, rng):
    groups = (
        [range(len(sentences))] if kind == "document" else [range(i, i + 1) for i in range(len(sentences))]
    )
    groups = [group for group in groups if any(sentences[i] for i in group)]
    unit = np.zeros((len(groups), UNIT_COLUMNS), np.int64)
    word: list[int] = []
    for number, group in enumerate(groups):
        slot = room = source = 0
        first_word = len(word)
        for local, i in enumerate(group):
            rows[i, 1], rows[i, 2], rows[i, 4] = slot, room, source
            slot += sentences[i] + 1
            room += places[i]
            source += sentences[i]
            word += [local] * sentences[i]
        key = rng.integers(0, 1 << 32, 2)
        unit[number] = (group[0], len(group), source, first_word, key[0], key[1], room)
    return unit, np.array(word, np.int32)
