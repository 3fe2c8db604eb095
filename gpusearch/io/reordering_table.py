"""Lexicalised reordering tables in Moses' text form: probabilities of each phrase pair's orientations."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpusearch.io.columns import SEPARATOR, Layout
from gpusearch.io.compilation import Array
from gpusearch.io.compiled import Bundle, through_cache
from gpusearch.io.phrase_table import PhraseTable
from gpusearch.io.rows import RowReader, Rows, Scores, offsets_of, slices, warn_of_skipped
from gpusearch.io.sequences import Sequences, Vocabulary, check_ids

logger = logging.getLogger(__name__)

# Rows of a phrase table that are looked up at a time, to bound the memory for their keys.
_ROWS_AT_A_TIME = 1 << 18


@dataclass(frozen=True, eq=False)
class ReorderingTable:
    """N distinct phrase pairs (or source phrases) and the K scores of each. The arrays are read-only.

    Attributes:
        source_vocabulary, target_vocabulary: words by id.
        keys: source word ids, and for pairs -1 and the target word ids behind them.
        log_scores: float32[N, K], natural logarithms, not below -100, in the order of the file: the backward
            orientations come first in Moses' bidirectional models (monotone, swap, discontinuous for msd).
        by_target: whether scores depend on the target phrase too ("fe" models; False: "f" models).
    """

    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    keys: Sequences
    log_scores: Array
    by_target: bool

    def __post_init__(self) -> None:
        if self.log_scores.ndim != 2 or len(self.log_scores) != len(self.keys):
            raise ValueError("columns of a reordering table differ in length")
        words = max(len(self.source_vocabulary), len(self.target_vocabulary))
        check_ids(self.keys.data, words, lowest=SEPARATOR)
        self.log_scores.flags.writeable = False

    def __len__(self) -> int:
        return len(self.log_scores)

    def lookup(self, source: Sequence[str], target: Sequence[str] = ()) -> int:
        """Row of a phrase pair, -1 where there is none; in a model by source alone the target is not looked at."""
        key = self.source_vocabulary.find(source)
        if self.by_target:
            key = np.concatenate([key, np.array([SEPARATOR], np.int32), self.target_vocabulary.find(target)])
        return int(self.keys.find_all(key, np.array([0]), np.array([len(key)]))[0])

    def align_to(self, table: PhraseTable) -> Array:
        """For each row of a phrase table the row of its scores here: int64[N of the table], -1 where there is none.

        Words are compared as strings. Takes about 0.5 microseconds a row.
        """
        # Words of the phrase table by our ids; one that we do not have becomes -1, which no key holds more than once.
        source = _translated(table.source_vocabulary, self.source_vocabulary)[table.sources.data]
        starts, lengths = table.sources.offsets[:-1], np.diff(table.sources.offsets)
        phrase = np.repeat(np.arange(len(lengths)), np.diff(table.row_offsets))
        if not self.by_target:
            return self.keys.find_all(source, starts, starts + lengths).astype(np.int64)[phrase]
        target = _translated(table.target_vocabulary, self.target_vocabulary)
        rows = np.empty(len(table), np.int64)
        for first in range(0, len(table), _ROWS_AT_A_TIME):
            part = slice(first, min(first + _ROWS_AT_A_TIME, len(table)))
            offsets = table.target_offsets[part.start : part.stop + 1]
            phrases, words = phrase[part], target[table.target_words[offsets[0] : offsets[-1]]]
            key_offsets = offsets_of(lengths[phrases] + 1 + np.diff(offsets))
            middle = key_offsets[:-1] + lengths[phrases]
            keys = np.full(key_offsets[-1], SEPARATOR, np.int32)
            keys[slices(key_offsets[:-1], lengths[phrases])] = source[slices(starts[phrases], lengths[phrases])]
            keys[slices(middle + 1, np.diff(offsets))] = words
            rows[part] = self.keys.find_all(keys, key_offsets[:-1], key_offsets[1:])
        return rows


def _translated(words: Vocabulary, into: Vocabulary) -> Array:
    """Ids of all words of one vocabulary in another: int32[n], -1 for what is not there."""
    offsets = words.sequences.offsets
    return into.sequences.find_all(words.sequences.data.copy(), offsets[:-1].copy(), offsets[1:].copy())


def read_reordering_table(
    path: str | Path,
    *,
    scores: int | None = None,
    by_target: bool | None = None,
    lenient: bool = False,
    unescape: bool = False,
    cache: bool = True,
) -> ReorderingTable:
    """Read a reordering table: ``source ||| target ||| probabilities``, or ``source ||| probabilities``.

    Plain, .gz, .bz2 or .xz, ``-`` for standard input; rows in any order; fields after the third are not read. Where a
    pair stands there twice, the last row counts, as in Moses, and a line in the log says so.

    Args:
        scores: number of probabilities that each row must have; by default that of the first row.
        by_target: whether rows name the target phrase; by default as the first row has it.
        lenient: leave out bad rows, with one warning in the log.
        unescape: turn Moses' escapes into characters; as for the phrase table that it goes with.
        cache: keep a compiled form beside the file and use it (see :mod:`gpusearch.io.compiled`).

    Raises:
        InputError: a bad row, with its line, what was found and what was expected.
    """
    key_fields = {None: 0, False: 1, True: 2}[by_target]
    wanted = None if scores is None else Scores(scores, "as asked for")

    def read() -> Bundle:
        layout = Layout(key_fields, pair=True, alignment=False, lenient=lenient, unescape=unescape)
        return _bundle(path, RowReader(path, layout, wanted))

    def build(bundle: Bundle) -> ReorderingTable:
        warn_of_skipped(path, bundle.attributes)
        return ReorderingTable(
            source_vocabulary=Vocabulary(Sequences.from_arrays(bundle.arrays, "source_vocabulary")),
            target_vocabulary=Vocabulary(Sequences.from_arrays(bundle.arrays, "target_vocabulary")),
            keys=Sequences.from_arrays(bundle.arrays, "keys"),
            log_scores=bundle.arrays["log_scores"],
            by_target=bool(bundle.attributes["by_target"]),
        )

    if not cache:
        return build(read())
    options = {"scores": scores, "by_target": by_target, "lenient": lenient, "unescape": unescape}
    return through_cache(path, "reordering-table", options, read, build)


def _bundle(path: str | Path, reader: RowReader) -> Bundle:
    rows: Rows = reader.read()
    log_scores = rows.log_scores
    if len(rows.phrases) < len(rows.phrase):
        logger.warning("%s: %d rows repeat an earlier one; the last counts", path, len(rows.phrase) - len(rows.phrases))
        log_scores = np.empty((len(rows.phrases), log_scores.shape[1]), np.float32)
        log_scores[rows.phrase] = rows.log_scores
    arrays = {
        **rows.source.arrays("source_vocabulary"),
        **rows.target.arrays("target_vocabulary"),
        **rows.phrases.arrays("keys"),
        "log_scores": log_scores,
    }
    return Bundle(arrays, {**rows.notes(), "by_target": reader.layout.key_fields != 1})
