"""NIST (Doddington 2002): matched n-grams weighed by how much they say, as mteval-v13a computes it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from gpusearch import __version__
from gpusearch.metrics.base import References, Statistics, reference_streams

Ngram = tuple[str, ...]


class Nist:
    """NIST score of n-grams up to order 5.

    Equations 2 and 3 of the paper: ``info(w1..wn) = log2(count(w1..wn-1) / count(w1..wn))`` over all references
    (of a single word, the number of all words stands above); the score is the sum over n of the information of
    the matched n-grams (clipped by the greatest count in a reference) over the number of n-grams in the
    hypotheses, times ``exp(beta log^2 min(length / average reference length, 1))``, where beta makes the
    factor 0.5 at a length of 2/3. The tokenizer is mteval-v13a's, in sacreBLEU's form.

    A row of statistics holds 5 sums of information, 5 counts of n-grams, and the average reference length:
    float64 [N, 11].

    Args:
        lowercase: ignore case (mteval's default).
        reference_count: references a unit.
        corpus: references that the information is counted in; those of each call where None. Give it where
            statistics of parts of a corpus are to be added up.
    """

    name = "NIST"
    unit: Literal["segment", "document"] = "segment"
    higher_is_better = True
    order = 5

    def __init__(self, *, lowercase: bool = False, reference_count: int = 1, corpus: References | None = None) -> None:
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

        self._tokenize, self._lowercase, self._reference_count = Tokenizer13a(), lowercase, reference_count
        self._information = None if corpus is None else self._information_of(corpus)

    @property
    def signature(self) -> str:
        """Settings in sacreBLEU's form."""
        case = "lc" if self._lowercase else "mixed"
        return f"nrefs:{self._reference_count}|case:{case}|tok:13a|n:{self.order}|version:gpusearch-{__version__}"

    def statistics(self, hypotheses: Sequence[str], references: References) -> Statistics:
        """Statistics [N, 11]; see :class:`~gpusearch.metrics.base.Metric`."""
        streams = reference_streams(hypotheses, references, self._reference_count)
        tokenized = [[self._words(text) for text in stream] for stream in streams]
        information = self._information
        if information is None:
            information = self._weigh(words for stream in tokenized for words in stream)
        statistics = np.zeros((len(hypotheses), 2 * self.order + 1))
        for row, hypothesis, words_of_references in zip(
            statistics, hypotheses, zip(*tokenized, strict=True), strict=True
        ):
            words = self._words(hypothesis)
            most: Counter[Ngram] = Counter()
            for reference in words_of_references:
                most |= self._ngrams(reference)
            for ngram, count in (self._ngrams(words) & most).items():
                row[len(ngram) - 1] += count * information.get(ngram, 0.0)
            row[self.order : 2 * self.order] = [max(len(words) - n, 0) for n in range(self.order)]
            row[-1] = sum(map(len, words_of_references)) / self._reference_count
        return statistics

    def score(self, statistics: Statistics) -> float:
        """Score of summed statistics [11]; 0 and more, not a percentage."""
        information, counts = statistics[: self.order], statistics[self.order : 2 * self.order]
        return float((information / np.maximum(counts, 1)).sum()) * _penalty(float(counts[0]), float(statistics[-1]))

    def _information_of(self, references: References) -> dict[Ngram, float]:
        texts = (text for item in references for text in ([item] if isinstance(item, str) else item))
        return self._weigh(map(self._words, texts))

    def _weigh(self, references: Iterable[list[str]]) -> dict[Ngram, float]:
        counts: Counter[Ngram] = Counter()
        for words in references:
            counts.update(self._ngrams(words))
            counts[()] += len(words)
        return {ngram: math.log2(counts[ngram[:-1]] / count) for ngram, count in counts.items() if ngram}

    def _words(self, text: str) -> list[str]:
        return self._tokenize(text.lower() if self._lowercase else text).split()

    def _ngrams(self, words: list[str]) -> Counter[Ngram]:
        orders = (zip(*(words[start:] for start in range(n)), strict=False) for n in range(1, self.order + 1))
        return Counter(ngram for ngrams in orders for ngram in ngrams)


_BETA = math.log(0.5) / math.log(1.5) ** 2


def _penalty(length: float, reference_length: float) -> float:
    """Factor for hypotheses that are too short: 1 where they are not."""
    if length >= reference_length:
        return 1.0
    return math.exp(_BETA * math.log(length / reference_length) ** 2) if length else 0.0
