"""Every derivation of a short sentence: the oracle of whatever claims to find the best ones.

Both of Moses' checks of the distortion limit hold, as in its beam.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from gpusearch.kernels import reference
from gpusearch.kernels.language_model import lookup
from gpusearch.kernels.records import (
    DISTORTION_LIMIT,
    DISTORTION_WEIGHT,
    FIRST_JUMP,
    LM_BEGIN,
    LM_END,
    LM_WEIGHT,
    OPTION_SCORE,
    ORIENTATIONS,
    SENTENCE_OPTION,
    SENTENCE_WORDS,
    Problem,
    Search,
)
from gpusearch.kernels.target import exact


def derivations(problem: Problem, search: Search, sentence: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(score, options in target order) of every derivation of a sentence, 2^-40 nat."""
    words = int(problem.sentence[sentence, SENTENCE_WORDS])
    first = int(problem.sentence[sentence, SENTENCE_OPTION])
    last = len(problem.option_place)
    if sentence + 1 < len(problem.sentence):
        last = int(problem.sentence[sentence + 1, SENTENCE_OPTION])
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
