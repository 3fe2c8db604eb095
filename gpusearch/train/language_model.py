"""Training a back-off language model: interpolated modified Kneser-Ney, as KenLM's lmplz estimates it.

Same n-grams, same figures, same order of the lines as lmplz (Heafield et al. 2013), without a compiler.
Probabilities and back-offs in the ARPA file are **log10**; what gpusearch computes with is their natural logarithm.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.arpa import Chunk, write_ngrams
from gpusearch.progress import SILENT, Progress, Task
from gpusearch.train.counting import engine
from gpusearch.train.kneser_ney import choose_discounts, estimate, estimate_discounts, read_model
from gpusearch.train.lmplz import run_lmplz
from gpusearch.train.ngram_counts import count_ngrams, store_ngrams
from gpusearch.train.ngram_settings import FALLBACK, Discounts, NgramSettings, settle
from gpusearch.train.ngram_text import Array, NgramText, read_vocabulary

logger = logging.getLogger(__name__)

TOOLS = ("own", "lmplz")


@dataclass(frozen=True)
class LanguageModelReport:
    """What came out of a training.

    Attributes:
        tool: who estimated it, "own" or "lmplz".
        tokens: words of the text, ends of sentences not counted.
        counts: n-grams in the model, for each order from 1.
        discounts: D1, D2, D3+ of each order.
        fallback: the orders whose discounts are the fixed ones, because the text gives none.
        seconds: wall-clock time of each stage.
    """

    tool: str
    tokens: int
    counts: tuple[int, ...]
    discounts: tuple[Discounts, ...]
    fallback: tuple[int, ...]
    seconds: dict[str, float]


def train_language_model(
    texts: Sequence[str | Path],
    order: int,
    output: str | Path,
    *,
    prune: Sequence[int] = (),
    vocabulary: str | Path | None = None,
    skip_symbols: bool = False,
    reverse: bool = False,
    discount_fallback: Discounts | None = FALLBACK,
    threads: int | None = None,
    memory: str = "3GB",
    tool: str = "own",
    progress: Progress = SILENT,
) -> LanguageModelReport:
    """Estimate a language model and write it as ARPA (log10), compressed where the name ends in .gz, .bz2 or
    .xz; ``-`` is standard output.

    The file is the same to the byte for any number of threads. Time O(T) with T the tokens of the text, and a sort
    of the n-grams; memory as given: what does not fit goes to files beside the output, about 60 bytes a token for
    order 5.

    Args:
        texts: tokenised text, a sentence a line, as `gpusearch.train.ngram_text.NgramText` reads it.
        order: words of the longest n-grams, 1 to 9.
        prune: for orders 1, 2, ...: drop n-grams that occur so often or less. The first must be 0, none may be less
            than the one before, the last serves all higher orders.
        vocabulary: file of the words that the model may have; n-grams with others are dropped.
        skip_symbols: read ``<s>``, ``</s>`` and ``<unk>`` in the text as blanks; else they are an error.
        reverse: read sentences from their last word to their first, as the feature ``reverse-lm`` does.
        discount_fallback: discounts of orders for which the text gives none; None: that is an error.
        threads: all cores where None.
        memory: what counting and estimating may use, such as "3GB" or "500MB".
        tool: "own", or "lmplz" to run KenLM's program instead.

    Raises:
        InputError: a value that cannot be used, text without a word, a special word in the text, not enough memory.
    """
    output = Path(output)
    settings = settle(order, prune, vocabulary, skip_symbols, discount_fallback, threads, memory, reverse)
    if tool not in TOOLS:
        raise InputError("unknown tool for language models", found=repr(tool), expected=" | ".join(TOOLS))
    with _scratch(output) as folder:
        train = _by_lmplz if tool == "lmplz" else _by_ourselves
        report = train(texts, output, settings, folder, progress)
    for n in report.fallback:
        discounts = " ".join(map(str, report.discounts[n - 1]))
        logger.warning("the text is too small, or too regular, for discounts of %d-grams: %s taken", n, discounts)
    return report


def _by_ourselves(
    texts: Sequence[str | Path], output: Path, settings: NgramSettings, folder: Path, progress: Progress
) -> LanguageModelReport:
    allowed = None if settings.vocabulary is None else read_vocabulary(settings.vocabulary)
    text = NgramText(texts, allowed, settings.skip_symbols, settings.reverse)
    order = settings.order
    seconds: dict[str, float] = {}
    with engine(folder, threads=settings.threads, memory=f"{settings.memory}B") as connection:
        with _timed(seconds, "read"), progress.task("read the text", None, "sentences") as task:
            store_ngrams(connection, order, _watched(text, order, task))
        if not text.tokens:
            raise InputError("no word in the text of the language model", path=text.paths[0])
        with _timed(seconds, "count"), progress.task("count n-grams"):
            counts = count_ngrams(connection, order, settings.thresholds)
        discounts = choose_discounts(counts, settings.discount_fallback)
        with _timed(seconds, "estimate"), progress.task("estimate", order, "orders") as task:
            for _ in estimate(connection, counts, discounts):
                task.advance()
        sizes = [counts[0].kept + 2, *(of_order.kept for of_order in counts[1:])]  # <unk> and <s> occur nowhere
        with _timed(seconds, "write"), progress.task("write the model", sum(sizes), "n-grams") as task:
            chunks = (_counted(read_model(connection, n), task) for n in range(1, order + 1))
            write_ngrams(output, text.vocabulary, sizes, chunks)
    fallback = tuple(n for n, of_order in enumerate(counts, 1) if estimate_discounts(of_order) is None)
    return LanguageModelReport("own", text.tokens, tuple(sizes), tuple(discounts), fallback, seconds)


def _by_lmplz(
    texts: Sequence[str | Path], output: Path, settings: NgramSettings, folder: Path, progress: Progress
) -> LanguageModelReport:
    seconds: dict[str, float] = {}
    with _timed(seconds, "lmplz"), progress.task("lmplz"):
        found = run_lmplz(texts, output, settings, folder)
    fallback = tuple(n for n, discounts in enumerate(found.discounts, 1) if discounts == settings.discount_fallback)
    return LanguageModelReport("lmplz", found.tokens, found.counts, found.discounts, fallback, seconds)


@contextmanager
def _scratch(output: Path) -> Iterator[Path]:
    """A folder for temporary files, where the output has its place too."""
    try:
        folder = tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.")
    except OSError as error:
        raise InputError(f"cannot write here ({error.strerror})", path=output.parent) from None
    with folder as name:
        yield Path(name)


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start


def _watched(text: NgramText, order: int, task: Task) -> Iterator[Array]:
    """The n-grams of the text; the task counts its sentences."""
    before = 0
    for chunk in text.ngrams(order):
        yield chunk
        task.advance(text.sentences - before)
        before = text.sentences


def _counted(chunks: Iterator[Chunk], task: Task) -> Iterator[Chunk]:
    """The same chunks; the task counts their rows."""
    for chunk in chunks:
        yield chunk
        task.advance(len(chunk.ids))
