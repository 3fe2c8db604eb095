"""Users' features on random proposals, before a search begins: `delta` must be the difference of `full`.

Proposals are drawn and taken as in a search, interpreted; language models are left out. Units are gone through until
enough proposals are compared, small ones first, but not so small that their proposals could hardly say anything. What
is compiled must be exact; what is written in Python or torch may differ by rounding to 2^-20 nat, and by that of the
numbers that it returns.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.compiled import CompiledFeature
from gpusearch.features.load import Named
from gpusearch.features.material import material_of
from gpusearch.features.protocol import Scope
from gpusearch.features.user import BatchFeature
from gpusearch.kernels.commit import commit, refresh
from gpusearch.kernels.document import UNKNOWN, bound, delta, gap, list_changes
from gpusearch.kernels.records import (
    SENTENCE_SLOT,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Change,
    Proposals,
    Search,
    each_active,
)
from gpusearch.kernels.step import draw, start_monotone
from gpusearch.kernels.target import exact
from gpusearch.model.problem import Batch
from gpusearch.model.weights import SCORE_UNITS, VALUE_UNITS
from gpusearch.search.judged import make_judges
from gpusearch.search.state import make_scratch, make_state
from gpusearch.search.stepwise import make_proposals
from gpusearch.search.translation import text_of
from gpusearch.search.trial_problem import has_parts, in_order, without_models
from gpusearch.user_code import failure

logger = logging.getLogger(__name__)

# Proposals that are compared, and how many of them at least are of several phrases; every third is taken.
ENOUGH, SEVERAL = 100, 20
# Fewer are worth a warning.
FEW = 50
# Draws at most, of all units and of one; a unit is left where so many in a row have come to nothing.
DRAWS, DRAWS_OF_UNIT, IDLE = 1000, 250, 25
# A change and two values, each rounded to 2^-20 nat, so by half of that: three halves, and whole numbers differ by one.
ROUNDED = 1
# What sums and the like may add to it: so many steps of the type of the numbers, each a share of the value, or of 1.
STEPS = 256
FLOAT32 = 2.0**-23
# The same for what was computed in float32 and returned as float64: 2^-20 in all.
HIDDEN = 8 * FLOAT32 / STEPS
# What a compiled feature's value in plain Python may differ by: 2^-20 nat a word and phrase, and a share of itself.
SHARE = 1e-5
NOW, NEXT = 0, 1


def check_features(batch: Batch, search: Search) -> None:
    """Try the users' features of a batch's model; where hardly a proposal could be compared, a warning says so.

    Raises:
        InputError: a change that is not the difference of values, a bound below it, a state of its own that is not kept
            up, integers that do not fit, an exception; names the feature, its function and the proposal.
    """
    names = ", ".join(named.name for named in batch.options.model.document if named.own)
    if not names or not len(batch.problem.unit):
        return
    check = _Check(batch, search)
    check.run()
    if check.compared < FEW or (not check.several and has_parts(batch.problem)):
        logger.warning(
            "%s: tried on %d proposals, %d of them of several phrases: these texts hardly allow more, so that an error "
            "in delta, bound or commit may not have shown",
            names,
            check.compared,
            check.several,
        )


class _Check:
    """Walks on units: lane `NOW` takes proposals, lane `NEXT` is computed from nothing."""

    def __init__(self, batch: Batch, search: Search) -> None:
        self.batch, self.model, self.search = batch, batch.options.model, search
        self.problem = without_models(batch.problem)
        self.judges = dict(zip(_in_python(self.model.document), make_judges(batch, 2), strict=True))
        material = material_of(batch.problem, batch.options)
        self.largest_of_units = {
            named.name: feature.largest(material)
            for named, feature in _compiled(self.model.document)
            if feature.says_largest
        }
        # Proposals drawn, and compared; those of several phrases among these.
        self.drawn = self.compared = self.several = 0

    def run(self) -> None:
        """Look at proposals until they are enough."""
        for unit in in_order(self.problem):
            if self.enough() or self.drawn >= DRAWS:
                return
            self.enter(unit)
            self.walk()

    def enough(self) -> bool:
        """Whether what has been compared will do."""
        return self.compared >= ENOUGH and self.several >= SEVERAL

    def enter(self, unit: int) -> None:
        """Begin anew on a unit."""
        self.unit, self.row = unit, self.problem.unit[unit]
        self.state = make_state(self.problem, np.full(2, unit), np.arange(2), len(self.model.features.names))
        self.scratch = make_scratch(self.problem)
        self.records = tuple(exact(one) for one in (self.problem, self.search, self.state, self.scratch))
        self.largest = {name: float(most[unit]) for name, most in self.largest_of_units.items()}
        # Values of `NOW` from nothing, and the proposal that was taken last.
        self.before: dict[str, Any] = {}
        self.taken: str | None = None

    def walk(self) -> None:
        """Look at proposals of a unit."""
        problem, search, state, scratch = self.records
        with self.told(f"at the first translation of {self.batch.units.name(self.unit)}"):
            start_monotone(problem, search, state, scratch, NOW)
        for judge in self.judges.values():
            judge.full(self.state, np.array([NOW]))
        self.before = {named.name: self.values(named, NOW) for named in self.model.document}
        idle = 0
        for step in range(min(DRAWS_OF_UNIT, DRAWS - self.drawn)):
            if self.enough() or idle == IDLE:
                break
            _, local, first, replaced, count = draw(problem, search, state, scratch, NOW, step)
            self.drawn += 1
            several = max(replaced, count) > 1
            if first < 0 or (self.compared >= ENOUGH and not several):  # of the others there are enough
                idle += 1
                continue
            change = Change(local, int(self.row[UNIT_FIRST_SENTENCE]) + local, first, replaced, count)
            where = f"at proposal {self.compared + 1}, {self.words(change)}"
            with self.told(where):
                self.look(change, where if self.compared % 3 == 0 else None)
            idle, self.compared, self.several = 0, self.compared + 1, self.several + several
        self.check_texts()

    @contextmanager
    def told(self, where: str) -> Iterator[None]:
        """Say of every error where it is met."""
        try:
            yield
        except (Exception, SystemExit) as error:
            said = error if isinstance(error, InputError) else self.failure_of_compiled(error)
            if said is None:
                raise
            raise InputError(
                f"{said.what} {where}",
                path=said.path,
                line=said.line,
                found=said.found,
                expected=said.expected,
                hint=said.hint,
            ) from error

    def failure_of_compiled(self, error: BaseException) -> InputError | None:
        """What is said of an exception of a user's compiled feature: one whose record its frames have."""
        chain = self.chain()
        own = {id(chain[named.name]): (named, feature) for named, feature in _compiled(self.model.document)}
        for frame, _ in reversed(list(walk_tb(error.__traceback__))):
            for value in frame.f_locals.values():
                found = own.get(id(value)) or own.get(id(getattr(value, "feature", None)))
                if found is not None:
                    return _failure(*found, error)
        return None

    def look(self, change: Change, take: str | None) -> None:
        """Compare what features say of a proposal with their values before and after; `take`: where, if it is taken."""
        problem, search, state, scratch = self.records
        proposals = self.proposals(change)
        said = {named.name: self.changes(named, change, proposals, NOW) for named in self.model.document}
        self.put(change)
        self.from_nothing()
        after = {named.name: self.values(named, NEXT) for named in self.model.document}
        for named in self.model.document:
            before, then, by = self.before[named.name], after[named.name], said[named.name]
            self.check_largest(named, then)
            if not self.agree(named, by, before, then):
                raise self.contradiction(named, change, proposals, by, then)
        self.check_bounds(change, proposals, said)
        if take is not None:
            for judge in self.judges.values():
                judge.commit(self.state, proposals)
            commit(problem, search, state, scratch, NOW, change.local, *change[1:])
            self.before, self.taken = after, take

    def from_nothing(self) -> None:
        """Compute the lane `NEXT` from its phrases."""
        problem, search, state, scratch = self.records
        refresh(problem, search, state, scratch, NEXT)
        for judge in self.judges.values():
            judge.full(self.state, np.array([NEXT]))

    def values(self, named: Named, lane: int) -> Any:
        """The values of a lane, 2^-20 nat."""
        return self.state.feature[lane, slice(*self.model.features.groups[named.name])].copy()

    def changes(self, named: Named, change: Change, proposals: Proposals, lane: int) -> Any:
        """What a feature says of a proposal to a lane, of each value, 2^-20 nat."""
        if named.name in self.judges:
            judge, asked = self.judges[named.name], proposals._replace(lane=np.array([lane]))
            judge.delta(self.state, asked)
            return judge.last(asked)[0].copy()
        problem, search, state, scratch = self.records
        list_changes(problem.document, problem, state, scratch, lane, *change[1:])
        feature = self.chain()[named.name]
        return np.array([delta(feature, problem, search, state, scratch, lane, change)], np.int64)

    def agree(self, named: Named, said: Any, before: Any, after: Any, least: float = 0.0) -> bool:
        """Whether a change is the difference of two values, but for rounding where a feature is in floating point; its
        numbers are taken to be no more exact than `least`."""
        if named.name not in self.judges:
            return bool((said == after - before).all())
        share = STEPS * max(self.judges[named.name].step, least)
        most = ROUNDED + share * np.maximum(VALUE_UNITS, np.maximum(np.abs(before), np.abs(after)))
        return bool((np.abs(said - (after - before)) <= most).all())

    def is_hidden_float32(self, named: Named, said: Any, before: Any, after: Any) -> bool:
        """Whether numbers of float64 differ as little as those of float32 would."""
        step = self.judges[named.name].step if named.name in self.judges else 0.0
        return 0 < step < FLOAT32 and self.agree(named, said, before, after, HIDDEN)

    def contradiction(self, named: Named, change: Change, proposals: Proposals, said: Any, after: Any) -> InputError:
        """What is wrong with a feature: `delta`, or `commit` where `delta` is right as soon as all begins anew; `full`
        where there is no `delta`."""
        before, hint = self.before[named.name], None
        what = f"delta of feature {named.name} is not the difference of full"
        if isinstance(named.feature, BatchFeature) and not named.feature.has("delta"):
            what = f"full of feature {named.name} does not say the same twice"
        elif self.is_hidden_float32(named, said, before, after):
            hint = "what is computed in float32 is to be returned as float32"
        if self.taken is not None and _has_commit(named):
            self.state.option[NEXT], self.state.length[NEXT] = self.state.option[NOW], self.state.length[NOW]
            self.from_nothing()
            if self.agree(named, self.changes(named, change, proposals, NEXT), before, after):
                what = f"commit of feature {named.name} does not keep up what delta needs: delta is wrong"
                hint = f"commit was called last {self.taken}"
        expected = f"{_nats(after - before)}: from {_nats(before)} to {_nats(after)}"
        return InputError(what, found=_nats(said), expected=expected, hint=hint)

    def check_largest(self, named: Named, values: Any) -> None:
        """No value may be larger than a feature says."""
        most = self.largest.get(named.name)
        if most is not None and np.abs(values).max() > most * VALUE_UNITS:
            found = f"full {_nats(values)}"
            raise InputError(f"largest of feature {named.name} is not its largest value", found=most, expected=found)

    def check_bounds(self, change: Change, proposals: Proposals, said: dict[str, Any]) -> None:
        """No bound may lie below the change, and what makes the change of it must do so."""
        problem, search, state, scratch = self.records
        list_changes(problem.document, problem, state, scratch, NOW, *change[1:])
        for named in self.model.document:
            weights = self.model.features.integer_weights[slice(*self.model.features.groups[named.name])]
            exactly = int(said[named.name] @ weights)
            if named.name in self.judges:
                most = int(self.judges[named.name].bound(self.state, proposals)[0])
            else:
                feature, weight = self.chain()[named.name], int(weights[0])
                most = bound(feature, weight, problem, search, state, scratch, NOW, change)
                # Where features in Python take part, other proposals are looked at in between.
                scratch.changed.many.array[:] = 0
                off = gap(feature, weight, UNKNOWN, problem, search, state, scratch, NOW, change) + most - exactly
                if off and named.own:
                    what = f"gap of feature {named.name} is not its change less its bound"
                    hint = "one that looks at counts lists them first (list_changes)" if named.feature.counts else None
                    raise InputError(what, found=f"{off / SCORE_UNITS:g} nats more", hint=hint)
                list_changes(problem.document, problem, state, scratch, NOW, *change[1:])
            if most < exactly:
                raise InputError(
                    f"bound of feature {named.name} lies below its change",
                    found=most / SCORE_UNITS,
                    expected=f"at least {exactly / SCORE_UNITS}",
                )

    def check_texts(self) -> None:
        """What a compiled feature says of the text in plain Python is its value."""
        derivation = [self.options(local) for local in range(int(self.row[UNIT_SENTENCES]))]
        text = [text_of(self.batch, options) for options in derivation]
        terms = sum(len(sentence.phrases) + len(sentence.words) for sentence in text)
        for named, feature in _compiled(self.model.document):
            parts = [[sentence] for sentence in text] if feature.scope is Scope.SENTENCE else [text]
            said = sum(feature.value(part) for part in parts if any(sentence.phrases for sentence in part))
            value = float(self.before[named.name][0]) / VALUE_UNITS
            if abs(said - value) > (terms + 1) / VALUE_UNITS + SHARE * abs(value):
                words = " / ".join(" ".join(sentence.words) for sentence in text)
                raise InputError(
                    f"value of feature {named.name} is not what full says of {words!r}", found=said, expected=value
                )

    def options(self, local: int) -> Any:
        """The phrases of a sentence of `NOW`."""
        slots = int(self.problem.sentence[int(self.row[UNIT_FIRST_SENTENCE]) + local, SENTENCE_SLOT])
        return self.state.option[NOW, slots : slots + int(self.state.length[NOW, local])]

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
        row = self.options(change.local).tolist()
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
        before, after = (
            " ".join(word for one in row.tolist() for word in self.batch.options.target(one)) for row in rows
        )
        document, sentence = self.batch.units.place(change.sentence)
        return f"document {document + 1}, sentence {sentence + 1}, {before!r} to {after!r}"


def _failure(named: Named, feature: CompiledFeature, error: BaseException) -> InputError:
    """The exception of a compiled feature, with the function of it that has led there, if one has."""
    functions = {function.__code__: name for name, function in feature.functions().items()}
    for frame, _ in walk_tb(error.__traceback__):
        if frame.f_code in functions:
            what = f"{functions[frame.f_code]} of feature {named.name}"
            return failure(what, error, frame.f_code.co_filename)
    return failure(f"feature {named.name}", error, None)


def _has_commit(named: Named) -> bool:
    feature = named.feature
    if isinstance(feature, BatchFeature):
        return feature.has("commit")
    return isinstance(feature, CompiledFeature) and "commit" in feature.functions()


def _nats(values: Any) -> str:
    return ", ".join(f"{float(value) / VALUE_UNITS:.9g}" for value in np.atleast_1d(values))


def _compiled(document: Sequence[Named]) -> list[tuple[Named, CompiledFeature]]:
    """Users' own that are compiled."""
    return [(named, named.feature) for named in document if isinstance(named.feature, CompiledFeature)]


def _in_python(document: Sequence[Named]) -> list[str]:
    return [named.name for named in document if isinstance(named.feature, BatchFeature)]
