"""Whether a translation that is given keeps to the distortion limit, as every proposal must."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gpusearch.config.search import SearchConfig
from gpusearch.errors import InputError
from gpusearch.kernels.records import OPTION_LENGTH, OPTION_START
from gpusearch.model.problem import Batch

OptionsOfSentence = Sequence[int] | NDArray[np.integer]
"""Options of a sentence in target order."""


def check_reach(batch: Batch, derivations: Sequence[OptionsOfSentence], search: SearchConfig) -> None:
    """Refuse a first translation that no search under this limit could come to.

    Args:
        derivations: options of each sentence of the batch in target order.

    Raises:
        InputError: a jump beyond the limit, or with ``distortion_check = "moses"`` a phrase from which the first gap
            is out of reach; names the sentence and the phrase.
    """
    if search.distortion_limit < 0:
        return
    counts = np.array([len(options) for options in derivations], np.int64)
    place = batch.problem.option_place[np.concatenate([np.empty(0, np.int64), *derivations]).astype(np.int64)]
    start = place[:, OPTION_START].astype(np.int64)
    stop = start + place[:, OPTION_LENGTH]
    first = np.cumsum(counts) - counts
    first = first[counts > 0]
    before = np.concatenate(([0], stop[:-1])) if len(stop) else stop
    before[first] = 0
    jump = np.abs(start - before)
    if not search.first_jump:
        jump[first] = 0
    sentence = np.repeat(np.arange(len(counts)), counts)
    for phrase in np.flatnonzero(jump > search.distortion_limit)[:1].tolist():
        _refuse(batch, int(sentence[phrase]), start[phrase], stop[phrase], f"a jump of {jump[phrase]} words", search)
    if search.distortion_check == "moses":
        ends = np.cumsum(counts)
        for number, end in enumerate(ends.tolist()):
            part = slice(end - int(counts[number]), end)
            found = out_of_reach(zip(start[part].tolist(), stop[part].tolist(), strict=True), search.distortion_limit)
            if found is not None:
                words = found[1] - found[2]
                _refuse(batch, number, found[0], found[1], f"{words} words beyond the first gap", search)


def out_of_reach(spans: Iterable[tuple[int, int]], limit: int) -> tuple[int, int, int] | None:
    """The first span (start, stop) in target order from which the first gap cannot be reached, and that gap.

    Moses' second check: whoever jumps over a gap must be able to jump back.
    """
    covered: set[int] = set()
    gap = 0
    for start, stop in spans:
        if start != gap and stop - gap > limit:
            return start, stop, gap
        covered.update(range(start, stop))
        while gap in covered:
            gap += 1
    return None


def _refuse(batch: Batch, sentence: int, start: int, stop: int, what: str, search: SearchConfig) -> None:
    document, index = batch.units.place(sentence)
    raise InputError(
        f"the first translation of document {document + 1}, sentence {index + 1} breaks the distortion limit",
        found=f"{what} at |{start}-{stop - 1}|",
        expected=f"at most {search.distortion_limit}",
        hint="raise search.distortion_limit (-1: none), or begin from another translation",
    )
