"""chrF and chrF++ of all pairs, as sacreBLEU has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import punctuation
from typing import ClassVar

import torch

from gpusearch.mbr.counted import GramPairs
from gpusearch.mbr.grams import characters, words
from gpusearch.mbr.utility import Statistics, reciprocal

_PUNCTUATION = frozenset(punctuation)


@dataclass(frozen=True)
class Chrf:
    """chrF, 0-100 (Popović 2015): F of the average precision and recall over the orders that both texts have.

    Args:
        word_order: orders of words that count as well; 2 is chrF++ (Popović 2017).
        beta: weight of recall.
        whitespace: blanks are characters too.
    """

    width: ClassVar[int] = 3
    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    device: torch.device | str = "cpu"

    @property
    def signature(self) -> str:
        """As sacreBLEU's, with commas."""
        case, space = "lc" if self.lowercase else "mixed", "yes" if self.whitespace else "no"
        name = f"chrF{self.beta}{'+' * self.word_order}"
        return f"{name},case:{case},eff:yes,nc:{self.char_order},nw:{self.word_order},space:{space}"

    def prepare(self, texts: Sequence[str], segment: int) -> GramPairs:
        """Count the n-grams of characters, and of words where they count."""
        lowered = [text.lower() for text in texts] if self.lowercase else list(texts)
        spaced = lowered if self.whitespace else ["".join(text.split()) for text in lowered]
        groups = [(characters(spaced), self.char_order)]
        if self.word_order:
            groups.append((words([_words(text) for text in lowered]), self.word_order))
        return GramPairs(groups, self.device, both_sides=True)

    def score(self, statistics: Statistics) -> torch.Tensor:
        """chrF of statistics, sacreBLEU's within rounding."""
        totals, references, matches = statistics
        precision = torch.zeros((), dtype=torch.float64, device=matches.device)
        recall = effective = precision
        for order in range(len(matches)):
            match = matches[order].double()
            precision = precision + match * reciprocal(totals[order])
            recall = recall + match * reciprocal(references[order])
            effective = effective + (totals[order] > 0).double() * (references[order] > 0)
        factor = self.beta**2
        return 100 * (1 + factor) * precision * recall * reciprocal((factor * precision + recall) * effective)


def _words(text: str) -> list[str]:
    """Words, with one punctuation mark taken off: the last character, else the first (so does chrF++)."""
    found: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            found += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            found += [word[0], word[1:]]
        else:
            found.append(word)
    return found
