"""The kernels' readable twin: what they compute, from nothing and as plainly as can be. Slow, and there for tests.

A sentence's translation is a list of options in target order. Nothing of a state is used but that: no sums, no stored
LM values, no slack. Only the look-ups of the language model are the kernels' own. Scores are in 2^-40 nat, feature
values in 2^-20 nat, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

from gpusearch.kernels.language_model import lookup, lookup_bound, state_length
from gpusearch.kernels.records import (
    ACTIVE_WEIGHT,
    DISCONTINUOUS_LEFT,
    DISCONTINUOUS_RIGHT,
    DISTORTION_LIMIT,
    DISTORTION_WEIGHT,
    FIRST_JUMP,
    LM_BEGIN,
    LM_END,
    LM_ORDER,
    LM_WEIGHT,
    MONOTONE,
    MOSES_CHECK,
    OPTION_LENGTH,
    OPTION_SCORE,
    OPTION_START,
    OPTION_TARGET,
    OPTION_WORDS,
    ORIENTATIONS,
    SENTENCE_SLOT,
    SWAPPED,
    TEMPERATURE_BITS,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    VALUE_BITS,
    VALUES,
    Problem,
    Search,
    State,
    each_active,
)
from gpusearch.kernels.target import by_type, each_type

Phrases = Sequence[int]


class Proposal(NamedTuple):
    """Replace the slots first .. first + replaced - 1 by other options."""

    first: int
    replaced: int
    options: tuple[int, ...]
    origins: tuple[int, ...]
    """For each option the slot that it had before, or -1 where it is new."""


class Value(NamedTuple):
    """What a translation is worth."""

    score: int
    features: tuple[int, ...]


def translation(problem: Problem, state: State, lane: int) -> list[list[int]]:
    """The phrases of each sentence of a lane's unit."""
    first = int(problem.unit[state.unit[lane], UNIT_FIRST_SENTENCE])
    sentences = []
    for local in range(int(problem.unit[state.unit[lane], UNIT_SENTENCES])):
        slots = int(problem.sentence[first + local, SENTENCE_SLOT])
        sentences.append([int(state.option[lane, slots + slot]) for slot in range(int(state.length[lane, local]))])
    return sentences


def span(problem: Problem, option: int) -> tuple[int, int]:
    """First source word of an option, and the one behind its last."""
    start = int(problem.option_place[option, OPTION_START])
    return start, start + int(problem.option_place[option, OPTION_LENGTH])


def target_words(problem: Problem, model: int, phrases: Phrases) -> list[int]:
    """The words of the phrases in the vocabulary of a language model."""
    words: list[int] = []
    for option in phrases:
        first = int(problem.option_place[option, OPTION_TARGET])
        last = first + int(problem.option_place[option, OPTION_WORDS])
        words += [int(problem.target_word[model, place]) for place in range(first, last)]
    return words


def is_complete(problem: Problem, phrases: Phrases, words: int) -> bool:
    """Whether the phrases cover each of so many source words once."""
    return sorted(word for option in phrases for word in range(*span(problem, option))) == list(range(words))


def jumps(problem: Problem, search: Search, phrases: Phrases) -> list[int]:
    """Length of the jump to each phrase; there is none to the sentence's end."""
    spans = [(0, 0), *(span(problem, option) for option in phrases)]
    lengths = [abs(start - stop) for (_, stop), (start, _) in pairwise(spans)]
    if lengths and not search.number[FIRST_JUMP]:
        lengths[0] = 0
    return lengths


def orientations(problem: Problem, phrases: Phrases) -> list[int]:
    """Orientation of each phrase to the one before it: monotone, swapped, discontinuous to the left or to the right."""
    spans = [(0, 0), *(span(problem, option) for option in phrases)]
    found = []
    for (before, behind), (start, stop) in pairwise(spans):
        if start == behind:
            found.append(MONOTONE)
        elif stop == before:
            found.append(SWAPPED)
        else:
            found.append(DISCONTINUOUS_LEFT if start < behind else DISCONTINUOUS_RIGHT)
    return found


def steps(problem: Problem, phrases: Phrases) -> list[tuple[int, int]]:
    """What counts for reordering: (option, column of its scores); of the last phrase no forward score."""
    turns = orientations(problem, phrases)
    backward = list(zip(phrases, turns, strict=True))
    forward = [(option, ORIENTATIONS + turn) for option, turn in zip(phrases, turns[1:], strict=False)]
    return backward + forward


def order_features(problem: Problem) -> int:
    """Number of features of all reordering models."""
    if not problem.reordering:
        return 0
    models, turns, _ = problem.reordering.column.shape
    return 1 + max(int(problem.reordering.column[model, turn, 1]) for model in range(models) for turn in range(turns))


def order_score(problem: Problem, phrases: Phrases) -> int:
    """Weighted values of all reordering models for a sentence."""
    if not problem.reordering:
        return 0
    return sum(int(problem.reordering.score[step]) for step in steps(problem, phrases))


def is_within_reach(problem: Problem, search: Search, phrases: Phrases) -> bool:
    """Moses' check in the beam: with a phrase behind the first gap, the jump back to the gap must be allowed."""
    covered: set[int] = set()
    for option in phrases:
        start, stop = span(problem, option)
        gap = min(word for word in range(len(covered) + 1) if word not in covered)
        if start != gap and abs(gap - stop) > search.number[DISTORTION_LIMIT]:
            return False
        covered |= set(range(start, stop))
    return True


def is_allowed(problem: Problem, search: Search, phrases: Phrases, proposal: Proposal) -> bool:
    """Whether a proposal keeps to the distortion limit.

    Jumps are looked at where the proposal makes them, that to the first phrase behind it included.
    """
    after = apply(phrases, proposal)
    made = jumps(problem, search, after)[proposal.first : proposal.first + len(proposal.options) + 1]
    if any(length > search.number[DISTORTION_LIMIT] for length in made):
        return False
    return not search.number[MOSES_CHECK] or is_within_reach(problem, search, after)


def apply(phrases: Phrases, proposal: Proposal) -> list[int]:
    """The sentence's phrases as proposed."""
    return [*phrases[: proposal.first], *proposal.options, *phrases[proposal.first + proposal.replaced :]]


def threshold(temperature: int, minus_log_u: int, log_ratio: int = 0) -> int:
    """T (ln u + ln q(S -> S') - ln q(S' -> S)), rounded down, in 2^-40 nat; the temperature in 2^-28."""
    return temperature * (log_ratio - minus_log_u) >> TEMPERATURE_BITS


def lm_values(problem: Problem, model: int, words: Sequence[int]) -> list[int]:
    """LM value of each word of a sentence in its context, and of </s> behind them."""
    info = problem.language.info
    values, state = [], int(info[model, LM_BEGIN])
    for word in [*words, int(info[model, LM_END])]:
        value, state = lookup(problem.language, model, state, word)
        values.append(int(value))
    return values


def lm_bounds(problem: Problem, model: int, words: Sequence[int]) -> list[int]:
    """For each word what it is worth at most (least: negative weight) when nothing is known to the left of the first.

    Exact, as soon as what is not known no longer matters.
    """
    values, state, is_open = [], 0, True
    for known, word in enumerate(words):
        is_open = is_open and known < problem.language.info[model, LM_ORDER] - 1
        is_open = is_open and state_length(problem.language, model, state) == known
        value, following = lookup(problem.language, model, state, word)
        if is_open:
            value, _ = lookup_bound(problem.language, model, state, word)
        values.append(int(value))
        state = int(following)
    return values


@each_type
def document_value(feature: object, problem: Problem, search: Search, sentences: Sequence[Phrases]) -> Any:
    """Value of a feature of the document, 2^-20 nat; versions are in the files that `active_features` names."""


def document_features(problem: Problem, search: Search, sentences: Sequence[Phrases]) -> list[tuple[int, int]]:
    """Value and weight of each feature of the document."""
    return [
        (document_value(feature, problem, search, sentences), weight) for feature, weight in active_features(problem)
    ]


def active_features(problem: Problem) -> list[tuple[object, int]]:
    """Each feature of the document with its weight."""
    for name in ("reference_features", "reference_ngrams", "reference_sequences"):
        import_module(f"gpusearch.kernels.{name}")  # their twins; they need this module itself
    every = each_active(problem.document.features if problem.document else ())
    return [(active.feature, int(active.number[ACTIVE_WEIGHT])) for active in every]


@by_type
def document_bound(
    feature: object,
    weight: int,
    problem: Problem,
    search: Search,
    sentences: Sequence[Phrases],
    local: int,
    proposal: Proposal,
) -> int:
    """What a proposal can gain by a feature at most, weighted; exact where no version says otherwise."""
    after = [*sentences[:local], apply(sentences[local], proposal), *sentences[local + 1 :]]
    before, behind = (document_value(feature, problem, search, state) for state in (sentences, after))
    return weight * (behind - before)


def full(problem: Problem, search: Search, sentences: Sequence[Phrases]) -> Value:
    """Score and feature values of a translation from nothing (K' of the options, distortion, reordering, each LM, those
    of the document).

    An empty sentence is worth nothing.
    """
    models = problem.language.info.shape[0]
    orders = order_features(problem)
    features = [0] * (int(search.number[VALUES]) + 1 + orders + models)
    distortion = int(search.number[VALUES])
    score = 0
    for phrases in sentences:
        for option in phrases:
            score += int(problem.option_score[option, OPTION_SCORE])
            for value in range(distortion):
                features[value] += int(problem.option_value[option, value])
        length = sum(jumps(problem, search, phrases))
        features[distortion] -= length << VALUE_BITS
        score -= int(search.number[DISTORTION_WEIGHT]) * length
        score += order_score(problem, phrases)
        if problem.reordering:
            for option, turn in steps(problem, phrases):
                for model in range(problem.reordering.column.shape[0]):
                    column, feature = (int(problem.reordering.column[model, turn, k]) for k in range(2))
                    if column >= 0:
                        features[distortion + 1 + feature] += int(problem.reordering.value[option, column])
        for model in range(models) if phrases else ():
            total = sum(lm_values(problem, model, target_words(problem, model, phrases)))
            features[distortion + 1 + orders + model] += total
            score += int(problem.language.info[model, LM_WEIGHT]) * total
    for value, document_weight in document_features(problem, search, sentences):
        features.append(value)
        score += document_weight * value
    return Value(score, tuple(features))


def change(problem: Problem, search: Search, sentences: Sequence[Phrases], local: int, proposal: Proposal) -> int:
    """By how much a proposal to a sentence changes the score: the difference of two full evaluations."""
    after = [*sentences[:local], apply(sentences[local], proposal), *sentences[local + 1 :]]
    return full(problem, search, after).score - full(problem, search, sentences).score


def bound(problem: Problem, search: Search, sentences: Sequence[Phrases], local: int, proposal: Proposal) -> int:
    """What the change of a proposal to a sentence is at most, as far as can be said without a look at its seams.

    Options, distortion and most features of the document count exactly. The LM value of a new phrase is bounded by
    itself, that of phrases that stay together is the present one, and where such a row of phrases begins all its words
    may gain what they would gain at best if nothing were known to the left of it.
    """
    first, replaced, options, origins = proposal
    phrases = sentences[local]
    total = 0
    for feature, weight in active_features(problem):
        total += document_bound(feature, weight, problem, search, sentences, local, proposal)
    for option in options:
        total += int(problem.option_score[option, OPTION_SCORE])
    for option in phrases[first : first + replaced]:
        total -= int(problem.option_score[option, OPTION_SCORE])
    longer = sum(jumps(problem, search, apply(phrases, proposal))) - sum(jumps(problem, search, phrases))
    total -= int(search.number[DISTORTION_WEIGHT]) * longer
    total += order_score(problem, apply(phrases, proposal)) - order_score(problem, phrases)
    for model in range(problem.language.info.shape[0]):
        weight = int(problem.language.info[model, LM_WEIGHT])
        present = lm_values(problem, model, target_words(problem, model, phrases))
        place = [len(target_words(problem, model, phrases[:slot])) for slot in range(len(phrases) + 1)]
        end = int(problem.language.info[model, LM_END])

        def gain(slot: int, model: int = model, present: list[int] = present, end: int = end) -> int:
            words = [*target_words(problem, model, phrases[slot:]), end]
            return sum(lm_bounds(problem, model, words)) - sum(present[len(present) - len(words) :])

        change = -sum(present[place[first] : place[first + replaced]]) + gain(first + replaced)
        before = -2
        for option, origin in zip(options, origins, strict=True):
            if origin < 0:
                change += sum(lm_bounds(problem, model, target_words(problem, model, [option])))
            else:
                change += sum(present[place[origin] : place[origin + 1]])
                if origin != before + 1:
                    change += gain(origin)
            before = origin if origin >= 0 else -2
        total += weight * change
    return total
