"""How a language model is to be estimated: what the user asks for, checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpusearch.cores import usable_cores
from gpusearch.errors import InputError
from gpusearch.io.arpa import MAX_ORDER

#: D(1), D(2), D(3 or more): what is taken off a count of 1, 2, or more.
Discounts = tuple[float, float, float]

#: Where a text is too small or too strange to have discounts of its own; lmplz has the same.
FALLBACK: Discounts = (0.5, 1.0, 1.5)

_MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B", re.IGNORECASE)


@dataclass(frozen=True)
class NgramSettings:
    """Settings of an estimation; see :func:`gpusearch.train.language_model.train_language_model`.

    Attributes:
        thresholds: for each order from 1; n-grams that occur that often or less are dropped.
        memory: bytes.
        reverse: sentences are read from their last word to their first.
    """

    thresholds: tuple[int, ...]
    vocabulary: Path | None
    skip_symbols: bool
    discount_fallback: Discounts | None
    threads: int
    memory: int
    reverse: bool = False

    @property
    def order(self) -> int:
        """Words of the longest n-grams."""
        return len(self.thresholds)


def settle(
    order: int,
    prune: Sequence[int],
    vocabulary: str | Path | None,
    skip_symbols: bool,
    discount_fallback: Discounts | None,
    threads: int | None,
    memory: str,
    reverse: bool = False,
) -> NgramSettings:
    """Check what the user asks for, and fill in what is left to us.

    Raises:
        InputError: a value that cannot be used.
    """
    return NgramSettings(
        _thresholds(prune, order),
        None if vocabulary is None else Path(vocabulary),
        skip_symbols,
        discount_fallback,
        threads or usable_cores(),
        _bytes_of(memory),
        reverse,
    )


def _thresholds(prune: Sequence[int], order: int) -> tuple[int, ...]:
    if not 1 <= order <= MAX_ORDER:
        raise InputError("unusable order of a language model", found=order, expected=f"1 to {MAX_ORDER}")
    shown = repr(" ".join(map(str, prune)))
    if len(prune) > order:
        raise InputError("too many pruning thresholds", found=shown, expected=f"{order} at most, one for each order")
    if prune and (prune[0] != 0 or sorted(prune) != list(prune)):
        expected = "0 for single words, and none below the one before it"
        raise InputError("unusable pruning thresholds", found=shown, expected=expected)
    return (*prune, *((prune[-1] if prune else 0,) * (order - len(prune))))


def _bytes_of(memory: str) -> int:
    match = _MEMORY.fullmatch(memory.strip())
    if match is None:
        raise InputError("unusable amount of memory", found=repr(memory), expected="such as 3GB or 500MB")
    number, unit, binary = match.groups()
    return round(float(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(unit.upper())))
