"""Which source spans of a batch have options, and which: every distinct span is looked up and ranked once.

A *set* is the options of a distinct span in falling order of isolated score; places with the same words share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.model.entries import Entries, best_first, make_entries, offsets_of, ranges
from gpusearch.model.special import Places, special_places
from gpusearch.model.tableless import Constraint, Tableless
from gpusearch.model.units import Sentence

if TYPE_CHECKING:
    from gpusearch.model.model import Model, TranslationTable

Array = np.ndarray[Any, Any]

Phrase = tuple[int, int, Sequence[str]]
"""A phrase of a given derivation: it covers the source words ``start .. stop - 1`` by these target words."""


@dataclass(frozen=True, eq=False)
class Spans:
    """The places of a batch where options stand, and the option sets that they share."""

    position: NDArray[np.int64]
    """``[X]``: first source word of each place, counted through the batch; sorted by (position, length)."""
    length: NDArray[np.int64]
    """``[X]``: source words."""
    set: NDArray[np.int64]
    """``[X]``: the option set."""
    first: NDArray[np.int64]
    """``[G + 1]``: first of each set in `entry`."""
    entry: NDArray[np.int64]
    """Entries of the sets, one set after the other, best first."""
    entries: Entries
    tableless: Tableless

    @property
    def options(self) -> int:
        """Number of options when every place has its own."""
        return int(np.diff(self.first)[self.set].sum())

    def longest(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """``[N]``: source words of the longest option of each sentence, at least 1; `words` says how many they have."""
        sentence = np.repeat(np.arange(len(words)), words)[self.position]
        longest = np.ones(len(words), np.int64)
        np.maximum.at(longest, sentence, self.length)
        return longest


@dataclass(frozen=True, eq=False)
class _Column:
    """What one phrase table has for the batch (or the copying of unknown words, the last column)."""

    key: Array
    """Places, as `Places` numbers them."""
    phrase: Array
    """Of each place, the distinct source phrase."""
    first_row: Array
    """Of each distinct source phrase."""
    rows: Array

    @property
    def all_rows(self) -> Array:
        return ranges(self.first_row, self.rows)


def find_spans(
    model: Model,
    sentences: Sequence[Sentence],
    forced: Mapping[int, Sequence[Phrase]] | None = None,
    constraints: Mapping[int, Sequence[Constraint]] | None = None,
) -> Spans:
    """Look up the options of all spans of a batch of sentences.

    Of each table the best `limit` rows of a span are kept, by isolated score in integers, equal ones in the order
    of the table. A position without an option of length 1 gets one that copies its word.

    Args:
        forced: by sentence, phrases whose pairs are options even where the table limit leaves them out.
        constraints: by sentence, what the input says of the translation of some of its words.

    Raises:
        InputError: a feature value out of range; names the feature.
    """
    constraints = constraints or {}
    lengths = [constraint.stop - constraint.start for several in constraints.values() for constraint in several]
    longest = max([1, *(table.pairs.max_source_length for table in model.tables), *lengths])
    first_position = offsets_of(np.array([len(sentence) for sentence in sentences], np.int64))
    places = Places(first_position, longest + 1)
    columns, copied = _look_up(model, sentences, places)
    special = special_places(sentences, places, constraints, copied)
    tableless = Tableless(tuple(copied), special.given, model.unknown)
    entries = make_entries(model, [column.all_rows for column in columns[:-1]], tableless)

    # Distinct phrases are numbered through the columns from here on, in the order of their entries.
    rows = np.concatenate([column.rows for column in columns])
    first_phrase = offsets_of(np.array([len(column.rows) for column in columns], np.int64))
    first_entry = offsets_of(rows)
    limits = np.array([*(table.limit for table in model.tables), 0])
    kept = _within_limit(entries, first_entry, np.repeat(limits, np.diff(first_phrase)))

    keys = np.unique(np.concatenate([*(column.key for column in columns), special.keys]))
    keys = keys[~special.is_excluded(keys)]
    # Column t: the phrase that the place has in table t, or -1; the last: entries that it has besides.
    member = np.full((len(keys), len(columns) + 1), -1, np.int64)
    for number, column in enumerate(columns):
        place = np.searchsorted(keys, column.key)
        here = keys[np.minimum(place, len(keys) - 1)] == column.key if len(keys) else np.zeros(len(place), bool)
        member[place[here], number] = column.phrase[here] + first_phrase[number]
    extras = _beyond_limit(model, forced or {}, places, keys, member, entries, first_entry, kept)
    first_copied = len(entries) - len(special.given) - len(copied)
    for key in special.keys.tolist():
        at = int(np.searchsorted(keys, key))
        phrases = member[at, : len(model.tables)]
        found = special.entries_of(key, model, entries, first_entry, phrases, first_copied)
        if found:
            extras[at] = tuple(sorted({*found, *special.allowed(key, model, entries, extras.get(at, ()))}))
        member[at, :-1] = -1
    member[list(extras), -1] = np.arange(len(extras))
    used_places = (member >= 0).any(axis=1)
    keys, member = keys[used_places], member[used_places]
    distinct, set_of = _distinct_rows(member)
    first, entry = _sets(entries, first_entry, kept, distinct, list(extras.values()))
    used, renumbered = np.unique(entry, return_inverse=True)
    return Spans(
        position=keys // places.stride,
        length=keys % places.stride,
        set=set_of,
        first=first,
        entry=renumbered,
        entries=entries.take(used),
        tableless=tableless,
    )


def _look_up(model: Model, sentences: Sequence[Sentence], places: Places) -> tuple[list[_Column], list[str]]:
    """The rows that each table has for each span, and the words that none has a row for."""
    words = [word for sentence in sentences for word in sentence]
    # End of the sentence that each word stands in: phrases do not reach beyond it.
    end = np.repeat(places.first_position[1:], np.diff(places.first_position))
    single = np.zeros(len(words), bool)
    columns = []
    for table in model.tables:
        longest = max(1, table.pairs.max_source_length)
        found = table.pairs.spans(words, longest)
        reach = np.arange(len(words))[:, None] + np.arange(1, longest + 1) <= end[:, None]
        position, length = np.nonzero(reach & (found[:, :, 1] > found[:, :, 0]))
        rows = found[position, length]
        single[position[length == 0]] = True
        first_row, phrase = np.unique(rows[:, 0], return_inverse=True)
        last_row = np.zeros(len(first_row), np.int64)
        last_row[phrase] = rows[:, 1]
        columns.append(_Column(places.key(position, length + 1), phrase, first_row, last_row - first_row))
    unknown = np.flatnonzero(~single)
    copied: dict[str, int] = {}
    phrase = np.array([copied.setdefault(words[i], len(copied)) for i in unknown], np.int64)
    ones = np.ones(len(copied), np.int64)
    columns.append(_Column(places.key(unknown, 1), phrase, np.arange(len(copied)), ones))
    return columns, list(copied)


def _within_limit(entries: Entries, first_entry: Array, limit: Array) -> Array:
    """bool[Q]: whether an entry is among the best `limit` (0: all) of its phrase."""
    counts = np.diff(first_entry)
    phrase = np.repeat(np.arange(len(counts)), counts)
    kept = np.ones(len(entries), bool)
    crowded = np.flatnonzero(np.repeat((limit > 0) & (counts > limit), counts))
    order = crowded[best_first(entries.score[crowded], phrase[crowded], crowded)]
    rank = ranges(np.zeros_like(counts), np.where((limit > 0) & (counts > limit), counts, 0))
    kept[order[rank >= limit[phrase[order]]]] = False
    return kept


def _beyond_limit(
    model: Model,
    forced: Mapping[int, Sequence[Phrase]],
    places: Places,
    keys: Array,
    member: Array,
    entries: Entries,
    first_entry: Array,
    kept: Array,
) -> dict[int, tuple[int, ...]]:
    """By place, the entries of forced phrases that the table limit leaves out."""
    extras: dict[int, set[int]] = {}
    for sentence, phrases in forced.items():
        first, end = places.first_position[sentence : sentence + 2].tolist()
        for start, stop, target in phrases:
            # Whoever looks for the phrases says what is wrong with such a span.
            if not 0 <= start < stop <= end - first or stop - start >= places.stride:
                continue
            key = places.key(first + start, stop - start)
            place = int(np.searchsorted(keys, key))
            if place == len(keys) or keys[place] != key:
                continue
            for table, phrase in zip(model.tables, member[place], strict=False):
                if phrase < 0:
                    continue
                every = np.arange(first_entry[phrase], first_entry[phrase + 1])
                found = _with_target(table, entries, every[~kept[every]], target)
                if found:
                    extras.setdefault(place, set()).update(found)
    return {place: tuple(sorted(extra)) for place, extra in extras.items()}


def _with_target(table: TranslationTable, entries: Entries, candidates: Array, target: Sequence[str]) -> list[int]:
    """Those of the entries (int[*]) whose target phrase is `target`; a phrase may have thousands."""
    words = table.pairs.target_vocabulary.find(list(target))
    rows = entries.row[candidates]
    begin, end = table.pairs.target_offsets[rows], table.pairs.target_offsets[rows + 1]
    same = np.flatnonzero(end - begin == len(words))
    for place, word in enumerate(words):
        same = same[table.pairs.target_words[begin[same] + place] == word]
    return candidates[same].tolist()


def _distinct_rows(member: Array) -> tuple[Array, Array]:
    """The distinct rows of a matrix, and for each row which one it is."""
    code = np.zeros(len(member), np.int64)
    for column in member.T:
        # Numbers stay below the number of rows after each column, so the product cannot overflow.
        _, code = np.unique(code * (column.max(initial=-1) + 2) + column + 1, return_inverse=True)
    _, first, code = np.unique(code, return_index=True, return_inverse=True)
    return member[first], code


def _sets(
    entries: Entries, first_entry: Array, kept: Array, distinct: Array, extras: Sequence[Sequence[int]]
) -> tuple[Array, Array]:
    """Offsets and entries of the option sets, each in falling order of score, then by table and row."""
    parts, numbers = [], []
    for column in distinct[:, :-1].T:
        has = np.flatnonzero(column >= 0)
        counts = np.diff(first_entry)[column[has]]
        entry = ranges(first_entry[column[has]], counts)
        parts.append(entry[kept[entry]])
        numbers.append(np.repeat(has, counts)[kept[entry]])
    for number in np.flatnonzero(distinct[:, -1] >= 0).tolist():
        extra = np.array(extras[distinct[number, -1]], np.int64)
        parts.append(extra)
        numbers.append(np.full(len(extra), number))
    flat, set_of = np.concatenate(parts), np.concatenate(numbers)
    order = best_first(entries.score[flat], set_of, flat)
    return offsets_of(np.bincount(set_of, minlength=len(distinct))), flat[order]
