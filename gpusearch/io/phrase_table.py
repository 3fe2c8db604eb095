"""Phrase tables in Moses' text form: which translations a source phrase has, and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io.columns import Layout
from gpusearch.io.compilation import Array
from gpusearch.io.compiled import Bundle, through_cache
from gpusearch.io.rows import RowReader, Rows, Scores, offsets_of, slices, warn_of_skipped
from gpusearch.io.sequences import Sequences, Vocabulary, check_ids, check_offsets

# The four columns that Moses' training writes, in its order, f the source and e the target phrase. A table may
# have any number of columns in any order: names are for people, weights go by position.
STANDARD_COLUMNS = ("p(f|e)", "lex(f|e)", "p(e|f)", "lex(e|f)")


@dataclass(frozen=True, eq=False)
class PhraseTable:
    """N phrase pairs as arrays; rows of equal sources stand together, in the order of the file.

    The arrays are read-only: they may be mapped from the compiled form.

    Attributes:
        source_vocabulary, target_vocabulary: words by id.
        sources: the P distinct source phrases, as sequences of source word ids, by first occurrence.
        row_offsets: int64[P + 1], rows of source phrase p: ``row_offsets[p] : row_offsets[p + 1]``.
        target_offsets: int64[N + 1], places of each row's target phrase in `target_words`.
        target_words: int32[*], ids in `target_vocabulary`. A target phrase may be empty.
        log_scores: float32[N, K], natural logarithms of the score columns, not below -100.
        alignment_offsets: int64[N + 1], places of each row's points in `alignment`.
        alignment: uint8[*, 2], source and target position within the phrase pair.
        columns: names of the K score columns.
    """

    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    sources: Sequences
    row_offsets: Array
    target_offsets: Array
    target_words: Array
    log_scores: Array
    alignment_offsets: Array
    alignment: Array
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        n = len(self.log_scores)
        check_offsets(self.row_offsets, n)
        check_offsets(self.target_offsets, len(self.target_words))
        check_offsets(self.alignment_offsets, len(self.alignment))
        check_ids(self.sources.data, len(self.source_vocabulary))
        check_ids(self.target_words, len(self.target_vocabulary))
        sizes = (
            len(self.row_offsets) - len(self.sources),
            len(self.target_offsets) - n,
            len(self.alignment_offsets) - n,
        )
        if sizes != (1, 1, 1) or self.log_scores.shape != (n, len(self.columns)):
            raise ValueError("columns of a phrase table differ in length")
        for array in self._arrays().values():
            array.flags.writeable = False

    def _arrays(self) -> dict[str, Array]:
        return {
            "row_offsets": self.row_offsets,
            "target_offsets": self.target_offsets,
            "target_words": self.target_words,
            "log_scores": self.log_scores,
            "alignment_offsets": self.alignment_offsets,
            "alignment": self.alignment,
        }

    def __len__(self) -> int:
        return len(self.log_scores)

    @property
    def max_source_length(self) -> int:
        """Words of the longest source phrase; 0 in an empty table."""
        return int(np.diff(self.sources.offsets).max(initial=0))

    def spans(self, words: Sequence[str], max_length: int | None = None) -> Array:
        """Rows of all spans of a sentence.

        Returns:
            int64[n, max_length, 2]: first row and the row after the last of ``words[start : start + length]`` at
            ``[start, length - 1]``; (0, 0) where the table has none. ``max_length`` is the longest source phrase
            of the table by default.
        """
        longest = self.max_source_length if max_length is None else max_length
        ids = self.source_vocabulary.find(words)
        starts = np.repeat(np.arange(len(ids)), longest)
        stops = starts + np.tile(np.arange(1, longest + 1), len(ids))
        numbers = np.full(len(starts), -1, np.int32)
        inside = stops <= len(ids)
        numbers[inside] = self.sources.find_all(ids, starts[inside], stops[inside])
        return self._rows_of(numbers).reshape(len(ids), longest, 2)

    def lookup_batch(self, phrases: Sequence[Sequence[str]]) -> Array:
        """Rows of source phrases: int64[n, 2], first row and the row after the last; (0, 0) where there are none."""
        ids = self.source_vocabulary.find([word for phrase in phrases for word in phrase])
        offsets = offsets_of(np.array([len(phrase) for phrase in phrases], np.int64))
        return self._rows_of(self.sources.find_all(ids, offsets[:-1], offsets[1:]))

    def lookup(self, words: Sequence[str]) -> tuple[int, int]:
        """First row of a source phrase and the row after its last; (0, 0) where there are none."""
        first, stop = self.lookup_batch([words])[0]
        return int(first), int(stop)

    def _rows_of(self, numbers: Array) -> Array:
        rows = np.zeros((len(numbers), 2), np.int64)
        found = numbers >= 0
        rows[found, 0] = self.row_offsets[numbers[found]]
        rows[found, 1] = self.row_offsets[numbers[found] + 1]
        return rows

    def source(self, row: int) -> list[str]:
        """Words of a row's source phrase."""
        number = int(np.searchsorted(self.row_offsets, row, side="right")) - 1
        start, stop = self.sources.offsets[number : number + 2]
        return self.source_vocabulary.decode(self.sources.data[start:stop])

    def target(self, row: int) -> list[str]:
        """Words of a row's target phrase."""
        start, stop = self.target_offsets[row : row + 2]
        return self.target_vocabulary.decode(self.target_words[start:stop])

    def points(self, row: int) -> list[tuple[int, int]]:
        """Alignment of a row: source and target position of each point."""
        start, stop = self.alignment_offsets[row : row + 2]
        return [(int(s), int(t)) for s, t in self.alignment[start:stop]]


def read_phrase_table(
    path: str | Path,
    *,
    scores: int | None = None,
    columns: Sequence[str] | None = None,
    lenient: bool = False,
    unescape: bool = False,
    cache: bool = True,
) -> PhraseTable:
    """Read a phrase table in Moses' text form: ``source ||| target ||| scores ||| alignment ||| ...``.

    Plain, .gz, .bz2 or .xz, ``-`` for standard input. Rows may stand in any order; fields after the alignment are
    not read.

    Args:
        scores: number of score columns that each row must have; by default that of the first row.
        columns: their names, instead of ``scores``. Where neither is given, four columns get the names
            `STANDARD_COLUMNS`, others are called ``score 1``, ``score 2`` and so on.
        lenient: leave out bad rows, and alignment points outside their phrase, with one warning in the log.
        unescape: turn ``&#124; &lt; &gt; &apos; &quot; &#91; &#93; &amp;`` into characters.
        cache: keep a compiled form beside the file and use it (see :mod:`gpusearch.io.compiled`).

    Raises:
        InputError: a bad row, with its line, what was found and what was expected.
    """
    if columns is not None and scores is not None and len(columns) != scores:
        raise InputError("names of score columns", found=f"{len(columns)} ({', '.join(columns)})", expected=scores)
    count = len(columns) if columns is not None else scores
    reason = f"({', '.join(columns)})" if columns is not None else "as asked for"
    wanted = None if count is None else Scores(count, reason)

    def read() -> Bundle:
        layout = Layout(key_fields=2, pair=False, alignment=True, lenient=lenient, unescape=unescape)
        return _bundle(RowReader(path, layout, wanted).read())

    def build(bundle: Bundle) -> PhraseTable:
        arrays = bundle.arrays
        warn_of_skipped(path, bundle.attributes)
        return PhraseTable(
            source_vocabulary=Vocabulary(Sequences.from_arrays(arrays, "source_vocabulary")),
            target_vocabulary=Vocabulary(Sequences.from_arrays(arrays, "target_vocabulary")),
            sources=Sequences.from_arrays(arrays, "sources"),
            row_offsets=arrays["row_offsets"],
            target_offsets=arrays["target_offsets"],
            target_words=arrays["target_words"],
            log_scores=arrays["log_scores"],
            alignment_offsets=arrays["alignment_offsets"],
            alignment=arrays["alignment"],
            columns=tuple(columns) if columns is not None else column_names(arrays["log_scores"].shape[1]),
        )

    if not cache:
        return build(read())
    options = {"scores": count, "lenient": lenient, "unescape": unescape}
    return through_cache(path, "phrase-table", options, read, build)


def column_names(count: int) -> tuple[str, ...]:
    """Names of score columns that nobody named."""
    if count == len(STANDARD_COLUMNS):
        return STANDARD_COLUMNS
    return tuple(f"score {number}" for number in range(1, count + 1))


def _bundle(rows: Rows) -> Bundle:
    """The columns with rows of equal sources together; phrases are numbered by first occurrence already."""
    target_offsets, target_words = rows.target_offsets, rows.target_words
    alignment_offsets, alignment, log_scores = rows.alignment_offsets, rows.alignment, rows.log_scores
    if (np.diff(rows.phrase) < 0).any():
        order = np.argsort(rows.phrase, kind="stable")
        log_scores = log_scores[order]
        target_words, target_offsets = _reordered(target_words, target_offsets, order)
        alignment, alignment_offsets = _reordered(alignment, alignment_offsets, order)
    arrays = {
        **rows.source.arrays("source_vocabulary"),
        **rows.target.arrays("target_vocabulary"),
        **rows.phrases.arrays("sources"),
        "row_offsets": offsets_of(np.bincount(rows.phrase, minlength=len(rows.phrases))),
        "target_offsets": target_offsets,
        "target_words": target_words,
        "log_scores": log_scores,
        "alignment_offsets": alignment_offsets,
        "alignment": alignment,
    }
    return Bundle(arrays, rows.notes())


def _reordered(values: Array, offsets: Array, order: Array) -> tuple[Array, Array]:
    lengths = np.diff(offsets)[order]
    return values[slices(offsets[:-1][order], lengths)], offsets_of(lengths)
