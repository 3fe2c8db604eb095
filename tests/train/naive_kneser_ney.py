"""Interpolated modified Kneser-Ney by its definitions, in exact fractions: the oracle of the estimator's tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import cached_property

Ngram = tuple[str, ...]
FALLBACK = (Fraction(1, 2), Fraction(1), Fraction(3, 2))


class NaiveKneserNey:
    """A model of the sentences; n-grams are tuples of words."""

    def __init__(
        self,
        sentences: Sequence[Sequence[str]],
        order: int,
        prune: Sequence[int] = (),
        allowed: Collection[str] | None = None,
    ) -> None:
        self.order = order
        self.prune = [*prune, *[prune[-1] if prune else 0] * (order - len(prune))]
        self.allowed = allowed
        self.occurrences: Counter[Ngram] = Counter()
        for sentence in sentences:
            words = ("<s>", *sentence, "</s>")
            for n in range(1, order + 1):
                self.occurrences.update(words[i : i + n] for i in range(len(words) - n + 1))
        del self.occurrences["<s>",]
        extensions = defaultdict(set)
        for ngram in self.occurrences:
            extensions[ngram[1:]].add(ngram[0])
        self.adjusted = {
            ngram: count if len(ngram) == order or ngram[0] == "<s>" else len(extensions[ngram])
            for ngram, count in self.occurrences.items()
        }
        self.followers: dict[Ngram, list[str]] = defaultdict(list)
        for ngram in self.occurrences:
            self.followers[ngram[:-1]].append(ngram[-1])
        self.fallback = {n for n in range(1, order + 1) if self._own_discounts(n) is None}

    def kept(self, ngram: Ngram) -> bool:
        if self.occurrences[ngram] <= self.prune[len(ngram) - 1]:
            return False
        special = ("<s>", "</s>")
        return self.allowed is None or all(word in self.allowed or word in special for word in ngram)

    @cached_property
    def ngrams(self) -> set[Ngram]:
        """What stands in the ARPA file."""
        return {("<unk>",), ("<s>",), *filter(self.kept, self.occurrences)}

    @cached_property
    def vocabulary(self) -> list[str]:
        """What may come next: all words, the end and the unknown word, not the beginning."""
        return sorted(ngram[0] for ngram in self.ngrams if len(ngram) == 1 and ngram != ("<s>",))

    def discounts(self, n: int) -> tuple[Fraction, Fraction, Fraction]:
        return self._own_discounts(n) or FALLBACK

    def _own_discounts(self, n: int) -> tuple[Fraction, Fraction, Fraction] | None:
        of_count = Counter(count for ngram, count in self.adjusted.items() if len(ngram) == n)
        if not (of_count[1] and of_count[2] and of_count[3]):
            return None
        y = Fraction(of_count[1], of_count[1] + 2 * of_count[2])
        one, two, three = (i - (i + 1) * y * Fraction(of_count[i + 1], of_count[i]) for i in (1, 2, 3))
        return (one, two, three) if min(one, two, three) > 0 else None

    def _discount(self, ngram: Ngram) -> Fraction:
        return self.discounts(len(ngram))[min(self.adjusted[ngram], 3) - 1]

    def total(self, context: Ngram) -> int:
        return sum(self.adjusted[*context, word] for word in self.followers[context])

    def backoff(self, context: Ngram) -> Fraction:
        """What is left to shorter contexts; all of it where nothing follows."""
        if len(context) >= self.order or context not in self.followers:
            return Fraction(1)
        left = Fraction(0)
        for word in self.followers[context]:
            ngram = (*context, word)
            left += self._discount(ngram) if self.kept(ngram) else self.adjusted[ngram]
        return left / self.total(context)

    def probability(self, context: Ngram, word: str) -> Fraction:
        """P(word | context), with the longest context that is known and not too long."""
        context = context[max(0, len(context) - self.order + 1) :]
        while context and context not in self.followers:
            context = context[1:]
        shorter = self.probability(context[1:], word) if context else Fraction(1, len(self.vocabulary))
        ngram = (*context, word)
        if ngram in self.occurrences and self.kept(ngram):
            own = (self.adjusted[ngram] - self._discount(ngram)) / self.total(context)
            return own + self.backoff(context) * shorter
        return self.backoff(context) * shorter
