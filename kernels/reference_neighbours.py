"""The readable twin of a sweep's neighbourhood (layouts.py): all neighbours of a sentence's translation, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations, product

from gpusearch.kernels.layouts import PARTS, WORDS
from gpusearch.kernels.records import DISTORTION_LIMIT, SENTENCE_LONGEST, SENTENCE_SPAN, SENTENCE_WORDS, Problem, Search
from gpusearch.kernels.reference import Phrases, jumps, span

Span = tuple[int, int]


def options_of(problem: Problem, sentence: int, start: int, stop: int) -> Sequence[int]:
    """All options of a span."""
    longest = int(problem.sentence[sentence, SENTENCE_LONGEST])
    if stop - start > longest:
        return ()
    row = int(problem.sentence[sentence, SENTENCE_SPAN]) + start * longest + stop - start - 1
    return range(int(problem.span[row]), int(problem.span[row + 1]))


def neighbours(problem: Problem, search: Search, sentence: int, phrases: Phrases) -> Iterator[list[int]]:
    """Every neighbour that keeps to the distortion limit, each as often as it is in the neighbourhood: the translation
    itself is, too."""
    for first, last, parts in _layouts(problem, sentence, phrases):
        ways = [options_of(problem, sentence, *part) if isinstance(part, tuple) else (part,) for part in parts]
        for options in product(*ways):
            after = [*phrases[:first], *options, *phrases[last:]]
            made = jumps(problem, search, after)[first : first + len(options) + 1]
            if max(made, default=0) <= search.number[DISTORTION_LIMIT]:
                yield after


def _layouts(problem: Problem, sentence: int, phrases: Phrases) -> Iterator[tuple[int, int, list[int | Span]]]:
    """(first slot, slot behind the last, what stands there: options that stay, and open spans)."""
    count = len(phrases)
    for first in range(count):
        for last in range(first + 1, min(first + PARTS, count) + 1):
            for parts in _cuts([span(problem, option) for option in phrases[first:last]]):
                yield first, last, list(parts)
    for first, middle, last in combinations(range(count + 1), 3):
        yield first, last, [*phrases[middle:last], *phrases[first:middle]]
    for first, last in combinations(range(count), 2):
        if last > first + 1:
            yield first, last + 1, [phrases[last], *phrases[first + 1 : last], phrases[first]]
    words = int(problem.sentence[sentence, SENTENCE_WORDS])
    for start, stop in combinations(range(words + 1), 2):
        overlapped = [slot for slot in range(count) if _overlap(span(problem, phrases[slot]), (start, stop))]
        for target in sorted({overlapped[0], overlapped[-1]}):
            parts_now: list[int | Span] = []
            for slot in range(overlapped[0], overlapped[-1] + 1):
                here = span(problem, phrases[slot])
                if not _overlap(here, (start, stop)):
                    parts_now.append(phrases[slot])
                    continue
                if here[0] < start:
                    parts_now.append((here[0], start))
                if slot == target:
                    parts_now.append((start, stop))
                if here[1] > stop:
                    parts_now.append((stop, here[1]))
            yield overlapped[0], overlapped[-1] + 1, parts_now


def _cuts(spans: list[Span]) -> Iterator[tuple[Span, ...]]:
    """Ways to cut the source words of some phrases anew, in every order; none where they do not stand together."""
    start, stop = min(spans)[0], max(stop for _, stop in spans)
    words = sum(right - left for left, right in spans)
    if words != stop - start or (len(spans) > 1 and words > WORDS):
        return
    for parts in range(1, PARTS + 1 if words <= WORDS else 2):
        for borders in combinations(range(start + 1, stop), parts - 1):
            yield from permutations(list(pairwise((start, *borders, stop))))


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
