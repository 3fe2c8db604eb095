"""A compiled feature of a user with counts, a bound, its gap and a state of its own, held against the built-in one.

Interpreted; compiled with the other features of users (`tests/feature_forms.py`: `USERS`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpusearch.errors import InputError
from gpusearch.kernels.commit import commit, refresh
from gpusearch.kernels.document import bound, delta, gap, list_changes
from gpusearch.kernels.records import ACTIVE_WEIGHT, Change, each_active
from tests.feature_forms import VARIETY
from tests.features.user_features import AT, Write, of, tried, write
from tests.kernels.test_step import steps_of
from tests.paths import Case

__all__ = ["write"]  # a fixture


def compare(step: SimpleNamespace, found: Counter[str]) -> None:
    """What both features say of a proposal, and of the translation behind it."""
    problem, _, state, scratch = step.arguments
    proposal = step.proposal
    where = (0, step.sentence, proposal.first, proposal.replaced, len(proposal.options))
    change = Change(step.local, step.sentence, *where[2:])
    list_changes(problem.document, problem, state, scratch, *where)
    built_in, own = each_active(problem.document.features)
    by = delta(own.feature, *step.arguments, 0, change)
    assert by == delta(built_in.feature, *step.arguments, 0, change)
    weight = int(own.number[ACTIVE_WEIGHT])
    most = bound(own.feature, weight, *step.arguments, 0, change)
    # As where proposals of other lanes are looked at in between.
    scratch.changed.many.array[:] = 0
    less = gap(own.feature, weight, 1, *step.arguments, 0, change)
    assert most + less == weight * by
    assert less <= 0
    found["loose"] += less < 0
    found["changes"] += by != 0
    found["positive" if weight > 0 else "negative"] += 1
    commit(*step.arguments, *where[:1], step.local, *where[1:])
    values = state.feature.array[0, -2:].tolist()
    refresh(*step.arguments, 0)
    assert values == state.feature.array[0, -2:].tolist()
    assert values[0] == values[1]


def test_counts_bound_gap_and_state_of_a_users_feature(
    monkeypatch: pytest.MonkeyPatch, repetitions: Callable[[int], int]
) -> None:
    """Values and changes of the built-in type-token-ratio, by either sign of the weight; a bound with its gap is the
    change, whatever counts are listed when the gap is asked for."""
    monkeypatch.setattr("gpusearch.features.compiled.add_source", lambda source: None)
    found: Counter[str] = Counter()
    for seed in range(repetitions(150)):
        case = replace(Case.random(seed), features=("type-token-ratio", VARIETY), units="document")
        for step in steps_of(case, 20):
            compare(step, found)
    assert min(found[name] for name in ("loose", "changes", "positive", "negative")) > 20, found


WRONG = """
from gpusearch.kernels.document import gap
from tests.features import variety
from tests.features.variety import by_counts


class Right(variety.Variety):
    pass


class Stale(variety.Variety):
    def gap(my, weight, room, problem, search, state, scratch, lane, change):
        exact = weight * by_counts(my, state, scratch, lane)
        return exact - variety.at_most(my, weight, problem, state, scratch, lane, change)


class NoGap:
    scope, compiled, counts = "document", True, ("words",)
    value, prepare = variety.Variety.value, variety.Variety.prepare
    full, delta, bound, commit = (vars(variety.Variety)[name] for name in ("full", "delta", "bound", "commit"))
"""


def test_a_gap_by_counts_of_another_proposal_is_found(write: Write) -> None:
    """With features in Python, or a model on the host, bounds of all chains are asked for before the first gap."""
    write(WRONG)
    tried(of("Right"))
    for name in ("Stale", "NoGap"):
        with pytest.raises(
            InputError, match=rf"gap of feature x is not its change less its bound {AT}; .*list_changes"
        ):
            tried(of(name))
