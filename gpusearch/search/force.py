"""Force-scoring: what the model says of a translation that is given, with its segmentation or as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import total_ordering
from heapq import heappop, heappush
from math import inf

import numpy as np
from numpy.typing import NDArray

from gpusearch.config.search import SearchConfig
from gpusearch.kernels.records import OPTION_SCORE, VALUE_BITS, Problem
from gpusearch.kernels.reordering import order_score
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.model.tableless import Constraints, part_of
from gpusearch.model.weights import DISTORTION
from gpusearch.search.enumeration import with_limit
from gpusearch.search.saved import Given
from gpusearch.search.translation import SentenceTranslation, describe

# Partial segmentations looked at for one sentence before it counts as out of reach.
MOST_STATES = 100_000

Documents = Sequence[Sequence[Sequence[str]]]


def score_segmented(
    model: Model, search: SearchConfig, documents: Documents, given: Given, constraints: Constraints | None = None
) -> list[list[SentenceTranslation]]:
    """Scores of translations with their segmentation: ``[document][sentence]``.

    Phrase pairs of the tables beyond the table limit count as well; the distortion limit is not looked at.

    Raises:
        InputError: a phrase pair that no table has; spans that do not cover the source. Names the sentence.
    """
    result = []
    for number, document in enumerate(documents):
        batch = build_problem(
            model,
            [document],
            search=search,
            forced=given.forced(number, number + 1),
            constraints=part_of(constraints or {}, number, number + 1),
        )
        derivation = [np.array(options, np.int32) for options in given.options(batch, number)[0]]
        result.append(describe(batch, derivation, search.first_jump))
    return result


def score_plain(
    model: Model,
    search: SearchConfig,
    documents: Documents,
    translations: Documents,
    constraints: Constraints | None = None,
) -> list[list[SentenceTranslation | None]]:
    """Scores of translations given as words, by the best segmentation that reaches them within the distortion limit.

    None where no segmentation does. All phrase pairs of the tables count, whatever the table limit.
    """
    unlimited = with_limit(model, 0)
    result: list[list[SentenceTranslation | None]] = []
    for number, (document, translation) in enumerate(zip(documents, translations, strict=True)):
        here = part_of(constraints or {}, number, number + 1)
        batch = build_problem(unlimited, [document], search=search, constraints=here)
        found = [segment(batch, search, sentence, list(words)) for sentence, words in enumerate(translation)]
        described = iter(describe(batch, [options for options in found if options is not None], search.first_jump))
        result.append([None if options is None else next(described) for options in found])
    return result


def segment(batch: Batch, search: SearchConfig, sentence: int, words: Sequence[str]) -> NDArray[np.int32] | None:
    """The derivation of a sentence with the best score among those that say `words`; None where none was found.

    The LM sees the same words in each, so options, distortion and reordering alone decide. A* over (words said, source
    words covered, last phrase); what is left to come is bounded from above twice: by the best options for the rest of
    the translation, whatever they cover, and by the best options for each gap of the source.
    """
    options, problem = batch.options, batch.problem
    source = len(options.sentences[sentence])
    if source == 0:
        return np.empty(0, np.int32) if not words else None
    matches = _matches(batch, sentence, words)
    features = options.model.features
    weight = int(features.integer_weights[features.index(DISTORTION)]) << VALUE_BITS
    limit = source if search.distortion_limit < 0 else search.distortion_limit
    moves = [[_Move(problem, option) for option in here] for here in matches]
    of_rest, of_gap = _best_of_rest(moves, len(words)), _best_of_gaps(moves, source)
    everything = (1 << source) - 1

    def bound(said: int, covered: int) -> float:
        gaps, start = 0.0, 0
        for position in range(source + 1):
            if position == source or covered >> position & 1:
                gaps += of_gap[start][position]
                start = position + 1
        return min(of_rest[said], gaps)

    heap: list[tuple[float, int, int, int, _Derivation]] = [(-bound(0, 0), 0, 0, 0, ())]
    settled: set[tuple[int, int, int]] = set()
    while heap and len(settled) < MOST_STATES:
        _, said, covered, score, derivation = heappop(heap)
        if said == len(words) and covered == everything:
            return np.array([move.option for move in derivation], np.int32)
        last = derivation[-1] if derivation else None
        state = said, covered, _what_matters(problem, last)
        if state in settled:
            continue
        settled.add(state)
        end = last.stop if last else 0
        for move in moves[said]:
            jump = abs(move.start - end) if last or search.first_jump else 0
            if covered & move.mask or jump > limit:
                continue
            after, then = covered | move.mask, score + move.score - weight * jump
            if problem.reordering:
                then += int(order_score(problem.reordering, problem, last.option if last else -1, move.option))
            rest = bound(said + move.words, after)
            if rest > -inf:
                heappush(heap, (-then - move.ahead - rest, said + move.words, after, then, (*derivation, move)))
    return None


def _what_matters(problem: Problem, last: _Move | None) -> int:
    """What of the last phrase matters to what follows: where it ends, or with a reordering model all of it."""
    if last is None:
        return -1
    return last.option if problem.reordering else last.stop


@total_ordering
class _Move:
    """An option as a step of the search. `ahead` is the most that the step behind it can still add to it, `most` that
    and what it adds at best by itself."""

    def __init__(self, problem: Problem, option: int) -> None:
        self.option = option
        self.start, length, _, self.words = (int(number) for number in problem.option_place[option])
        self.stop = self.start + length
        self.mask = ((1 << length) - 1) << self.start
        self.score = self.most = int(problem.option_score[option, OPTION_SCORE])
        self.ahead = 0
        if problem.reordering:
            backward, forward = np.split(problem.reordering.score[option], 2)
            self.ahead = max(0, int(forward.max()))  # nothing follows the last phrase
            self.most += int(backward.max()) + self.ahead

    def __lt__(self, other: _Move) -> bool:
        return self.option < other.option

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Move) and self.option == other.option

    def __hash__(self) -> int:
        return self.option


_Derivation = tuple[_Move, ...]


def _best_of_rest(moves: Sequence[Sequence[_Move]], words: int) -> list[float]:
    """For each position of the translation the best sum of options that say the rest; options without words count
    where they raise it, once each."""
    silent: dict[int, int] = {move.option: move.most for here in moves for move in here if move.words == 0}
    free = float(sum(score for score in silent.values() if score > 0))
    best = [-inf] * words + [free]
    for place in range(words - 1, -1, -1):
        best[place] = max((best[place + move.words] + move.most for move in moves[place] if move.words), default=-inf)
    return best


def _best_of_gaps(moves: Sequence[Sequence[_Move]], source: int) -> list[list[float]]:
    """``[start][stop]``: the best sum of options that cover the source words start .. stop - 1."""
    best_of_span: dict[tuple[int, int], float] = {}
    for move in (move for here in moves for move in here):
        span = move.start, move.stop
        best_of_span[span] = max(best_of_span.get(span, -inf), move.most)
    ending: list[list[tuple[int, float]]] = [[] for _ in range(source + 1)]
    for (start, stop), score in best_of_span.items():
        ending[stop].append((start, score))
    gaps = []
    for first in range(source + 1):
        best = [-inf] * (source + 1)
        best[first] = 0.0
        for stop in range(first + 1, source + 1):
            best[stop] = max((best[start] + score for start, score in ending[stop] if start >= first), default=-inf)
        gaps.append(best)
    return gaps


def _matches(batch: Batch, sentence: int, words: Sequence[str]) -> list[list[int]]:
    """For each position of the translation (its end included) the options whose words stand there."""
    options = batch.options
    first, last = options.first_option[sentence : sentence + 2].tolist()
    matches: list[list[int]] = [[] for _ in range(len(words) + 1)]
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    for option in range(first, last):
        target = options.target(option)
        where = range(len(words) + 1) if not target else places.get(target[0], [])
        for place in where:
            if list(words[place : place + len(target)]) == target:
                matches[place].append(option)
    return matches
