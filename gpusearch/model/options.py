"""Translation options of a batch as people see them: words, feature values, alignment, table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusearch.errors import InputError
from gpusearch.kernels.records import OPTION_LENGTH, OPTION_START
from gpusearch.model.entries import Entries, given_values
from gpusearch.model.model import Model
from gpusearch.model.spans import Phrase
from gpusearch.model.tableless import COPIED, GIVEN, Tableless
from gpusearch.model.units import Sentence, Units
from gpusearch.model.weights import PHRASE_PENALTY, UNKNOWN_WORD, WORD_PENALTY

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Options:
    """What the options of a `Problem` stand for. Options are named by their row there, 0 .. O - 1."""

    model: Model
    units: Units
    sentences: tuple[Sentence, ...]
    """Source words of all sentences of the batch."""
    entry: NDArray[np.int32]
    """``[O]``: the entry of each option."""
    place: NDArray[np.int32]
    """``[O, 4]``: ``Problem.option_place``."""
    first_option: NDArray[np.int64]
    """``[N + 1]``: first option of each sentence of the batch."""
    first_row: NDArray[np.int64]
    """``[N]``: first row of each sentence in `span`."""
    span: NDArray[np.int32]
    """``Problem.span``."""
    longest_of: NDArray[np.int64]
    """``[N]`` source words of the longest option of each sentence: rows of `span` for each of its words."""
    entries: Entries
    tableless: Tableless

    def __len__(self) -> int:
        return len(self.entry)

    @property
    def longest(self) -> int:
        """Source words of the longest option of the batch, at least 1."""
        return int(self.longest_of.max(initial=1))

    def sentence(self, option: int) -> int:
        """The option's sentence, counted through the batch."""
        return int(np.searchsorted(self.first_option, option, side="right")) - 1

    def span_of(self, option: int) -> tuple[int, int]:
        """Source words of the option within its sentence: the first, and the one behind the last."""
        start = int(self.place[option, OPTION_START])
        return start, start + int(self.place[option, OPTION_LENGTH])

    def in_span(self, sentence: int, start: int, stop: int) -> range:
        """Options of a source span in falling order of isolated score."""
        longest = int(self.longest_of[sentence])
        if not 0 <= start < stop <= len(self.sentences[sentence]) or stop - start > longest:
            return range(0)
        row = int(self.first_row[sentence]) + start * longest + stop - start - 1
        return range(int(self.span[row]), int(self.span[row + 1]))

    def place_in_span(self, option: int) -> int:
        """Place of an option among those of its span, from 0."""
        return option - self.in_span(self.sentence(option), *self.span_of(option)).start

    def source(self, option: int) -> list[str]:
        """Source words."""
        return list(self.sentences[self.sentence(option)][slice(*self.span_of(option))])

    def target(self, option: int) -> list[str]:
        """Target words; none where the option deletes its source words."""
        table, row = self.origin(option)
        return list(self.tableless.target(table, row)) if table < 0 else self.model.tables[table].pairs.target(row)

    def origin(self, option: int) -> tuple[int, int]:
        """Number of the option's phrase table and the row there; (`COPIED` or `GIVEN`, ...) where there is none."""
        entry = self.entry[option]
        return int(self.entries.table[entry]), int(self.entries.row[entry])

    def table_name(self, option: int) -> str | None:
        """Name of the option's phrase table; None for an unknown word and a given translation."""
        table, _ = self.origin(option)
        return None if table < 0 else self.model.tables[table].name

    def alignment(self, option: int) -> list[tuple[int, int]]:
        """Word alignment within the phrase: (source position, target position), both from 0."""
        table, row = self.origin(option)
        if table < 0:
            return list(self.tableless.alignment(table, row))
        return self.model.tables[table].pairs.points(row)

    def values(self, options: ArrayLike) -> NDArray[np.float64]:
        """Feature values in nats from the tables' own numbers, not from the search's integers.

        Args:
            options: ``[n]`` options.

        Returns:
            float64 ``[n, K']`` in the order of ``model.features``.
        """
        entry = self.entry[np.asarray(options, np.int64)]
        features = self.model.features
        table, row = self.entries.table[entry], self.entries.row[entry]
        values = np.zeros((len(entry), features.option_values))
        for number, translations in enumerate(self.model.tables):
            here = table == number
            start, stop = features.groups[translations.name]
            values[here, start:stop] = translations.pairs.log_scores[row[here]]
        given = table == GIVEN
        for _, start, stop, scores in given_values(self.model, self.tableless):
            values[given, start:stop] = scores[row[given]]
        values[:, features.index(WORD_PENALTY)] = -np.diff(self.entries.first_word)[entry]
        values[:, features.index(PHRASE_PENALTY)] = 1
        values[:, features.index(UNKNOWN_WORD)] = -(table == COPIED).astype(np.float64)
        return values

    def order_scores(self, options: ArrayLike) -> list[NDArray[np.float32]]:
        """For each reordering model the log scores of options in nats: float32 ``[n, columns]``."""
        entry = self.entry[np.asarray(options, np.int64)]
        table, row = self.entries.table[entry], self.entries.row[entry]
        return [model.log_scores(table, row, self.tableless) for model in self.model.reordering]

    def content_hash(self, option: int) -> bytes:
        """16 bytes that are equal for equal options of any batch: samples made at different times merge by them.

        BLAKE2b over start, source and target words, alignment, table name and the table's numbers as float32;
        neither the limit nor the weights take part.
        """
        table, row = self.origin(option)
        start, _ = self.span_of(option)
        parts = [
            str(start),
            " ".join(self.source(option)),
            " ".join(self.target(option)),
            " ".join(f"{s}-{t}" for s, t in self.alignment(option)),
            self.table_name(option) or "",
        ]
        text = "\n".join(parts).encode()
        if table == GIVEN:
            given = self.tableless.given[row]
            numbers = np.array((given.log_score, *given.scores), "<f4").tobytes()
        else:
            numbers = b"" if table < 0 else self.model.tables[table].pairs.log_scores[row].astype("<f4").tobytes()
        return blake2b(text + b"\n" + numbers, digest_size=16).digest()

    def find(self, sentence: int, phrases: Sequence[Phrase]) -> list[int]:
        """Options of a given derivation of a sentence, in its order.

        Args:
            phrases: source words ``start .. stop - 1`` and target words of each phrase. Where several options have
                the same words, the one with the best isolated score is taken.

        Raises:
            InputError: a phrase that is no option; phrases that do not cover each source word once. Names the
                sentence.
        """
        words = self.sentences[sentence]
        spans = sorted((start, stop) for start, stop, _ in phrases)
        borders = [0, *(stop for _, stop in spans)]
        if borders[-1] != len(words) or any(
            not begin == start < stop for begin, (start, stop) in zip(borders, spans, strict=False)
        ):
            raise InputError(
                f"the phrases given for {self._name(sentence)} do not cover each source word once",
                found=" ".join(f"{start}-{stop - 1}" for start, stop, _ in phrases) or "no phrases",
                expected=f"a segmentation of {len(words)} words",
            )
        return [self._find(sentence, *phrase) for phrase in phrases]

    def _find(self, sentence: int, start: int, stop: int, target: Sequence[str]) -> int:
        wanted = list(target)
        for option in self.in_span(sentence, start, stop):
            if self.place[option, 3] == len(wanted) and self.target(option) == wanted:
                return option
        source = " ".join(self.sentences[sentence][start:stop])
        raise InputError(
            f"no translation option of {self._name(sentence)}",
            found=f"{source!r} -> {' '.join(wanted)!r} (words {start}-{stop - 1})",
            expected="a phrase pair of the tables",
            hint="was the translation made with other tables, or tokenised in another way?",
        )

    def _name(self, sentence: int) -> str:
        document, index = self.units.place(sentence)
        return f"document {document + 1}, sentence {index + 1}"
