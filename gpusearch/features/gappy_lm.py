"""A language model over selected words of a document alone, as a feature (Docent's gappy-lm)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.features.material import Material
from gpusearch.features.protocol import Room, Scope
from gpusearch.features.sequence_lm import OwnModel
from gpusearch.features.text import Document
from gpusearch.io.files import read_lines, split_blank
from gpusearch.kernels.option_sum import OptionSum
from gpusearch.kernels.records import UNIT_PLACES
from gpusearch.model.language_model import LanguageModel
from gpusearch.model.weights import VALUE_UNITS

# How many words a message names.
_EXAMPLES = 5


@dataclass(frozen=True, eq=False)
class GappyLanguageModel:
    """ln P of the selected words of a document, and how many there are.

    What stands between them is left out, so that the words before a selected word may be those of earlier sentences.
    <s> stands in front of the first, no </s> behind the last; `sentence_internal` begins anew in each sentence.
    """

    own: OwnModel
    selected: frozenset[str]
    lowercase: bool = False
    sentence_internal: bool = False
    names: ClassVar[tuple[str, ...]] = ("score", "words")
    counts: ClassVar[tuple[str, ...]] = ()

    @property
    def scope(self) -> Scope:
        """How far it looks."""
        return Scope.SENTENCE if self.sentence_internal else Scope.DOCUMENT

    def form(self, word: str) -> str:
        """A word as it is looked up."""
        return word.lower() if self.lowercase else word

    def chosen(self, words: Iterable[str]) -> list[str]:
        """The selected ones among some words, as they are looked up."""
        return [form for form in map(self.form, words) if form in self.selected]

    def records(self, room: Room) -> list[tuple[Any, ...]]:
        """See `gpusearch.features.protocol.Feature`."""
        forms = [self.form(word) for word in room.material.words]
        selected: NDArray[np.bool_] = np.array([form in self.selected for form in forms], bool)
        ids = self.own.model.index(forms)
        sequence = self.own.record(room, ids, selected, across=not self.sentence_internal)
        many = VALUE_UNITS * room.material.sums(selected.astype(np.int64))
        return [sequence, OptionSum(many.astype(np.int32))]

    def values(self, document: Document) -> list[float]:
        """See `gpusearch.features.protocol.Feature`."""
        texts = [self.chosen(sentence.words) for sentence in document]
        if not self.sentence_internal:
            texts = [[word for text in texts for word in text]]
        return [self.own.score(texts, ends=False), float(sum(map(len, texts)))]

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return np.maximum(self.own.largest(material), material.problem.unit[:, UNIT_PLACES])

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        given = "\n".join((*sorted(self.selected), repr((self.lowercase, self.sentence_internal))))
        return self.own.fingerprint() + given.encode()


def gappy_language_model(
    path: str | Path,
    words: str | Sequence[str],
    lowercase: bool = False,
    sentence_internal: bool = False,
) -> GappyLanguageModel:
    """The model of an ARPA file that was trained on selected words.

    Args:
        path: the file; its figures are log10, as always.
        words: the selected target words: a list, or a file with one a line, which is looked for beside the model.
        lowercase: target words are looked up in lower case, among the selected ones and in the model.
        sentence_internal: no word's history leaves its sentence.

    Raises:
        InputError: a file that cannot be read or is no such file, no selected word that the model has.
    """
    for name, value in (("lowercase", lowercase), ("sentence_internal", sentence_internal)):
        if not isinstance(value, bool):
            raise InputError(f"unusable {name} of gappy-lm", found=repr(value), expected="true or false")
    listed = _listed(words, Path(path).parent)
    selected = frozenset(word.lower() if lowercase else word for word in listed)
    model = LanguageModel.from_arpa(path)
    if (model.vocabulary.find(sorted(selected)) < 0).all():
        raise InputError(
            "a language model without any of the selected words",
            path=path,
            found=" ".join(sorted(selected)[:_EXAMPLES]),
            expected="words that it was trained on",
            hint=None if lowercase else "lowercase = true looks words up in lower case",
        )
    return GappyLanguageModel(OwnModel(model), selected, lowercase, sentence_internal)


def _listed(words: str | Sequence[str], folder: Path) -> Sequence[str]:
    if isinstance(words, str):
        return _read_words(folder / words)
    good = isinstance(words, Sequence) and all(isinstance(word, str) and split_blank(word) == [word] for word in words)
    if not good or not words:
        raise InputError("unusable words of gappy-lm", found=repr(words), expected="a file, or a list of words")
    return words


def _read_words(path: Path) -> list[str]:
    """Words of a file, one a line; empty lines are passed over."""
    words = []
    for number, line in enumerate(read_lines(path), start=1):
        tokens = split_blank(line)
        if len(tokens) > 1:
            raise InputError("more than a selected word", path=path, line=number, found=line, expected="a word a line")
        words += tokens
    if not words:
        raise InputError("no selected words", path=path, expected="a word a line")
    return words
