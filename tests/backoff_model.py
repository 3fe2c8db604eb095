"""A back-off language model as plain dictionaries: the oracle of the language-model tests, and a writer of small ARPA
files. Values are integers in 2^-20 nat, rounded term by term as in the automaton, so that comparisons are equalities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from gpusearch.io.arpa import Arpa

Ngram = tuple[str, ...]
UNIT = 1 << 20


def units(log10: float) -> int:
    return int(np.rint(np.float64(np.float32(log10)) * math.log(10) * UNIT))


@dataclass
class BackoffModel:
    """n-gram -> (log10 probability, log10 backoff); an order for each length."""

    ngrams: dict[Ngram, tuple[float, float]]
    order: int

    @property
    def vocabulary(self) -> list[str]:
        return [ngram[0] for ngram in self.ngrams if len(ngram) == 1]

    def value(self, context: Ngram, word: str) -> int:
        """ln P(word | context): the longest n-gram there is, after the backoffs of the longer contexts there are."""
        context = context[max(0, len(context) - self.order + 1) :]
        known = (word,) if (word,) in self.ngrams else ("<unk>",)
        if (*context, *known) in self.ngrams:
            return units(self.ngrams[(*context, *known)][0])
        if not context:
            return units(-100)
        return self.backoff(context) + self.value(context[1:], word)

    def backoff(self, context: Ngram) -> int:
        return units(self.ngrams[context][1]) if context in self.ngrams and len(context) < self.order else 0

    def values(self, words: list[str], *, bos: bool, eos: bool) -> list[int]:
        text = [*(["<s>"] if bos else []), *words, *(["</s>"] if eos else [])]
        known = [word if (word,) in self.ngrams else "<unk>" for word in text]
        return [self.value(tuple(known[:place]), known[place]) for place in range(int(bos), len(known))]

    def extreme(self, known: Ngram, word: str, sign: int) -> int:
        """The extreme over every context that ends in the known words."""
        longest = self.order - 1 - len(known)
        lefts = [left for n in range(max(0, longest) + 1) for left in product(self.vocabulary, repeat=n)]
        return sign * max(sign * self.value((*left, *known), word) for left in lefts)

    def arpa(self) -> Arpa:
        vocabulary = self.vocabulary
        ids = {word: number for number, word in enumerate(vocabulary)}
        columns = []
        for n in range(1, self.order + 1):
            rows = [(ngram, figures) for ngram, figures in self.ngrams.items() if len(ngram) == n]
            columns.append(
                (
                    np.array([[ids[word] for word in ngram] for ngram, _ in rows], np.int32).reshape(-1, n),
                    np.array([figures[0] for _, figures in rows], np.float32),
                    np.array([figures[1] if n < self.order else 0 for _, figures in rows], np.float32),
                )
            )
        return Arpa(vocabulary, *(tuple(column) for column in zip(*columns, strict=True)))

    def write(self, path: Path) -> Path:
        lines = ["\\data\\"]
        groups = [[g for g in self.ngrams if len(g) == n] for n in range(1, self.order + 1)]
        lines += [f"ngram {n}={len(group)}" for n, group in enumerate(groups, 1)]
        for n, group in enumerate(groups, 1):
            lines += ["", f"\\{n}-grams:"]
            for ngram in group:
                probability, backoff = self.ngrams[ngram]
                lines.append(f"{probability:.7g}\t{' '.join(ngram)}" + (f"\t{backoff:.7g}" if n < self.order else ""))
        path.write_text("\n".join([*lines, "", "\\end\\", ""]), encoding="utf-8")
        return path


TINY = BackoffModel(
    {
        ("<unk>",): (-2.0, 0.0),
        ("<s>",): (-99.0, -0.5),
        ("</s>",): (-1.0, 0.0),
        ("a",): (-0.5, -0.25),
        ("b",): (-0.75, -0.125),
        ("<s>", "a"): (-0.2, -0.3),
        ("a", "b"): (-0.4, -0.1),
        ("b", "</s>"): (-0.3, 0.0),
        ("<s>", "a", "b"): (-0.05, 0.0),
        ("a", "b", "</s>"): (-0.15, 0.0),
    },
    3,
)

WORDS = ("a", "b", "c")


@st.composite
def backoff_models(draw: st.DrawFn, orders: tuple[int, int] = (1, 5), gaps: bool = True) -> BackoffModel:
    """Models over five or six words: positive backoffs, and (`gaps`) longer n-grams without their parts."""
    order = draw(st.integers(*orders))
    words = ["<s>", "</s>", *WORDS, *draw(st.sampled_from([["<unk>"], []]))]
    figures = st.tuples(st.integers(-400, 0), st.integers(-150, 60) | st.just(0))
    ngrams = {(word,): draw(figures) for word in draw(st.permutations(words))}
    if order > 1:
        longer = st.lists(st.sampled_from(words), min_size=2, max_size=order).map(tuple)
        ngrams |= draw(st.dictionaries(longer, figures, max_size=40))
    if not gaps:
        for ngram in sorted(ngrams, key=len, reverse=True):
            for part in (ngram[1:], ngram[:-1]):
                if part:
                    ngrams.setdefault(part, draw(figures))
    return BackoffModel({ngram: (p / 100, b / 100) for ngram, (p, b) in ngrams.items()}, order)
