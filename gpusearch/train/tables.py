"""The phrase and the reordering table, from sorted occurrences to compressed text, a few million rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from gpusearch.io.files import replaced
from gpusearch.progress import SILENT, Progress
from gpusearch.train.corpus import Array, ParallelCorpus
from gpusearch.train.counting import Marginals, Pairs
from gpusearch.train.lexical import LexicalTable, lexical_weights
from gpusearch.train.phrases import PhraseIndex, key_place
from gpusearch.train.reordering import orientation_probabilities
from gpusearch.train.rows import PhraseText, table_rows, writable_pairs
from gpusearch.train.score import Discounts, phrase_probabilities

#: Which pairs to keep, bool[N].
Filter = Callable[[Pairs], Array]


@dataclass(frozen=True, eq=False)
class Scorer:
    """What a phrase pair is scored by.

    Attributes:
        corpus, source_index, target_index: the text, and where its phrases stand.
        source, target: marginal counts.
        lexical: word translation probabilities.
        discounts: for Kneser-Ney smoothing; None for relative frequencies.
        reordering: orientation model, or None for no reordering table.
    """

    corpus: ParallelCorpus
    source_index: PhraseIndex
    target_index: PhraseIndex
    source: Marginals
    target: Marginals
    lexical: LexicalTable
    discounts: Discounts | None
    reordering: str | None

    def phrase_scores(self, pairs: Pairs) -> tuple[Array, Array]:
        """float64[N, 4]: p(f|e), lex(f|e), p(e|f), lex(e|f); int64[N, 3]: occurrences of target, source, pair."""
        source, target = self.source.take(pairs.source), self.target.take(pairs.target)
        inverse, direct = phrase_probabilities(pairs.occurrences, source, target, self.discounts)
        places, lengths = self.places(pairs)
        words = self.corpus.source.words, self.corpus.target.words
        lexical = lexical_weights(self.lexical, *words, places, lengths, pairs.alignment)
        scores = np.stack([inverse, lexical[:, 0], direct, lexical[:, 1]], axis=1)
        return scores, np.stack([target.total, source.total, pairs.occurrences], axis=1)

    def places(self, pairs: Pairs) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Where the source and the target phrase of each pair stand in the text, and their lengths."""
        source, target = key_place(self.source_index, pairs.source), key_place(self.target_index, pairs.target)
        return (source[0], target[0]), (source[1], target[1])


@dataclass
class Written:
    """What went into the tables.

    Attributes:
        pairs: distinct phrase pairs that were extracted.
        rows: rows of each table.
        rare, insignificant, unwritable: pairs left out for their count, by the test, and because of a word with
            `|||` in it.
    """

    pairs: int = 0
    rows: int = 0
    rare: int = 0
    insignificant: int = 0
    unwritable: int = 0


def write_tables(
    scorer: Scorer,
    chunks: Iterable[Pairs],
    folder: Path,
    *,
    min_count: int = 1,
    significant: Filter | None = None,
    progress: Progress = SILENT,
) -> Written:
    """Write `phrase-table.gz` and, where the scorer has a model of it, `reordering-table.gz`."""
    source, target = PhraseText(scorer.corpus.source), PhraseText(scorer.corpus.target)
    written = Written()
    with ExitStack() as stack:
        phrase_file = _Writer(stack, folder / "phrase-table.gz")
        reordering_file = _Writer(stack, folder / "reordering-table.gz") if scorer.reordering else None
        task = stack.enter_context(progress.task("write tables", None, "phrase pairs"))
        for chunk in chunks:
            task.advance(len(chunk.source))
            pairs = _kept(chunk, min_count, significant, written)
            places, lengths = scorer.places(pairs)
            writable = writable_pairs(source, target, places, lengths)
            if not writable.all():
                written.unwritable += int(np.count_nonzero(~writable))
                pairs = _select(pairs, writable)
                places, lengths = scorer.places(pairs)
            written.rows += len(pairs.source)
            scores, counts = scorer.phrase_scores(pairs)
            phrase_file.write(table_rows(source, target, places, lengths, scores, pairs.alignment, counts))
            if reordering_file and scorer.reordering:
                steps = orientation_probabilities(pairs.orientation, scorer.reordering)
                reordering_file.write(table_rows(source, target, places, lengths, steps))
    return written


def _kept(chunk: Pairs, min_count: int, significant: Filter | None, written: Written) -> Pairs:
    """The pairs that are frequent and significant enough; the others are counted."""
    written.pairs += len(chunk.source)
    pairs = _select(chunk, chunk.occurrences >= min_count)
    written.rare += len(chunk.source) - len(pairs.source)
    if significant is None:
        return pairs
    kept = _select(pairs, significant(pairs))
    written.insignificant += len(pairs.source) - len(kept.source)
    return kept


def _select(pairs: Pairs, kept: Array) -> Pairs:
    return pairs if kept.all() else Pairs(*(column[kept] for column in pairs))


class _Writer:
    """Formats and compresses in a thread of its own, one chunk at a time."""

    def __init__(self, stack: ExitStack, path: Path) -> None:
        self._file: IO[bytes] = stack.enter_context(replaced(path))
        self._pool = stack.enter_context(ThreadPoolExecutor(1))
        self._pending: Future[None] | None = None
        stack.push(self._finish)

    def write(self, blocks: Iterator[bytes]) -> None:
        """Wait for the chunk before, and begin with this one."""
        if self._pending is not None:
            self._pending.result()
        self._pending = self._pool.submit(self._file.writelines, blocks)

    def _finish(self, failure: type[BaseException] | None, *_: object) -> None:
        if self._pending is not None and failure is None:
            self._pending.result()
