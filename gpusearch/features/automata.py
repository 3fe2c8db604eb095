"""Automata that find n-grams in translations, made from lists of patterns (Aho and Corasick 1975)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.features.protocol import Room
from gpusearch.kernels import ngrams as kernels
from gpusearch.kernels.clipped import CLIPPED_NUMBERS, ITEM_COUNTS, MOST_ENDS, Clipped, places_for
from gpusearch.kernels.language_model import MULTIPLIER
from gpusearch.kernels.ngrams import COUNTED, NGRAM_NUMBERS, NGrams
from gpusearch.kernels.records import UNIT_PLACES
from gpusearch.model.entries import offsets_of

Words = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Automata:
    """One automaton for each different list of patterns, states one after the other."""

    ngrams: NGrams
    ends: list[list[int]]
    """Of each state the patterns that end in it, longest first, by their numbers in their list."""
    list_of: list[int]
    """Of each state the list of its patterns."""


def make_automata(
    room: Room,
    of_sentence: Sequence[int],
    patterns: Sequence[Sequence[Words]],
    fold: Callable[[str], str] = lambda word: word,
) -> Automata:
    """Automata of the sentences of a problem.

    Args:
        of_sentence: ``[N]`` the list of each sentence.
        patterns: lists of different patterns, none of them empty.
        fold: what is compared of a target word.
    """
    material = room.material
    folded = [fold(word) for word in material.words]
    possible, wanted = set(folded), {word for several in patterns for pattern in several for word in pattern}
    kinds = {word: number for number, word in enumerate(sorted(possible & wanted))}
    roots, suffixes, list_of, keys, nexts = (list[int]() for _ in range(5))
    ends = list[list[int]]()
    for number, several in enumerate(patterns):
        first = len(suffixes)
        edges, suffix, ending = _automaton(several, kinds)
        roots.append(first)
        suffixes += [first + state for state in suffix]
        ends += ending
        list_of += [number] * len(suffix)
        for state, following in enumerate(edges):
            keys += [(first + state) * len(kinds) + kind for kind in following]
            nexts += [first + reached for reached in following.values()]
    places = int(material.problem.unit[:, UNIT_PLACES].max(initial=1))
    row = np.zeros(NGRAM_NUMBERS, np.int64)
    row[kernels.CODES], row[kernels.STATES] = room.keep_counts(places), room.keep_counts(places)
    row[kernels.MOST_WORDS], row[kernels.KINDS] = max(1, material.longest_sentence), len(kinds)
    room.need_work(COUNTED + 2 * int(row[kernels.MOST_WORDS]))
    of_word = np.array([kinds.get(word, -1) for word in folded], np.int32)
    ngrams = NGrams(
        number=row,
        code=of_word[material.word],
        root=np.array(roots, np.int32)[np.array(of_sentence, np.int64)],
        suffix=np.array(suffixes, np.int32),
        edge=_edges(np.array(keys, np.int64), np.array(nexts, np.int64)),
    )
    return Automata(ngrams, ends, list_of)


def _automaton(
    patterns: Sequence[Words], kinds: dict[str, int]
) -> tuple[list[dict[int, int]], list[int], list[list[int]]]:
    """Of each state, 0 the root: its edges; the state of its longest proper end; the patterns that end in it.

    Patterns with a word that has no number are left out.
    """
    edges: list[dict[int, int]] = [{}]
    ends: list[list[int]] = [[]]
    for number, pattern in enumerate(patterns):
        codes = [kinds.get(word, -1) for word in pattern]
        if min(codes) < 0:
            continue
        state = 0
        for code in codes:
            if code not in edges[state]:
                edges[state][code] = len(edges)
                edges.append({})
                ends.append([])
            state = edges[state][code]
        ends[state].append(number)
    suffix = [0] * len(edges)
    level = list(edges[0].values())
    while level:  # shorter ones first
        for state in level:
            for code, following in edges[state].items():
                shorter = suffix[state]
                while code not in edges[shorter] and shorter:
                    shorter = suffix[shorter]
                suffix[following] = edges[shorter].get(code, 0)
                ends[following] += ends[suffix[following]]
        level = [following for state in level for following in edges[state].values()]
    return edges, suffix, ends


def _edges(keys: NDArray[np.int64], nexts: NDArray[np.int64]) -> NDArray[np.int64]:
    """``NGrams.edge``, at most half full."""
    places = 2
    while places < 2 * len(keys):
        places *= 2
    table = np.full((places, 2), -1, np.int64)
    hashed = keys.astype(np.uint64) * np.uint64(MULTIPLIER) >> np.uint64(32)
    place = (hashed & np.uint64(places - 1)).astype(np.int64)
    left = np.arange(len(keys))
    while len(left):
        free = left[table[place[left], 0] < 0]
        taken = free[np.unique(place[free], return_index=True)[1]]
        table[place[taken]] = np.stack((keys[taken], nexts[taken]), axis=1)
        left = np.setdiff1d(left, taken, assume_unique=True)
        place[left] = (place[left] + 1) & (places - 1)
    return table


@dataclass(frozen=True)
class Items:
    """What is counted in a sentence."""

    patterns: Sequence[Words]
    item: Sequence[int]
    """Of each pattern the item that it counts as."""
    limits: Sequence[int]
    """Of each item how often it counts at most."""
    groups: Sequence[int]
    """Of each item its group."""


def make_clipped(
    room: Room, of_sentence: Sequence[int], items: Sequence[Items], fold: Callable[[str], str] = lambda word: word
) -> Clipped:
    """Clipped counts of the sentences of a problem.

    Args:
        of_sentence: ``[N]`` which of `items` each sentence has.
        items: different ones.
        fold: what is compared of a target word.
    """
    automata = make_automata(room, of_sentence, [one.patterns for one in items], fold)
    end = [
        list(dict.fromkeys(items[number].item[pattern] for pattern in ending))
        for number, ending in zip(automata.list_of, automata.ends, strict=True)
    ]
    many = np.array([len(one.limits) for one in items], np.int64)[np.array(of_sentence, np.int64)]
    first = offsets_of(np.array([len(one.limits) for one in items], np.int64))
    columns, most = room.material.columns(many)
    number = np.zeros(CLIPPED_NUMBERS, np.int64)
    number[ITEM_COUNTS] = room.keep_counts(most)
    number[MOST_ENDS] = max((len(ending) for ending in end), default=0)
    words = int(automata.ngrams.number[kernels.MOST_WORDS])
    changed = min(int(many.max(initial=0)), 2 * words * int(number[MOST_ENDS]))
    room.need_work(COUNTED + 2 * words + 2 * places_for(changed))
    rows = [pair for one in items for pair in zip(one.limits, one.groups, strict=True)]
    return Clipped(
        ngrams=automata.ngrams,
        number=number,
        sentence=np.stack((first[:-1][np.array(of_sentence, np.int64)], many, columns), axis=1),
        item=_array(rows).reshape(-1, 2),
        first=offsets_of(np.array([len(ending) for ending in end], np.int64)).astype(np.int32),
        end=_array([item for ending in end for item in ending]),
    )


def _array(numbers: Sequence[Any]) -> NDArray[np.int32]:
    return np.array(numbers, np.int32)
