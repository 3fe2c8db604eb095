"""Proposals come as often as the definitions of the operations say, for both draws of options."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest

from gpusearch.kernels import reference
from gpusearch.kernels.records import SENTENCE_LONGEST, SENTENCE_SPAN, SENTENCE_WORDS, Problem, Search, State
from gpusearch.kernels.step import accept, draw, start_monotone
from gpusearch.kernels.target import exact
from gpusearch.model.option_draw import draw_weights
from gpusearch.search.settings import make_search
from gpusearch.search.state import make_scratch, make_state
from tests.draws import COUNT, FIRST, OPERATION, REPLACED, draw_steps
from tests.random_language import random_language
from tests.random_problem import PlainOperations, PlainSettings, random_problem
from tests.statistical.chi_square import LEVEL, p_value
from tests.statistical.proposal_distributions import OPERATIONS, Phrases, Sentence

pytestmark = pytest.mark.stat

DRAWS = 200_000
LONGEST = 3
OTHER = PlainOperations(swap_decay=0.6, block_decay=0.4, resegment_swap=0.3, move_decay=0.7, move_right=0.8)
TEMPERATURE, UNIFORM_PART = 0.6, 0.1


class Scene:
    """A sentence in some state, with options drawn in one of the two ways."""

    def __init__(self, seed: int, option_draw: str, words: int = 5, walk: int = 12) -> None:
        language = random_language(0)
        settings = PlainSettings(operations=OTHER, distortion_limit=-1)
        problem, search, values = random_problem(
            seed, language, sentences=(words,), longest=LONGEST, most_options=3, settings=settings
        )
        scores = np.random.default_rng(seed).normal(size=len(problem.option_place))
        first = np.unique(problem.span).astype(np.int64)
        weights = draw_weights(
            np.round(scores * 2**40).astype(np.int64),
            first,
            draw=option_draw,
            temperature=TEMPERATURE * 2**40,
            uniform=UNIFORM_PART,
        )
        self.problem: Problem = problem._replace(option_draw=weights.astype(np.int32))
        self.search: Search = search
        self.state: State = make_state(self.problem, np.zeros(1, int), np.zeros(1, int), values)
        self.sentence = _sentence(self.problem, scores, option_draw)
        self._walk(walk)
        self.now: Phrases = tuple(reference.translation(self.problem, self.state, 0)[0])

    def _walk(self, steps: int) -> None:
        """Take what is drawn, whatever it is worth: phrases out of order, some of them long."""
        arguments = [exact(record) for record in (self.problem, self.search, self.state, make_scratch(self.problem))]
        start_monotone(*arguments, 0)
        for step in range(steps):
            _, local, first, replaced, count = draw(*arguments, 0, step)
            if first >= 0:
                accept(*arguments, 0, local, first, replaced, count)

    def draws(self, operation: int, draws: int = DRAWS) -> Counter[Phrases | None]:
        """How often each outcome is proposed when nothing but one operation is drawn."""
        shares = np.where(np.arange(len(OPERATIONS)) >= operation, 1 << 32, 0)
        rows = drawn(self.problem, self.search._replace(operation=shares), self.state, draws)
        assert (rows[:, OPERATION] == operation).all()
        return Counter(dict(self._outcomes(rows)))

    def _outcomes(self, rows: np.ndarray) -> Iterable[tuple[Phrases | None, int]]:
        columns = rows.shape[1]
        for packed, times in Counter(rows.astype(np.int16).view(f"V{2 * columns}")[:, 0].tolist()).items():
            row = np.frombuffer(packed, np.int16).tolist()
            first, behind = row[FIRST], row[FIRST] + row[REPLACED]
            outcome = (*self.now[:first], *row[5 : 5 + row[COUNT]], *self.now[behind:])
            yield None if first < 0 else outcome, times


def drawn(problem: Problem, search: Search, state: State, draws: int) -> np.ndarray:
    scratch = make_scratch(problem)
    rows = np.zeros((draws, 5 + len(scratch.option)), np.int64)
    draw_steps(problem, search, state, scratch, 0, 1_000_000, rows)
    rows[rows[:, FIRST] < 0, FIRST:] = -1
    return rows


def _sentence(problem: Problem, scores: np.ndarray, option_draw: str) -> Sentence:
    words, spans, longest = problem.sentence[0, [SENTENCE_WORDS, SENTENCE_SPAN, SENTENCE_LONGEST]].tolist()
    options: dict[tuple[int, int], dict[int, float]] = {}
    span = {}
    for start in range(words):
        for length in range(1, longest + 1):
            row = spans + start * longest + length - 1
            inside = range(int(problem.span[row]), int(problem.span[row + 1]))
            if not inside:
                continue
            part = UNIFORM_PART if option_draw == "score" else 1.0
            weight = {o: math.exp(scores[o] / TEMPERATURE) for o in inside}
            options[(start, start + length)] = {
                o: (1 - part) * weight[o] / sum(weight.values()) + part / len(inside) for o in inside
            }
            span |= dict.fromkeys(inside, (start, start + length))
    return Sentence(words, LONGEST, options, span)


@pytest.mark.parametrize("option_draw", ["score", "uniform"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name: str, option_draw: str) -> None:
    """Several states of several sentences each; one of them short, one as it was begun."""
    for seed, words, walk in ((1, 5, 12), (2, 5, 31), (3, 4, 0), (4, 2, 5), (5, 1, 1)):
        scene = Scene(seed, option_draw, words, walk)
        expected = OPERATIONS[name](scene.sentence, scene.now, OTHER)
        assert p_value(scene.draws(list(OPERATIONS).index(name)), expected) > LEVEL, (seed, scene.now)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_distribution_that_is_off_by_a_tenth_is_noticed(name: str) -> None:
    """Half of the outcomes a tenth likelier than they are."""
    scene = Scene(1, "score")
    expected = OPERATIONS[name](scene.sentence, scene.now, OTHER)
    by_probability = sorted(expected.items(), key=lambda item: item[1])
    wrong = {outcome: p * (1.1 if n % 2 else 1.0) for n, (outcome, p) in enumerate(by_probability)}
    wrong = {outcome: p / sum(wrong.values()) for outcome, p in wrong.items()}
    assert p_value(scene.draws(list(OPERATIONS).index(name)), wrong) < LEVEL


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("swap", PlainOperations(swap_decay=0.54)),
        ("resegment", PlainOperations(block_decay=0.36)),
        ("resegment", PlainOperations(resegment_swap=0.27)),
        ("move", PlainOperations(move_decay=0.63)),
        ("move", PlainOperations(move_right=0.72)),
    ],
)
def test_a_setting_that_is_off_by_a_tenth_is_noticed(name: str, wrong: PlainOperations) -> None:
    scene = next(scene for seed in range(99) if len((scene := Scene(seed, "score", words=7, walk=2)).now) == 6)
    changed = {key: value for key, value in vars(wrong).items() if value != getattr(PlainOperations(), key)}
    expected = OPERATIONS[name](scene.sentence, scene.now, PlainOperations(**(vars(OTHER) | changed)))
    assert p_value(scene.draws(list(OPERATIONS).index(name)), expected) < LEVEL


def test_options_of_the_wrong_draw_are_noticed() -> None:
    scene, other = Scene(1, "score"), Scene(1, "uniform")
    expected = OPERATIONS["change"](other.sentence, scene.now, OTHER)
    assert p_value(scene.draws(0), expected) < LEVEL


def test_operations_in_proportion_to_their_shares() -> None:
    shares = PlainOperations(change=8, swap=4, resegment=0, permute=1, linearise=0, move=2, insertion=3.5)
    problem, _, values = random_problem(6, random_language(0), sentences=(6,))
    search = make_search(PlainSettings(operations=shares), longest=3, values=6, distortion_weight=0)
    rows = _drawn_from_the_start(problem, search, values)
    total = sum(shares.shares().values())
    expected = {number: share / total for number, share in enumerate(shares.shares().values()) if share}
    assert p_value(Counter(rows[:, OPERATION].tolist()), expected) > LEVEL


def _drawn_from_the_start(problem: Problem, search: Search, values: int) -> np.ndarray:
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values)
    start_monotone(*(exact(record) for record in (problem, search, state, make_scratch(problem))), 0)
    scratch = make_scratch(problem)
    rows = np.zeros((DRAWS, 5 + len(scratch.option)), np.int64)
    draw_steps(problem, search, state, scratch, 0, 0, rows)
    return rows
