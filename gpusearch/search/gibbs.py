"""The settings of the Gibbs sampler as the integers that kernels read; and how many blocks make an iteration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import comb, factorial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.gibbs_blocks import blocks_of_word
from gpusearch.kernels.records import (
    GIBBS_BOUNDED,
    GIBBS_NUMBERS,
    GIBBS_PAIRS,
    GIBBS_RANDOM_SCAN,
    GIBBS_WINDOW,
    TEMPERATURE_BITS,
    UNIT_WORDS,
    Gibbs,
    Problem,
)

if TYPE_CHECKING:  # kernels are tried out on machines that lack what reads configurations
    from gpusearch.config.sample import SampleConfig

# Scales that kernels can hold.
LEAST_SCALE, LARGEST_SCALE = 2.0**-8, 2.0**20
# Words of a new segmentation: in every order up to ORDERED, and at most MOST_WINDOW.
ORDERED, MOST_WINDOW = 3, 8
# Ways to cover a window at most; so many options of each span take part that there are no more.
MOST_PATTERNS = 256


def make_gibbs(
    longest: int,
    scales: Sequence[float] | NDArray[np.float64],
    *,
    scan: str = "random",
    pairs: int = 6,
    window: int = MOST_WINDOW,
    most_patterns: int = MOST_PATTERNS,
    bounded: bool = True,
) -> Gibbs:
    """The record that makes a search a sampler.

    Args:
        longest: source words of the longest option.
        scales: what scores are multiplied by before they are exponentiated; of several each gets an equal share of
            the steps.
        scan: ``random`` or ``sequential``.
        pairs: how many phrases behind it in the source a phrase may be exchanged with.
        window: most source words of a new segmentation; no more than the longest option has are of use.
        most_patterns: candidates of a new segmentation; more where one option of each span makes more.
        bounded: whether the bound of the language models is used; it changes no result.
    """
    assert all(LEAST_SCALE <= scale <= LARGEST_SCALE for scale in scales), "temperatures that kernels can hold"
    window = min(window, longest, MOST_WINDOW)
    if window < 2:
        window = 0
    number = np.zeros(GIBBS_NUMBERS, np.int64)
    number[GIBBS_RANDOM_SCAN] = scan == "random"
    number[GIBBS_PAIRS] = pairs
    number[GIBBS_WINDOW] = window
    number[GIBBS_BOUNDED] = bounded
    temperature = np.array([round((1 << TEMPERATURE_BITS) / scale) for scale in scales], np.int64)
    windows = np.zeros((window + 2, 3), np.int64)
    rows: list[list[int]] = []
    for words in range(2, window + 1):
        ordered = words <= ORDERED
        options = _options(words, ordered, most_patterns)
        windows[words] = len(rows), options, ordered
        rows += list(_patterns(words, ordered, options))
        windows[words + 1, 0] = len(rows)
    pattern = np.full((max(len(rows), 1), max(window, 1)), -1, np.int32)
    for row, parts in enumerate(rows):
        pattern[row, : len(parts)] = parts
    return Gibbs(number, temperature, windows, pattern)


def sampler(settings: SampleConfig, longest: int, scales: Sequence[float] | NDArray[np.float64]) -> Gibbs:
    """`make_gibbs` by the `[sample]` group."""
    return make_gibbs(
        longest,
        scales,
        scan=settings.scan,
        pairs=settings.reorder,
        window=settings.resegment,
        most_patterns=settings.resegment_candidates,
    )


def iteration_steps(problem: Problem, gibbs: Gibbs) -> NDArray[np.int64]:
    """Block draws of an iteration of each unit, int64[U]: as many in random scan as a sequential one takes."""
    return np.asarray(problem.unit[:, UNIT_WORDS] * blocks_of_word(gibbs), np.int64)


def _options(words: int, ordered: bool, most: int) -> int:
    """How many options of each span take part."""

    def patterns(options: int) -> int:
        return sum(
            comb(words - 1, parts - 1) * (factorial(parts) if ordered else 1) * options**parts
            for parts in range(1, words + 1)
        )

    options = 1
    while patterns(options + 1) <= most:
        options += 1
    return options


def _compositions(words: int) -> Iterator[tuple[int, ...]]:
    """Ways to cut words into parts, few parts first."""

    def cut(left: int, parts: int) -> Iterator[tuple[int, ...]]:
        if parts == 1:
            yield (left,)
            return
        for first in range(1, left - parts + 2):
            for rest in cut(left - first, parts - 1):
                yield (first, *rest)

    for parts in range(1, words + 1):
        yield from cut(words, parts)


def _patterns(words: int, ordered: bool, options: int) -> Iterator[list[int]]:
    """Each way to cover so many words, as `records.Gibbs.pattern` holds it."""
    for lengths in _compositions(words):
        parts, place = [], 0
        for length in lengths:
            parts.append(place | length << 4)
            place += length
        for order in permutations(parts) if ordered else [tuple(parts)]:
            for ranks in product(range(options), repeat=len(order)):
                yield [part | rank << 8 for part, rank in zip(order, ranks, strict=True)]
