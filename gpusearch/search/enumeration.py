"""Every derivation of a short sentence and its probability: the oracle of whatever claims to find or to draw some.

Both of Moses' checks of the distortion limit hold, as in its beam (`distortion_check = "moses"`). Features of
`[features]` do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config, SearchConfig
from gpusearch.errors import InputError
from gpusearch.kernels import reference
from gpusearch.kernels.language_model import lookup
from gpusearch.kernels.records import (
    DISTORTION_LIMIT,
    DISTORTION_WEIGHT,
    FIRST_JUMP,
    LM_BEGIN,
    LM_END,
    LM_WEIGHT,
    OPTION_LENGTH,
    OPTION_SCORE,
    OPTION_START,
    ORIENTATIONS,
    SENTENCE_OPTION,
    SENTENCE_WORDS,
    Problem,
    Search,
)
from gpusearch.kernels.target import exact
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.run import search_settings

MOST_OPTIONS = 20
"""Table limit that is tried first."""


@dataclass(frozen=True, eq=False)
class Enumerated:
    """A batch whose sentences are all short enough to list their derivations."""

    model: Model
    """With the table limit that leaves so few."""
    limit: int
    """The table limit."""
    batch: Batch
    search: Search
    states: list[list[tuple[int, ...]]]
    """Of each sentence all derivations: options in target order."""
    score: list[NDArray[np.float64]]
    """Of each sentence the scores, nats."""

    @property
    def problem(self) -> Problem:
        """The problem of the batch."""
        return self.batch.problem

    def posterior(self, sentence: int, scale: float) -> NDArray[np.float64]:
        """Probability of each derivation of a sentence where scores are multiplied by `scale`."""
        weight = np.exp(scale * (self.score[sentence] - self.score[sentence].max()))
        return np.asarray(weight / weight.sum())


def enumerate_derivations(
    model: Model,
    sentences: Sequence[Sequence[str]],
    most: int,
    *,
    search: SearchConfig | None = None,
    units: str = "sentence",
) -> Enumerated:
    """List the derivations of sentences, with the largest table limit that leaves each at most `most` of them.

    Args:
        sentences: of source tokens.
        search: seed, distortion limit and first jump are looked at; defaults where None.
        units: see `build_problem`.

    Raises:
        InputError: more derivations, whatever the limit; features that do not count here.
    """
    if model.document:
        names = ", ".join(named.name for named in model.document)
        raise InputError("derivations are listed without features of [features]", found=names, expected="none")
    config = Config.model_construct(phrase_table=(), search=search or SearchConfig())
    for limit in range(MOST_OPTIONS, 0, -1):
        cut = with_limit(model, limit)
        batch = build_problem(cut, [sentences], search=config.search, units=units)
        settings = search_settings(config, cut, batch)
        every = range(len(sentences))
        if any(count_derivations(batch.problem, settings, sentence, most) > most for sentence in every):
            continue
        found = [list(derivations(batch.problem, settings, sentence)) for sentence in every]
        return Enumerated(
            cut,
            limit,
            batch,
            settings,
            [[options for _, options in ways] for ways in found],
            [np.array([score / SCORE_UNITS for score, _ in ways]) for ways in found],
        )
    raise InputError("too many derivations, whatever the table limit", expected=f"at most {most:,} a sentence")


def with_limit(model: Model, limit: int) -> Model:
    """The model with another table limit; 0: none."""
    return replace(model, tables=tuple(replace(table, limit=limit) for table in model.tables))


class _More(Exception):
    """There are more derivations than are asked for."""


def count_derivations(problem: Problem, search: Search, sentence: int, most: int) -> int:
    """Number of derivations of a sentence; ``most + 1`` where there are more than `most`, which is soon noticed."""
    words = int(problem.sentence[sentence, SENTENCE_WORDS])
    first, last = _options(problem, sentence)
    amounts: dict[tuple[int, int], int] = {}
    for start, length in problem.option_place[first:last][:, [OPTION_START, OPTION_LENGTH]].tolist():
        amounts[start, start + length] = amounts.get((start, start + length), 0) + 1
    ending: list[list[tuple[int, int]]] = [[] for _ in range(words + 1)]
    starting: list[list[tuple[int, int, int]]] = [[] for _ in range(words)]
    for (start, stop), amount in sorted(amounts.items()):
        ending[stop].append((start, amount))
        starting[start].append((stop, (1 << stop) - (1 << start), amount))
    monotone = [1]
    for stop in range(1, words + 1):
        monotone.append(sum(monotone[start] * amount for start, amount in ending[stop]))
    if monotone[-1] > most:
        return most + 1
    limit, first_jump = int(search.number[DISTORTION_LIMIT]), int(search.number[FIRST_JUMP])
    every = (1 << words) - 1

    @cache
    def ways(covered: int, end: int) -> int:
        """To go on where these words are covered and the last phrase ends there."""
        if covered == every:
            return 1
        gap = (~covered & covered + 1).bit_length() - 1
        total = 0
        for start in range(gap, words):
            if (covered or first_jump) and abs(start - end) > limit:
                continue
            for stop, span, amount in starting[start]:
                if covered & span or (start != gap and stop - gap > limit):
                    continue
                total += amount * ways(covered | span, stop)
                if total > most:  # each beginning that leads here has so many ends
                    raise _More
        return total

    try:
        return ways(0, 0)
    except _More:
        return most + 1


def _options(problem: Problem, sentence: int) -> tuple[int, int]:
    """The first option of a sentence, and the one behind its last."""
    last = len(problem.option_place)
    if sentence + 1 < len(problem.sentence):
        last = int(problem.sentence[sentence + 1, SENTENCE_OPTION])
    return int(problem.sentence[sentence, SENTENCE_OPTION]), last


def derivations(problem: Problem, search: Search, sentence: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(score, options in target order) of every derivation of a sentence, 2^-40 nat."""
    words = int(problem.sentence[sentence, SENTENCE_WORDS])
    first, last = _options(problem, sentence)
    spans = {option: reference.span(problem, option) for option in range(first, last)}
    words_of = {
        (model, option): reference.target_words(problem, model, [option])
        for model in range(len(problem.language.info))
        for option in spans
    }
    info, language = problem.language.info.tolist(), exact(problem.language)
    limit, weight = int(search.number[DISTORTION_LIMIT]), int(search.number[DISTORTION_WEIGHT])

    @cache
    def look_up(model: int, state: int, word: int) -> tuple[int, int]:
        value, following = lookup(language, model, state, word)
        return int(value), int(following)

    @cache
    def follow(model: int, state: int, option: int) -> tuple[int, int]:
        total = 0
        for word in words_of[model, option]:
            value, state = look_up(model, state, word)
            total += value
        return total * info[model][LM_WEIGHT], state

    @cache
    def step_score(before: int, option: int) -> int:
        """Forward score of the phrase before, backward score of the option; oriented by the twin."""
        assert problem.reordering, "it is asked for only where there are such models"
        pair = [option] if before < 0 else [before, option]
        scores = problem.reordering.score
        turn = reference.orientations(problem, pair)[-1]
        return int(scores[option, turn]) + (int(scores[before, ORIENTATIONS + turn]) if before >= 0 else 0)

    def extend(
        score: int, covered: frozenset[int], end: int, states: tuple[int, ...], chosen: tuple[int, ...]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        if len(covered) == words:
            for model, state in enumerate(states):
                score += info[model][LM_WEIGHT] * look_up(model, state, info[model][LM_END])[0]
            yield score, chosen
            return
        gap = min(word for word in range(words) if word not in covered)
        for option, (start, stop) in spans.items():
            new = frozenset(range(start, stop))
            jump = abs(start - end) if chosen or search.number[FIRST_JUMP] else 0
            if covered & new or jump > limit or (start != gap and stop - gap > limit):
                continue
            steps = [follow(model, state, option) for model, state in enumerate(states)]
            total = score + int(problem.option_score[option, OPTION_SCORE]) - weight * jump
            total += sum(value for value, _ in steps)
            if problem.reordering:
                total += step_score(chosen[-1] if chosen else -1, option)
            yield from extend(total, covered | new, stop, tuple(state for _, state in steps), (*chosen, option))

    begin = tuple(int(row[LM_BEGIN]) for row in problem.language.info)
    yield from extend(0, frozenset(), 0, begin, ())
