"""The stages of a training, each from files to files, so that memory holds one stage at a time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from gpusearch.config import TextConfig
from gpusearch.progress import Progress
from gpusearch.train.alignment import align
from gpusearch.train.corpus import ParallelCorpus, read_corpus
from gpusearch.train.counting import (
    Marginals,
    counts_of_counts,
    engine,
    marginals,
    read_pairs,
    sort_occurrences,
    store_occurrences,
)
from gpusearch.train.extract import extract
from gpusearch.train.language_model import train_language_model
from gpusearch.train.lexical import LexicalTable, count_words
from gpusearch.train.links import Links, read_links
from gpusearch.train.options import TrainOptions
from gpusearch.train.phrases import PhraseIndex, index_phrases
from gpusearch.train.score import Discounts, estimate_discounts
from gpusearch.train.significance import Containment, negative_log_p, threshold
from gpusearch.train.stages import Facts, Stages, remove
from gpusearch.train.symmetrize import grow_diag_final_and
from gpusearch.train.tables import Filter, Scorer, write_tables
from gpusearch.train.text import prepare_target, prepare_text


@dataclass(frozen=True)
class Work:
    """The way from two texts to the files of a model.

    Attributes:
        folder: where the stages leave their output.
        model: the files of the model to be.
        text: how raw text becomes tokens.
        threads, memory: see :func:`gpusearch.train.pipeline.train`.
    """

    folder: Path
    model: Path
    text: TextConfig
    options: TrainOptions
    threads: int
    memory: str
    progress: Progress

    def run(self, stages: Stages, source: Path, target: Path) -> None:
        """All stages in their order."""
        stages.run("text", lambda: self._prepare(source, target))
        stages.run("numbers", lambda: self._number(source))
        stages.run("alignment", self._align)
        stages.run("lexicon", self._count_words)
        stages.run("extraction", self._extract, discard=["links"])
        counts = stages.run("counting", self._count, discard=["counting"])
        stages.run("tables", lambda: self._write_tables(counts), discard=["sorted.parquet", "reading"])
        stages.run("language model", self._train_language_model)

    def _prepare(self, source: Path, target: Path) -> None:
        tokens = [self.folder / "tokens.source", self.folder / "tokens.target"]
        pieces = self.options.sentencepiece_size
        prepare_text([source, target], tokens, self.text, pieces=pieces, threads=self.threads, progress=self.progress)
        if self.options.lm_text:
            more = self.folder / "tokens.more"
            prepare_target(self.options.lm_text, more, self.text, threads=self.threads, progress=self.progress)

    def _number(self, source: Path) -> Facts:
        tokens = self.folder / "tokens.source", self.folder / "tokens.target"
        with self.progress.task("number the words"):
            corpus = read_corpus(*tokens, self.options.max_sentence_length, named=source)
            corpus.save(self.folder / "corpus")
        return {
            "lines": corpus.total,
            "sentence_pairs": len(corpus),
            "left_out_empty": corpus.empty,
            "left_out_long": corpus.long,
            "source_tokens": len(corpus.source.words),
            "target_tokens": len(corpus.target.words),
            "source_words": len(corpus.source.vocabulary),
            "target_words": len(corpus.target.vocabulary),
        }

    def _corpus(self) -> ParallelCorpus:
        return ParallelCorpus.load(self.folder / "corpus")

    def _align(self) -> Facts:
        corpus = self._corpus()
        if self.options.alignment is not None:
            links = read_links(self.options.alignment, corpus)
        else:
            both = align(
                corpus,
                self.folder / "corpus",
                aligner=self.options.aligner,
                seed=self.options.seed,
                threads=self.threads,
                progress=self.progress,
            )
            with self.progress.task("symmetrize"):
                links = grow_diag_final_and(corpus, *both)
        links.save(self.folder / "links")
        return {"alignment_points": len(links.points)}

    def _count_words(self) -> Facts:
        with self.progress.task("count word translations"):
            table = count_words(self._corpus(), Links.load(self.folder / "links"))
            table.save(self.folder / "lexicon")
        return {"word_pairs": len(table.target)}

    def _extract(self) -> Facts:
        corpus, links = self._corpus(), Links.load(self.folder / "links")
        remove(self.folder / "counting")  # what a cut-off attempt left
        (self.folder / "counting").mkdir()
        indexes = []
        for name, side in (("source", corpus.source), ("target", corpus.target)):
            with self.progress.task(f"index the {name} phrases"):
                place = self.folder / f"phrases.{name}"
                index = index_phrases(side, self.options.max_phrase_length, place)
                index.save(place)
                indexes.append(index)
        with (
            engine(self.folder / "counting", threads=self.threads, memory=self.memory) as connection,
            self.progress.task("extract phrases", len(corpus), "sentence pairs") as task,
        ):
            before = 0
            chunks = extract(corpus, links, *indexes, longest=self.options.max_phrase_length)
            for done in store_occurrences(connection, chunks):
                task.advance(done - before)
                before = done
            (occurrences,) = connection.execute("SELECT count(*) FROM occurrences").fetchall()[0]
        return {"occurrences": occurrences}

    def _count(self) -> Facts:
        path = self.folder / "sorted.parquet"
        smoothed = self.options.kneser_ney_phrases
        facts: Facts = {}
        with (
            engine(self.folder / "counting", threads=self.threads, memory=self.memory) as connection,
            self.progress.task("count phrases"),
        ):
            sort_occurrences(connection, path)
            for side in ("source", "target"):
                found = marginals(connection, path, side, types=smoothed)
                found.save(self.folder / f"totals.{side}")
                facts[f"{side}_phrases"] = len(found.keys)
            if smoothed:
                facts["discounts"] = asdict(estimate_discounts(counts_of_counts(connection, path)))
        return facts

    def _indexes(self) -> tuple[PhraseIndex, PhraseIndex]:
        return PhraseIndex.load(self.folder / "phrases.source"), PhraseIndex.load(self.folder / "phrases.target")

    def _write_tables(self, counts: Facts) -> Facts:
        corpus, indexes = self._corpus(), self._indexes()
        scorer = Scorer(
            corpus=corpus,
            source_index=indexes[0],
            target_index=indexes[1],
            source=Marginals.load(self.folder / "totals.source"),
            target=Marginals.load(self.folder / "totals.target"),
            lexical=LexicalTable.load(self.folder / "lexicon"),
            discounts=Discounts(**counts["discounts"]) if self.options.kneser_ney_phrases else None,
            reordering=self.options.reordering,
        )
        (self.folder / "reading").mkdir(exist_ok=True)
        with engine(self.folder / "reading", threads=self.threads, memory=self.memory) as connection:
            written = write_tables(
                scorer,
                read_pairs(connection, self.folder / "sorted.parquet"),
                self.model,
                min_count=self.options.min_count,
                significant=self._filter(corpus, *indexes),
                progress=self.progress,
            )
        return asdict(written)

    def _filter(self, corpus: ParallelCorpus, source: PhraseIndex, target: PhraseIndex) -> Filter | None:
        if self.options.significance is None:
            return None
        containment = Containment(corpus, source, target)
        least = threshold(self.options.significance, len(corpus))
        return lambda pairs: negative_log_p(containment.counts(pairs), len(corpus)) >= least

    def _train_language_model(self) -> Facts:
        names = ["tokens.target", *(["tokens.more"] if self.options.lm_text else [])]
        report = train_language_model(
            [self.folder / name for name in names],
            self.options.order,
            self.model / "lm.arpa.gz",
            skip_symbols=True,  # text may contain <s>; no reason to stop
            threads=self.threads,
            memory=self.memory,
            tool=self.options.lm_tool,
            progress=self.progress,
        )
        return {
            "tool": report.tool,
            "tokens": report.tokens,
            "ngrams": report.counts,
            "discounts": report.discounts,
            "discount_fallback": report.fallback,
        }
