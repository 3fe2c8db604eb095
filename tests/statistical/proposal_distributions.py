"""What each operation proposes, and how likely: enumerated from the definitions, apart from the kernels.

A distribution maps the phrases of the sentence as proposed (None: nothing to propose) to a probability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations

from tests.random_problem import PlainOperations

Phrases = tuple[int, ...]
Distribution = dict[Phrases | None, float]

# How often an operation looks for another place before it gives up.
TRIES = 8


@dataclass(frozen=True)
class Sentence:
    """A sentence's options: probability of each option of a span when options are drawn, and every option's span."""

    words: int
    longest: int
    options: dict[tuple[int, int], dict[int, float]]
    span: dict[int, tuple[int, int]]

    def lengths(self, start: int, stop: int) -> list[int]:
        """Lengths of phrases from a word on that have options and end by `stop`."""
        longest = min(self.longest, stop - start)
        return [length for length in range(1, longest + 1) if (start, start + length) in self.options]

    def covers(self, start: int, stop: int) -> Iterator[tuple[Phrases, float]]:
        """All ways to cover some words from left to right: a length uniformly, then an option by its weight."""
        if start == stop:
            yield (), 1.0
            return
        lengths = self.lengths(start, stop)
        for length in lengths:
            for option, probability in self.options[(start, start + length)].items():
                for rest, remaining in self.covers(start + length, stop):
                    yield (option, *rest), probability * remaining / len(lengths)


def geometric(decay: float, most: int) -> list[tuple[int, float]]:
    """(k, probability) for k = 1 .. most, in proportion to decay^(k - 1)."""
    powers = [decay ** (k - 1) for k in range(1, most + 1)]
    return [(k, power / sum(powers)) for k, power in enumerate(powers, 1)]


def blocks(decay: float, phrases: int, least: int = 1) -> Iterator[tuple[slice, float]]:
    """A block of `least` phrases or more, its length geometric from there on, its place uniform."""
    for extra, probability in geometric(decay, phrases - least + 1):
        length = extra + least - 1
        for first in range(phrases - length + 1):
            yield slice(first, first + length), probability / (phrases - length + 1)


def retried(single: Distribution) -> Distribution:
    """An operation that tries again, `TRIES` times in all, while it finds nothing."""
    failure = single.pop(None, 0.0)
    times = sum(failure**n for n in range(TRIES))
    result: Distribution = {outcome: probability * times for outcome, probability in single.items()}
    result[None] = failure**TRIES
    return result


def change(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for slot, option in enumerate(now):
        others = {o: p for o, p in sentence.options[sentence.span[option]].items() if o != option}
        if not others:
            result[None] += 1 / len(now)
        for other, probability in others.items():
            proposed = (*now[:slot], other, *now[slot + 1 :])
            result[proposed] += probability / sum(others.values()) / len(now)
    return retried(result)


def swap(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    if len(now) < 2:
        return {None: 1.0}
    result: Distribution = defaultdict(float)
    for distance, probability in geometric(settings.swap_decay, len(now) - 1):
        for first in range(len(now) - distance):
            proposed = list(now)
            proposed[first], proposed[first + distance] = now[first + distance], now[first]
            result[tuple(proposed)] += probability / (len(now) - distance)
    return result


def move(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    if len(now) < 2:
        return {None: 1.0}
    result: Distribution = defaultdict(float)
    for block, probability in geometric(settings.block_decay, len(now) - 1):
        for distance, far in geometric(settings.move_decay, len(now) - block):
            for to_the_right, side in ((True, settings.move_right), (False, 1 - settings.move_right)):
                left = block if to_the_right else distance
                places = len(now) - block - distance + 1
                for first in range(places):
                    middle, last = first + left, first + block + distance
                    proposed = (*now[:first], *now[middle:last], *now[first:middle], *now[last:])
                    result[proposed] += probability * far * side / places
    return result


def permute(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    if len(now) < 2:
        return {None: 1.0}
    result: Distribution = defaultdict(float)
    for block, probability in blocks(settings.block_decay, len(now), least=2):
        orders = [order for order in permutations(now[block]) if order != now[block]]
        for order in orders:
            result[(*now[: block.start], *order, *now[block.stop :])] += probability / len(orders)
    return result


def linearise(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    if len(now) < 2:
        return {None: 1.0}
    result: Distribution = defaultdict(float)
    for block, probability in blocks(settings.block_decay, len(now), least=2):
        order = tuple(sorted(now[block], key=sentence.span.__getitem__))
        proposed = (*now[: block.start], *order, *now[block.stop :])
        result[None if proposed == now else proposed] += probability
    return retried(result)


def resegment(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for block, probability in blocks(settings.block_decay, len(now)):
        spans = sorted(sentence.span[option] for option in now[block])
        if any(stop != start for (_, stop), (start, _) in pairwise(spans)):
            result[None] += probability
            continue
        for fresh, chance in sentence.covers(spans[0][0], spans[-1][1]):
            for order, part in neighbours_exchanged(fresh, settings.resegment_swap):
                proposed = (*now[: block.start], *order, *now[block.stop :])
                result[None if proposed == now else proposed] += probability * chance * part
    return retried(result)


def neighbours_exchanged(phrases: Phrases, probability: float) -> Iterator[tuple[Phrases, float]]:
    """The phrases as they are, or with two neighbours exchanged."""
    pairs = len(phrases) - 1
    yield phrases, 1 - probability if pairs else 1.0
    for k in range(pairs):
        yield (*phrases[:k], phrases[k + 1], phrases[k], *phrases[k + 2 :]), probability / pairs


def insertion(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for start in range(sentence.words):
        lengths = sentence.lengths(start, sentence.words)
        for length in lengths:
            stop = start + length
            for option, probability in sentence.options[(start, stop)].items():
                for proposed, chance in put_in(sentence, now, option, start, stop):
                    outcome = None if proposed == now else proposed
                    result[outcome] += probability * chance / len(lengths) / sentence.words
    return retried(result)


def put_in(sentence: Sentence, now: Phrases, option: int, start: int, stop: int) -> Iterator[tuple[Phrases, float]]:
    """An option takes the place of the first phrase that it overlaps; what is left of those is covered anew there."""
    rows: list[tuple[Phrases, float]] = [((), 1.0)]
    placed = False
    for present in now:
        left, right = sentence.span[present]
        if right <= start or left >= stop:
            pieces = [((present,), 1.0)]
        else:
            middle = () if placed else (option,)
            placed = True
            pieces = [
                ((*before, *middle, *behind), p * q)
                for before, p in sentence.covers(left, max(left, start))
                for behind, q in sentence.covers(min(right, stop), right)
            ]
        rows = [((*row, *piece), p * q) for row, p in rows for piece, q in pieces]
    yield from rows


def split_and_swap(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for slot, option in enumerate(now):
        start, stop = sentence.span[option]
        if stop - start == 1:
            result[None] += 1 / len(now)
        for border in range(start + 1, stop):
            probability = 1 / len(now) / (stop - start - 1)
            first, second = sentence.options.get((start, border), {}), sentence.options.get((border, stop), {})
            if not first or not second:
                result[None] += probability
                continue
            for one, p in first.items():
                for other, q in second.items():
                    result[(*now[:slot], other, one, *now[slot + 1 :])] += probability * p * q
    return retried(result)


#: In the order of the kernels' numbers.
OPERATIONS: dict[str, Callable[[Sentence, Phrases, PlainOperations], Distribution]] = {
    "change": change,
    "swap": swap,
    "resegment": resegment,
    "permute": permute,
    "linearise": linearise,
    "move": move,
    "insertion": insertion,
    "split_and_swap": split_and_swap,
}
