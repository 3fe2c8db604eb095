"""Random sentence pairs with random alignments, for tests of training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from gpusearch.train.corpus import ParallelCorpus, number_words
from gpusearch.train.links import Links, make_links

Point = tuple[int, int]


@dataclass
class AlignedText:
    """Sentence pairs as lists of words, and the alignment points of each."""

    source: list[list[str]]
    target: list[list[str]]
    points: list[list[Point]]

    def corpus(self) -> ParallelCorpus:
        lines = np.arange(len(self.source))
        return ParallelCorpus(number_words(self.source), number_words(self.target), lines, len(lines), 0, 0)

    def links(self) -> Links:
        return make_links(self.points)


@st.composite
def aligned_texts(draw: st.DrawFn, max_pairs: int = 4, max_words: int = 9) -> AlignedText:
    """A few sentence pairs over few words, so that phrases recur; any alignment, empty ones included."""
    source, target, points = [], [], []
    for _ in range(draw(st.integers(1, max_pairs))):
        s = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=max_words))
        t = draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=max_words))
        every = st.tuples(st.integers(0, len(s) - 1), st.integers(0, len(t) - 1))
        source.append(s)
        target.append(t)
        points.append(sorted(draw(st.sets(every, max_size=max(len(s), len(t)) + 2))))
    return AlignedText(source, target, points)


def random_text(generator: np.random.Generator, pairs: int, words: int = 40, vocabulary: int = 12) -> AlignedText:
    """Longer sentence pairs whose alignment is roughly monotone, with gaps and jumps."""
    text = AlignedText([], [], [])
    for _ in range(pairs):
        s, t = (int(generator.integers(1, words)) for _ in range(2))
        near = [(int(i), int(min(t - 1, max(0, i * t // s + generator.integers(-2, 3))))) for i in range(s)]
        kept = [point for point in near if generator.random() < 0.7]
        text.source.append([f"s{word}" for word in generator.integers(0, vocabulary, s)])
        text.target.append([f"t{word}" for word in generator.integers(0, vocabulary, t)])
        text.points.append(sorted(set(kept)))
    return text
