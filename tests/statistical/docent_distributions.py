"""What each operation proposes in Docent's way, and how likely: enumerated from the definitions, apart from kernels.

As in ``proposal_distributions.py``: a distribution maps the phrases of the sentence as proposed to a probability;
None is a draw that comes to nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations

from tests.random_problem import PlainOperations
from tests.statistical.proposal_distributions import Distribution, Phrases

# Sentences drawn until one has two phrases; orders drawn until one differs.
TRIES = 11


@dataclass(frozen=True)
class Sentence:
    """The source words of each option of a sentence."""

    words: int
    span: dict[int, tuple[int, int]]

    def beside(self, option: int) -> list[int]:
        """All options of an option's span, itself included."""
        return [other for other, span in self.span.items() if span == self.span[option]]

    def covers(self, words: frozenset[int]) -> Iterator[tuple[Phrases, float]]:
        """All ways to cover some words from the left, each time uniformly by an option that starts there and fits."""
        if not words:
            yield (), 1.0
            return
        fitting = [o for o, span in self.span.items() if span[0] == min(words) and words.issuperset(range(*span))]
        for option in fitting:
            for rest, remaining in self.covers(words - frozenset(range(*self.span[option]))):
                yield (option, *rest), remaining / len(fitting)


def one_more_than_geometric(decay: float, most: int) -> list[tuple[int, float]]:
    """(1 + min(G, most), probability), where G is 1 or more and goes on with probability `decay`."""
    if most == 0:
        return [(1, 1.0)]
    chances = [(1 - decay) * decay ** (k - 1) for k in range(1, most)]
    return [(1 + k, chance) for k, chance in enumerate([*chances, 1 - sum(chances)], 1)]


def blocks(decay: float, phrases: int) -> Iterator[tuple[slice, float]]:
    for length, probability in one_more_than_geometric(decay, phrases - 1):
        for first in range(phrases - length + 1):
            yield slice(first, first + length), probability / (phrases - length + 1)


def change(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for slot, present in enumerate(now):
        options = sentence.beside(present)
        for option in options:
            proposed = None if option == present else (*now[:slot], option, *now[slot + 1 :])
            result[proposed] += 1 / len(now) / len(options)
    return result


def swap(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    last = len(now) - 1
    for slot in range(len(now)):
        sides = [side for side, possible in ((-1, slot > 0), (1, slot < last)) if possible]
        for side in sides:
            room = slot if side < 0 else last - slot
            for distance, probability in one_more_than_geometric(settings.swap_decay, room - 1):
                proposed, other = list(now), slot + side * distance
                proposed[slot], proposed[other] = now[other], now[slot]
                result[tuple(proposed)] += probability / len(sides) / len(now)
    return result


def move(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for block, probability in one_more_than_geometric(settings.block_decay, len(now) - 2):
        places = len(now) - block
        for place in range(places):
            for start, room, side in ((place, places - place, 1), (place + 1, place + 1, -1)):
                chance = settings.move_right if side > 0 else 1 - settings.move_right
                for distance, far in one_more_than_geometric(settings.move_decay, room - 1):
                    rest = [*now[:start], *now[start + block :]]
                    goal = start + side * distance
                    proposed = (*rest[:goal], *now[start : start + block], *rest[goal:])
                    result[proposed] += probability * chance * far / places
    return result


def permute(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for block, probability in blocks(settings.block_decay, len(now)):
        orders = list(permutations(now[block]))
        failure = len(orders) ** -float(TRIES)
        result[None] += probability * failure
        for order in orders:
            if order != now[block]:
                proposed = (*now[: block.start], *order, *now[block.stop :])
                result[proposed] += probability * (1 - failure) / (len(orders) - 1)
    return result


def linearise(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for block, probability in blocks(settings.block_decay, len(now)):
        order = sorted(now[block], key=sentence.span.__getitem__)
        proposed = (*now[: block.start], *order, *now[block.stop :])
        result[None if proposed == now else proposed] += probability
    return result


def resegment(sentence: Sentence, now: Phrases, settings: PlainOperations) -> Distribution:
    result: Distribution = defaultdict(float)
    for block, probability in blocks(settings.block_decay, len(now)):
        words = frozenset(word for option in now[block] for word in range(*sentence.span[option]))
        for fresh, chance in sentence.covers(words):
            proposed = (*now[: block.start], *fresh, *now[block.stop :])
            result[None if proposed == now else proposed] += probability * chance
    return result


Operation = Callable[[Sentence, Phrases, PlainOperations], Distribution]
#: In the order of the kernels' numbers.
OPERATIONS: dict[str, Operation] = {
    "change": change,
    "swap": swap,
    "resegment": resegment,
    "permute": permute,
    "linearise": linearise,
    "move": move,
}
#: Those that look for a sentence of two phrases or more.
LONG = ("swap", "permute", "linearise", "move")

Outcome = tuple[str, int, Phrases] | None
"""Operation, sentence and its phrases as proposed; None: nothing was proposed."""


def single_draw(
    sentences: list[Sentence], now: list[Phrases], settings: PlainOperations, names: tuple[str, ...]
) -> dict[Outcome, float]:
    """One draw from a document: an operation by its share, a sentence in proportion to its words."""
    total = sum(settings.shares()[name] for name in names)
    words = sum(sentence.words for sentence in sentences)
    result: dict[Outcome, float] = defaultdict(float)
    for name in names:
        share = settings.shares()[name] / total
        long = [len(phrases) >= 2 or name not in LONG for phrases in now]
        short = sum(sentence.words / words for sentence, fits in zip(sentences, long, strict=True) if not fits)
        again = sum(short**n for n in range(TRIES))
        result[None] += share * short**TRIES
        for number, sentence in enumerate(sentences):
            if sentence.words and long[number]:
                for proposed, chance in OPERATIONS[name](sentence, now[number], settings).items():
                    outcome = None if proposed is None else (name, number, proposed)
                    result[outcome] += share * sentence.words / words * again * chance
    return result


def repeated(single: dict[Outcome, float], draws: int) -> dict[Outcome, float]:
    """Draws, `draws` at most, until one comes to something."""
    failure = single.get(None, 0.0)
    times = sum(failure**n for n in range(draws))
    result = {outcome: chance * times for outcome, chance in single.items() if outcome is not None}
    result[None] = failure**draws
    return result
