"""Sentence BLEU of all pairs, smoothed as sacreBLEU does or as Arun et al. (2010, section 4) do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import torch

from gpusearch.errors import InputError
from gpusearch.mbr.counted import GramPairs
from gpusearch.mbr.grams import words
from gpusearch.mbr.utility import Statistics

Smoothing = Literal["exp", "add-k", "floor", "none"]


@dataclass(frozen=True)
class Bleu:
    """BLEU, 0-100: ``brevity penalty * geometric mean of the n-gram precisions``.

    Args:
        smoothing: what becomes of precisions of 0: ``exp`` halves them order by order, ``add-k`` adds `value` to the
            matches and n-grams of all orders above 1, ``floor`` takes `value` as matches (Chen & Cherry 2014).
        value: of ``add-k`` and ``floor``. The paper of Arun et al. has ``add-k`` and 0.01.
        effective_order: orders that the hypothesis is too short for do not count, as sentences need it.
        tokenize: sacreBLEU's name of a tokenizer.
    """

    width: ClassVar[int] = 3
    smoothing: Smoothing = "exp"
    value: float = 0.01
    effective_order: bool = True
    tokenize: str = "13a"
    lowercase: bool = False
    orders: int = 4
    device: torch.device | str = "cpu"

    @property
    def signature(self) -> str:
        """As sacreBLEU's, with commas."""
        smooth = self.smoothing + (f"[{self.value:g}]" if self.smoothing in ("add-k", "floor") else "")
        case, effective = "lc" if self.lowercase else "mixed", "yes" if self.effective_order else "no"
        return f"BLEU,case:{case},eff:{effective},tok:{self.tokenize},smooth:{smooth}"

    @cached_property
    def _tokenizer(self) -> Any:
        from sacrebleu.metrics import BLEU

        if self.tokenize not in BLEU.TOKENIZERS:
            known = ", ".join(sorted(BLEU.TOKENIZERS))
            raise InputError("unknown tokenizer of sacreBLEU", found=repr(self.tokenize), expected=known)
        return BLEU(tokenize=self.tokenize).tokenizer

    def prepare(self, texts: Sequence[str], segment: int) -> GramPairs:
        """Tokenise the texts and count their n-grams."""
        lowered = [text.lower() for text in texts] if self.lowercase else texts
        tokens = [self._tokenizer(text.rstrip()).split() for text in lowered]
        return GramPairs([(words(tokens), self.orders)], self.device)

    def score(self, statistics: Statistics) -> torch.Tensor:
        """BLEU of statistics, sacreBLEU's within rounding."""
        totals, references, matches = statistics
        product = torch.ones((), dtype=torch.float64, device=matches.device)
        halving, effective = product, torch.zeros_like(product)
        for order in range(self.orders):
            match, total = matches[order].double(), totals[order].double()
            if self.smoothing == "add-k" and order:
                match, total = match + self.value, total + self.value
            counts = total > 0
            precision = match / total
            if self.smoothing == "exp":
                missed = (match == 0) & counts
                halving = torch.where(missed, 2 * halving, halving)
                precision = torch.where(missed, 1 / (halving * total), precision)
            elif self.smoothing == "floor":
                precision = torch.where(match == 0, self.value / total, precision)
            product = product * torch.where(counts, precision, 1.0 if self.effective_order else 0.0)
            effective = effective + counts
        mean = product ** (1 / effective.clamp_min(1) if self.effective_order else 1 / self.orders)
        length, reference = totals[0].double(), references[0].double()
        # A hypothesis of length 0 has no matches, so that its penalty counts nothing; 1 keeps it finite.
        brevity = torch.exp((1 - reference / length.clamp_min(1)).clamp_max(0))
        return torch.where(matches[0] > 0, 100 * brevity * mean, 0.0)
