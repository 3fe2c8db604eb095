"""One step: a proposal's change of the score is exact, its bounds are bounds, what is committed is consistent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.kernels import reference
from gpusearch.kernels.commit import commit
from gpusearch.kernels.judge import judge
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_BOUND,
    FIRST_JUMP,
    OPERATIONS,
    SENTENCE_WORDS,
    STAGES,
    TOO_FAR,
    UNIT_FIRST_SENTENCE,
)
from gpusearch.kernels.reference import Proposal
from gpusearch.kernels.step import draw, start_monotone
from gpusearch.kernels.target import exact
from gpusearch.search.state import make_scratch, make_state
from tests.feature_forms import ALONG_FORMS, FORMS, NGRAMS, SMALL, USERS
from tests.paths import Case
from tests.step_checker import FINE, LEAST, check_steps

PROPOSALS = 1_000_000
EACH = 2_500
SPECIAL = {
    "one word": Case(1, sentences=(1,)),
    "empty sentences": Case(2, sentences=(0, 3, 0, 0, 2, 0)),
    "200 words": Case(3, orders=(5, 2), weights=(1 << 19, -(1 << 19)), sentences=(200,)),
    "deletions only": Case(4, sentences=(6, 2), lengths=(0,)),
    "unknown words only": Case(5, orders=(4,), sentences=(8,), words=(2,)),
    "long phrases": Case(6, orders=(3,), sentences=(7, 7), lengths=(0, 9)),
    "sentence units": Case(7, sentences=(5, 1, 0, 9), units="sentence"),
    "order 1": Case(8, orders=(1,), sentences=(6, 6)),
    "all weights negative": Case(9, orders=(5, 4, 3), weights=(-(1 << 20), -(1 << 18), -1), sentences=(9, 4)),
    "reordering": Case(11, orders=(3,), sentences=(9, 4), reordering=1),
    "four reordering models": Case(12, sentences=(12, 1, 0, 5), reordering=4),
    "weight 0": Case(10, orders=(3, 3), weights=(0, 1 << 20), sentences=(9, 4)),
}


def check(case: Case, proposals: int, tally: np.ndarray) -> int:
    """Check so many proposals of a case, over its units; returns how many were judged and compared.

    One that goes too far is refused before it is.
    """
    problem, search, values = case.problem()
    scratch = make_scratch(problem)
    before = tally[:, ACCEPTED].sum()
    for unit in range(len(problem.unit)):
        state = make_state(problem, np.full(3, unit), np.zeros(3, int), values)
        fault, step = check_steps(problem, search, state, scratch, proposals // len(problem.unit), proposals)
        assert fault == FINE, (fault, step, unit, case)
        tally += state.tally[0]
    return int(tally[:, ACCEPTED].sum() - before)


@pytest.mark.parametrize("name", SPECIAL)
def test_deltas_bounds_and_sums_of_special_problems(name: str, repetitions: Callable[[int], int]) -> None:
    """The change is that of full scores; no bound on the way lies below it; all sums equal a recomputation."""
    tally = np.zeros((OPERATIONS, STAGES), np.int64)
    assert check(SPECIAL[name], repetitions(20_000), tally) > 0


@pytest.mark.slow  # their kernels take minutes to be compiled; the readable twin has the same claims in the quick run
@pytest.mark.parametrize("forms", [FORMS, ALONG_FORMS, NGRAMS], ids=["words", "along", "n-grams"])
def test_features_of_documents_of_any_length(
    forms: tuple[tuple[str, ...], ...], repetitions: Callable[[int], int]
) -> None:
    """Each feature that is built in: the change is the difference of full values on documents of 1 to 60 sentences."""
    for features in forms:
        check_documents(features, repetitions(200_000))


@pytest.mark.slow
@pytest.mark.usefixtures("of_users")
def test_small_features_and_those_of_users(repetitions: Callable[[int], int]) -> None:
    """The same of those that look at options alone, and of compiled features of users: the one of docs/features.md, and
    one with counts, a bound, its gap and a state of its own."""
    check_documents(USERS, repetitions(200_000))


def check_documents(features: tuple[str, ...], proposals: int) -> None:
    """Check so many proposals for documents, and some for sentences that are units of their own."""
    tally = np.zeros((OPERATIONS, STAGES), np.int64)
    found = seed = 0
    while found < proposals:
        rng = np.random.default_rng((seed, crc32(repr(features).encode()), 5))
        sentences = tuple(rng.choice([0, 1, 2, 3, 5, 8, 12], int(rng.integers(1, 61))).tolist())
        units = ("document", "document", "sentence")[seed % 3]
        checked = check(Case(100 + seed, sentences=sentences, units=units, features=features), EACH, tally)
        found += checked if units == "document" else 0
        seed += 1
    assert (tally[:, ACCEPTED] > 0).all(), tally


def test_deltas_bounds_and_sums_of_random_problems(repetitions: Callable[[int], int]) -> None:
    """A million proposals (a tenth in the quick run): 1-3 models, orders 1-5, weights of both signs, any limits."""
    tally = np.zeros((OPERATIONS, STAGES), np.int64)
    found = seed = 0
    while found < repetitions(PROPOSALS):
        found += check(Case.random(seed), EACH, tally)
        seed += 1
    assert (tally[:, ACCEPTED] > 0).all(), tally
    assert (tally[1:, TOO_FAR] > 0).all(), tally


@given(st.integers(0, 10**6), st.integers(0, 1), st.sampled_from(((), SMALL, *FORMS, *ALONG_FORMS, *NGRAMS)))
def test_interpreted_steps_equal_the_readable_twin(seed: int, walk: int, features: tuple[str, ...]) -> None:
    """Stage, change and first bound of a proposal, and the state behind it, against `reference`."""
    for step in steps_of(replace(Case.random(seed), features=features), 12, chain=walk):
        arguments, proposal, phrases = step.arguments, step.proposal, step.phrases
        problem, search, state = arguments[:3]
        where = (0, step.sentence, proposal.first, proposal.replaced, len(proposal.options))
        assert reference.is_complete(problem, reference.apply(phrases, proposal), step.words)
        assert reference.apply(phrases, proposal) != phrases
        stage, delta = judge(*arguments, *where, LEAST)
        if not reference.is_allowed(problem, search, phrases, proposal):
            assert stage == TOO_FAR
            continue
        sentences = reference.translation(problem, state, 0)
        assert (stage, delta) == (ACCEPTED, reference.change(problem, search, sentences, step.local, proposal))
        bound = reference.bound(problem, search, sentences, step.local, proposal)
        assert bound >= delta
        assert judge(*arguments, *where, bound)[0] == BELOW_BOUND
        assert judge(*arguments, *where, bound - 1)[0] != BELOW_BOUND
        sentences[step.local] = reference.apply(phrases, proposal)
        commit(*arguments, 0, step.local, *where[1:])
        assert reference.translation(problem, state, 0) == sentences
        value = reference.full(problem, search, sentences)
        assert (state.score[0], tuple(state.feature[0, k] for k in range(len(value.features)))) == value


def steps_of(case: Case, proposals: int, *, chain: int = 0) -> Iterator[SimpleNamespace]:
    """Proposals for the first lane of a case as they are drawn, on whatever state the lane has come to."""
    problem, search, values = case.problem()
    if not len(problem.unit):
        return
    state = make_state(problem, np.zeros(1, int), np.array([chain]), values)
    arguments = tuple(exact(record) for record in (problem, search, state, make_scratch(problem)))
    start_monotone(*arguments, 0)
    for step in range(proposals):
        _, local, first, replaced, count = draw(*arguments, 0, step)
        if first < 0:
            continue
        scratch = arguments[3]
        sentence = int(problem.unit[0, UNIT_FIRST_SENTENCE]) + local
        yield SimpleNamespace(
            arguments=arguments,
            local=local,
            sentence=sentence,
            words=int(problem.sentence[sentence, SENTENCE_WORDS]),
            phrases=reference.translation(problem, state, 0)[local],
            proposal=Proposal(
                first,
                replaced,
                tuple(scratch.option[k] for k in range(count)),
                tuple(scratch.origin[k] for k in range(count)),
            ),
        )


def test_first_jump_may_be_left_out() -> None:
    """With `first_jump = false` the distortion of a translation lacks the jump to its first phrase, and no other."""
    problem, search, _ = Case(11, sentences=(6,)).problem()
    number = search.number.copy()
    spans = [reference.span(problem, option) for option in range(len(problem.option_place))]
    phrases = [spans.index((word, word + 1)) for word in (2, 0, 1, 5, 4, 3)]
    lengths = []
    for counts in (1, 0):
        number[FIRST_JUMP] = counts
        lengths.append(reference.jumps(problem, search._replace(number=number), phrases))
    assert lengths == [[2, 3, 0, 3, 2, 2], [0, 3, 0, 3, 2, 2]]


def test_the_checker_notices_a_wrong_value() -> None:
    """A bound that is too low by 1, a score that is off by 1: each is a fault."""
    case = replace(SPECIAL["unknown words only"], words=None)
    problem, search, values = case.problem()
    low = problem.word_bound.copy()
    low -= 1
    wrong_score = problem.option_score.copy()
    wrong_score[:, 1] -= 1 << 45
    for wrong in (problem._replace(word_bound=low), problem._replace(option_score=wrong_score)):
        state = make_state(wrong, np.zeros(3, int), np.zeros(3, int), values)
        fault, _ = check_steps(wrong, search, state, make_scratch(wrong), 500, 500)
        assert fault != FINE
