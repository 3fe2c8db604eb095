"""What language models on the host have said so far, numbered and tabled as kernels read it.

A search asks for what it needs, when it needs it: (state, word) -> (value, state behind it). Most of its questions
come again and again, so that in the end KenLM answers one of several hundred.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels import host_tables
from gpusearch.kernels.host import EMPTY, ENTRY, KEY
from gpusearch.kernels.language_tables import index_rows_cpu
from gpusearch.kernels.records import (
    HOST_COLUMNS,
    HOST_FIRST,
    HOST_LENGTH_BITS,
    HOST_PLACES,
    LM_BEGIN,
    LM_VOCABULARY,
    Host,
    Problem,
)
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.language_model import LanguageModel

Integers = NDArray[np.int64]

# States that every model has: nothing known, and the beginning of a sentence.
_BEGIN = 1 << HOST_LENGTH_BITS | 1
_FEWEST_PLACES = 1 << 12


class HostAnswers:
    """Answers of all language models of a search that are on the host; none where all are on the device.

    Args:
        models: the language models of the search, in their order.

    Attributes:
        count: answers that are known.
    """

    def __init__(self, models: Sequence[LanguageModel]) -> None:
        self._models = {number: model for number, model in enumerate(models) if isinstance(model, HostLanguageModel)}
        self._vocabulary = [int(model.language.info[0, LM_VOCABULARY]) for model in models]
        self._info = np.zeros((len(models), HOST_COLUMNS), np.int64)
        self.forget()

    def __bool__(self) -> bool:
        """Whether any model is on the host."""
        return bool(self._models)

    @property
    def models(self) -> list[int]:
        """Numbers of the models on the host."""
        return list(self._models)

    def forget(self) -> None:
        """Forget all answers, and the numbers of all states: what lanes know of their states is void."""
        self.count = 0
        self._used = dict.fromkeys(self._models, 0)
        self._states = {number: _States(model) for number, model in self._models.items()}
        for number, model in self._models.items():
            self._info[number] = 0, _FEWEST_PLACES, model.order - 1
        self._answer = np.zeros((0, 2), np.int64)
        self._lay_out()

    def equip(self, problem: Problem) -> Problem:
        """The problem with all that is known by now; answers that follow are in a later one."""
        if not self:
            return problem
        info = problem.language.info.copy()
        info[self.models, LM_BEGIN] = _BEGIN
        return problem._replace(
            language=problem.language._replace(info=info), host=Host(self._info.copy(), self._answer)
        )

    def answer(self, questions: Integers) -> None:
        """Ask what the rows of int64[n, 3] say: model, state, word. All of a model together, equal ones once."""
        for number in np.unique(questions[:, 0]).tolist():
            _, state, word = questions[questions[:, 0] == number].T
            self._ask(number, state, word)

    def follow(self, number: int, words: NDArray[np.int32], counts: Integers) -> None:
        """Ask for all words of texts that stand one after the other, each behind the beginning of a sentence.

        Args:
            number: the model.
            words: ids.
            counts: words of each text.
        """
        order = np.argsort(-counts, kind="stable")
        counts, first = counts[order], (np.cumsum(counts) - counts)[order]
        state = np.full(len(counts), _BEGIN, np.int64)
        for position in range(int(counts.max(initial=0))):
            longer = int(np.searchsorted(-counts, -position))
            word = words[first[:longer] + position]
            state = self._behind(number, state[:longer], word.astype(np.int64))

    def _behind(self, number: int, state: Integers, word: Integers) -> Integers:
        """The states behind words; asks where they are not known."""
        key = self._key(number, state, word)
        following = np.empty_like(key)
        host_tables.follow_answers_cpu(self._part(number), key, following)
        missing = following < 0
        if missing.any():
            self._ask(number, state[missing], word[missing])
            host_tables.follow_answers_cpu(self._part(number), key, following)
        return following

    def _ask(self, number: int, state: Integers, word: Integers) -> None:
        key, chosen = np.unique(self._key(number, state, word), return_index=True)
        states = self._states[number]
        query = np.concatenate((states.words(state[chosen]), word[chosen, None].astype(np.int32)), axis=1)
        value, length = self._models[number].pool.follow(query)
        self._models[number].check_bounds(word[chosen], value)
        entry = value.astype(np.int64) << 32 | states.number(query[:, 1:], length)
        self._make_room(number, len(key))
        fresh = host_tables.put_answers_cpu(self._part(number), key, entry)
        self._used[number] += fresh
        self.count += fresh

    def _key(self, number: int, state: Integers, word: Integers) -> Integers:
        return state * self._vocabulary[number] + word

    def _part(self, number: int) -> Integers:
        first, places = self._info[number, [HOST_FIRST, HOST_PLACES]]
        return self._answer[first : first + places]

    def _make_room(self, number: int, more: int) -> None:
        """A table is half full at most."""
        if 2 * (self._used[number] + more) > self._info[number, HOST_PLACES]:
            self._info[number, HOST_PLACES] = 4 * (self._used[number] + more)
            self._lay_out()

    def _lay_out(self) -> None:
        """Put all tables into one array anew, each with as many places as `_info` says."""
        known = [part[part[:, KEY] != EMPTY] for part in (self._part(number) for number in self._models)]
        places = self._info[:, HOST_PLACES]
        self._info[:, HOST_FIRST] = np.cumsum(places) - places
        self._answer = np.zeros((int(places.sum()), 2), np.int64)
        self._answer[:, KEY] = EMPTY
        for number, rows in zip(self._models, known, strict=True):
            keys, entries = np.ascontiguousarray(rows[:, KEY]), np.ascontiguousarray(rows[:, ENTRY])
            host_tables.put_answers_cpu(self._part(number), keys, entries)


class _States:
    """States of a model: the last words of a text, as many as may matter."""

    def __init__(self, model: HostLanguageModel) -> None:
        self._reach = model.order - 1
        self._known = np.empty((0, self._reach), np.int32)
        self._table = np.empty(0, np.int32)
        self._count = 0
        self.number(np.full((1, self._reach), -1, np.int32), np.zeros(1, np.int32))
        self.number(np.full((1, self._reach), model.begin, np.int32), np.ones(1, np.int32))

    def words(self, states: Integers) -> NDArray[np.int32]:
        """int32[n, order - 1]: the words of states, -1 before them."""
        return self._known[states >> HOST_LENGTH_BITS]

    def number(self, words: NDArray[np.int32], lengths: NDArray[np.int32]) -> Integers:
        """States of texts: int32[n, order - 1] last words of each, of which the last `lengths` may matter."""
        matters = np.arange(self._reach) >= self._reach - lengths[:, None]
        rows = np.where(matters, words, np.int32(-1))
        self._make_room(len(rows))
        number = np.empty(len(rows), np.int64)
        self._count = host_tables.number_states_cpu(self._table, self._known, self._count, rows, number)
        return number << HOST_LENGTH_BITS | lengths

    def _make_room(self, more: int) -> None:
        needed = self._count + more
        if needed > len(self._known):
            known = np.empty((2 * needed, self._reach), np.int32)
            known[: self._count] = self._known[: self._count]
            self._known = known
            self._table = np.full(2 * len(known) + 1, -1, np.int32)
            index_rows_cpu(known[: self._count], self._table)
