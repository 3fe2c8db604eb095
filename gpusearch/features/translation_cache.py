"""Consistency with earlier translations of the document, as a feature: a cache of the sentences before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.features.counts import Table, table_of
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.q_value import pairs_of_phrases, pairs_of_source_words, pairs_of_target_words
from gpusearch.features.text import Document
from gpusearch.kernels import translation_cache as kernels
from gpusearch.kernels.records import UNIT_FIRST_SENTENCE
from gpusearch.model.entries import offsets_of
from gpusearch.model.weights import VALUE_UNITS

Item = tuple[tuple[str, ...], tuple[str, ...]]


def words_of(document: Document) -> Iterator[Item]:
    """Target words, without a source."""
    for sentence in document:
        for word in sentence.words:
            yield (), (word,)


# What a document's items are, by the name of the table that counts them.
ITEMS: dict[str, Callable[[Document], Iterator[Item]]] = {
    "phrase-pairs": pairs_of_phrases,
    "words": words_of,
    "source-word-pairs": pairs_of_source_words,
    "target-word-pairs": pairs_of_target_words,
}


@dataclass(frozen=True)
class TranslationCache(OneValue):
    """Sum over items of c_i c_j decay^(j - i - 1), where an item occurs c_i times in sentence i, over the pairs of
    sentences i < j that are at most `window` apart (after Tiedemann 2010 and Gong et al. 2011).

    Items are those of a table of counts, such as phrase pairs; those without a target word of `letters` letters or
    more are left out, as function words are the same in any translation.
    """

    items: str = "phrase-pairs"
    window: int = 10
    decay: float = 0.8
    letters: int = 5
    scope: ClassVar[Scope] = Scope.DOCUMENT

    def __post_init__(self) -> None:
        def refuse(name: str, expected: str) -> InputError:
            return InputError(f"unusable {name} of cache", found=repr(getattr(self, name)), expected=expected)

        if self.items not in ITEMS:
            raise refuse("items", " | ".join(ITEMS))
        if type(self.window) is not int or self.window < 1:
            raise refuse("window", "a number of sentences, 1 or more")
        if type(self.decay) not in (int, float) or not 0 < self.decay <= 1:
            raise refuse("decay", "above 0, at most 1")
        if type(self.letters) is not int or self.letters < 0:
            raise refuse("letters", "a number of letters, 0 or more")

    @property
    def counts(self) -> tuple[str, ...]:
        """The table that counts the items."""
        return (self.items,)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        counts = [Counter(filter(self.matters, ITEMS[self.items]([sentence]))) for sentence in document]
        total = 0.0
        for later, here in enumerate(counts):
            for earlier in range(max(0, later - self.window), later):
                common = sum(count * counts[earlier][item] for item, count in here.items())
                total += common * self.decay ** (later - earlier - 1)
        return total

    def matters(self, item: Item) -> bool:
        """Whether an item has a target word that is long enough."""
        return max(map(len, item[1]), default=0) >= self.letters

    def record(self, room: Room) -> kernels.TranslationCache:
        """See `gpusearch.features.protocol.Feature`."""
        table = room.table[room.tables[self.items]]
        unit = np.stack((table.first_of_unit[:-1], np.diff(table.first_of_unit)), axis=1)
        begin, sentence = self._rows(room.material, table)
        longest = int(np.diff(begin[table.first_of_unit]).max(initial=0))
        number = np.array([room.tables[self.items], room.keep_counts(longest), self.window], np.int64)
        return kernels.TranslationCache(number, self._decay(), unit, begin, sentence)

    def _decay(self) -> NDArray[np.int64]:
        powers = float(self.decay) ** np.arange(self.window)
        return np.append(0, np.rint(VALUE_UNITS * powers)).astype(np.int64)

    def _rows(self, material: Material, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """``TranslationCache.begin`` and ``.sentence``: of the items that may occur in two sentences of a window."""
        option = np.repeat(np.arange(len(table.first) - 1), np.diff(table.first))
        item = table.first_of_unit[material.unit[option]] + table.item
        local = material.sentence[option] - material.problem.unit[material.unit[option], UNIT_FIRST_SENTENCE]
        stride = int(local.max(initial=0)) + 1
        long = table.letters[table.what[item]] >= self.letters
        item, local = np.divmod(np.unique((item * stride + local)[long]), stride)
        near = (np.diff(item) == 0) & (np.diff(local) <= self.window)
        matters = np.zeros(len(table.what), bool)
        matters[item[1:][near]] = True
        kept = matters[item]
        return offsets_of(np.bincount(item[kept], minlength=len(matters))), local[kept].astype(np.int32)

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`.

        What an item of a sentence is worth at most: how often derivations of the later sentences have it at most, each
        by its distance. Then the sum over the items of the sentence is one over its options.
        """
        table = table_of(material, self.items)
        option = np.repeat(np.arange(len(table.first) - 1), np.diff(table.first))
        item = table.first_of_unit[material.unit[option]] + table.item
        long = table.letters[table.what[item]] >= self.letters
        stride = len(material.problem.sentence)
        of_sentence, pair = np.unique(item[long] * stride + material.sentence[option[long]], return_inverse=True)
        # How often an option has the item of each pair of an item and a sentence.
        options = len(table.first)
        holder, count = np.unique(pair * options + option[long], return_counts=True)
        pair, option = np.divmod(holder, options)
        # Counts are whole numbers; shares may fall short of one by their rounding.
        most = np.floor(material.most_of_derivations(pair, option, count.astype(np.float64)) + 1e-6)
        worth = self._worth(*np.divmod(of_sentence, stride), most)
        has, of_option = np.unique(option, return_inverse=True)
        value = np.asarray(np.bincount(of_option, count * worth[pair], len(has)), np.float64)
        found = np.zeros(stride)
        bounds = material.most_of_derivations(material.sentence[has], has, value)
        found[: len(bounds)] = bounds
        return material.of_units(found.tolist())

    def _worth(
        self, item: NDArray[np.int64], sentence: NDArray[np.int64], most: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """What an item of a sentence is worth at most, by how often the later sentences have it at most; ``[*]``, in
        the order of items and their sentences."""
        worth = np.zeros(len(item))
        decay = self._decay() / VALUE_UNITS
        for further in range(1, min(self.window, len(item) - 1) + 1):
            distance = sentence[further:] - sentence[:-further]
            near = (item[further:] == item[:-further]) & (distance <= self.window)
            worth[:-further][near] += decay[distance[near]] * most[further:][near]
        return worth
