"""Users' features on random proposals, before a search begins: `delta` must be the difference of `full`.

Proposals are drawn and taken as in a search, interpreted, on the shortest unit that has two sentences; language models
are left out. What is compiled must be exact, what is written in Python or torch may differ by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.load import Named
from gpusearch.features.user import BatchFeature
from gpusearch.kernels.commit import commit, refresh
from gpusearch.kernels.document import bound, delta, list_changes
from gpusearch.kernels.records import (
    LM_INFO,
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    UNIT_WORDS,
    Change,
    Problem,
    Proposals,
    Search,
    each_active,
)
from gpusearch.kernels.step import draw, start_monotone
from gpusearch.kernels.target import exact
from gpusearch.model.problem import Batch
from gpusearch.model.weights import VALUE_UNITS
from gpusearch.search.judged import make_judges
from gpusearch.search.state import make_scratch, make_state
from gpusearch.search.stepwise import make_proposals

# Proposals looked at; every third of them is taken.
PROPOSALS = 100
# What a feature in floating point may differ by: nats, or a share of its value.
TOLERANCE = 1e-4
NOW, NEXT = 0, 1


def check_features(batch: Batch, search: Search) -> None:
    """Try the users' features of a batch's model.

    Raises:
        InputError: a change that is not the difference of values, a bound below it, integers that do not fit; names the
            feature and the proposal.
    """
    if any(named.own for named in batch.options.model.document) and len(batch.problem.unit):
        _Check(batch, search).run()


class _Check:
    """A walk on one unit: lane `NOW` takes proposals, lane `NEXT` is computed from nothing."""

    def __init__(self, batch: Batch, search: Search) -> None:
        self.options, self.model = batch.options, batch.options.model
        self.problem = _without_models(batch.problem)
        unit = _short_unit(self.problem)
        self.row = self.problem.unit[unit]
        self.state = make_state(self.problem, np.full(2, unit), np.arange(2), len(self.model.features.names))
        self.scratch = make_scratch(self.problem)
        self.records = tuple(exact(one) for one in (self.problem, search, self.state, self.scratch))
        self.judges = dict(zip(_in_python(self.model.document), make_judges(batch, 2), strict=True))

    def run(self) -> None:
        """Look at all proposals."""
        problem, search, state, scratch = self.records
        start_monotone(problem, search, state, scratch, NOW)
        for judge in self.judges.values():
            judge.full(self.state, np.array([NOW]))
        for step in range(PROPOSALS):
            _, local, first, replaced, count = draw(problem, search, state, scratch, NOW, step)
            if first >= 0:
                self.look(Change(local, int(self.row[UNIT_FIRST_SENTENCE]) + local, first, replaced, count), step)

    def look(self, change: Change, step: int) -> None:
        """Compare what every feature says of a proposal with its values before and after."""
        problem, search, state, scratch = self.records
        proposals = self.proposals(change)
        where = f"at proposal {step}, {self.words(change)}"
        said = {}
        for named in self.model.document:
            try:
                said[named.name] = self.changes(named, change, proposals)
            except (IndexError, OverflowError) as error:
                raise InputError(f"feature {named.name} fails {where}", found=str(error)) from error
        self.put(change)
        refresh(problem, search, state, scratch, NEXT)
        for judge in self.judges.values():
            judge.full(self.state, np.array([NEXT]))
        for named in self.model.document:
            here = slice(*self.model.features.groups[named.name])
            before, after = self.state.feature[NOW, here].copy(), self.state.feature[NEXT, here]
            if not _agree(named, said[named.name], before, after):
                raise InputError(
                    f"delta of feature {named.name} is not the difference of full {where}",
                    found=_nats(said[named.name]),
                    expected=f"{_nats(after - before)}: from {_nats(before)} to {_nats(after)}",
                )
        self.check_bounds(change, proposals, said, where)
        if step % 3 == 0:
            commit(problem, search, state, scratch, NOW, change.local, *change[1:])
            for judge in self.judges.values():
                judge.commit(self.state, proposals)
                judge.full(self.state, np.array([NOW]))

    def changes(self, named: Named, change: Change, proposals: Proposals) -> Any:
        """What a feature says, of each value, 2^-20 nat."""
        if named.name in self.judges:
            judge = self.judges[named.name]
            judge.delta(self.state, proposals)
            return judge.last(proposals)[0]
        problem, search, state, scratch = self.records
        list_changes(problem.document, problem, state, scratch, NOW, *change[1:])
        feature = self.chain()[named.name]
        return np.array([delta(feature, problem, search, state, scratch, NOW, change)], np.int64)

    def check_bounds(self, change: Change, proposals: Proposals, said: dict[str, Any], where: str) -> None:
        """No bound may lie below the change."""
        problem, search, state, scratch = self.records
        list_changes(problem.document, problem, state, scratch, NOW, *change[1:])
        for named in self.model.document:
            weights = self.model.features.integer_weights[slice(*self.model.features.groups[named.name])]
            exactly = int(said[named.name] @ weights)
            if named.name in self.judges:
                most = int(self.judges[named.name].bound(self.state, proposals)[0])
            else:
                feature = self.chain()[named.name]
                most = bound(feature, int(weights[0]), problem, search, state, scratch, NOW, change)
            if most < exactly:
                raise InputError(
                    f"bound of feature {named.name} lies below its change {where}",
                    found=most / VALUE_UNITS**2,
                    expected=f"at least {exactly / VALUE_UNITS**2}",
                )

    def chain(self) -> dict[str, Any]:
        """The records of features by name, but for those in Python."""
        names = (named.name for named in self.model.document if named.name not in self.judges)
        every = each_active(self.records[0].document.features)
        return {name: active.feature for name, active in zip(names, every, strict=True)}

    def put(self, change: Change) -> None:
        """Put the translation as proposed into the lane `NEXT`."""
        state = self.state
        state.option[NEXT], state.length[NEXT] = state.option[NOW], state.length[NOW]
        slots = int(self.problem.sentence[change.sentence, SENTENCE_SLOT])
        length = int(state.length[NOW, change.local])
        row = state.option[NOW, slots : slots + length].tolist()
        row[change.first : change.first + change.replaced] = self.scratch.option[: change.count].tolist()
        state.option[NEXT, slots : slots + len(row)] = row
        state.length[NEXT, change.local] = len(row)

    def proposals(self, change: Change) -> Proposals:
        """The proposal as the driver that works stepwise holds it."""
        made = make_proposals(self.problem, np.array([NOW]))
        made.sentence[0], made.first[0] = change.local, change.first
        made.replaced[0], made.count[0] = change.replaced, change.count
        for name in ("option", "origin", "covers"):
            getattr(made, name)[0, : change.count] = getattr(self.scratch, name)[: change.count]
        return made

    def words(self, change: Change) -> str:
        """The proposal as people read it."""
        slots = int(self.problem.sentence[change.sentence, SENTENCE_SLOT]) + change.first
        rows = self.state.option[NOW, slots : slots + change.replaced], self.scratch.option[: change.count]
        before, after = (" ".join(word for one in row.tolist() for word in self.options.target(one)) for row in rows)
        return f"sentence {change.local + 1}, {before!r} to {after!r}"


def _agree(named: Named, said: Any, before: Any, after: Any) -> bool:
    if not isinstance(named.feature, BatchFeature):
        return bool((said == after - before).all())
    most = TOLERANCE * np.maximum(VALUE_UNITS, np.maximum(np.abs(before), np.abs(after)))
    return bool((np.abs(said - (after - before)) <= most).all())


def _nats(values: Any) -> str:
    return ", ".join(f"{float(value) / VALUE_UNITS:.9g}" for value in np.atleast_1d(values))


def _in_python(document: Sequence[Named]) -> list[str]:
    return [named.name for named in document if isinstance(named.feature, BatchFeature)]


def _without_models(problem: Problem) -> Problem:
    """The problem without what scores sentences by their words or order: their places among the values stay 0."""
    language = problem.language._replace(info=np.zeros((0, LM_INFO), np.int64))
    return problem._replace(language=language, host=(), reordering=())


def _short_unit(problem: Problem) -> int:
    """The shortest unit of those that have two sentences, or of all."""
    words = problem.unit[:, UNIT_WORDS] + (problem.unit[:, UNIT_SENTENCES] < 2) * (1 << 40)
    return int(words.argmin())
