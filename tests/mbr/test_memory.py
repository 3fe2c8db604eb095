"""Blocks of pairs take no more memory than is allowed, and give the same utilities."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from gpusearch.candidates.draws import DocumentDraws, Draws
from gpusearch.errors import InputError
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.decide import Selection, Settings
from gpusearch.mbr.documents import DocumentPairs, room_of_documents
from gpusearch.mbr.matrix import blocks
from gpusearch.mbr.named import make_utility
from gpusearch.mbr.run import Options, Outcome, Unit, decide_document, decide_segment
from gpusearch.mbr.utility import Pairs, Utility


class _Tensors(TorchDispatchMode):
    """Bytes of all tensors that operations return and somebody still has."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self.known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                if storage._cdata not in self.known:
                    self.known.add(storage._cdata)
                    self.now += storage.nbytes()
                    self.most = max(self.most, self.now)
                    weakref.finalize(storage, self._gone, storage._cdata, storage.nbytes())
        return result

    def _gone(self, number: int, size: int) -> None:
        self.known.remove(number)
        self.now -= size


def most_bytes(work: Callable[[], object]) -> int:
    """That tensors, arrays and objects take at a time."""
    tracemalloc.start()
    try:
        with _Tensors() as tensors:
            work()
        return tensors.most + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """What is needed once, by the way of looking too."""
    pairs = of_segment(Bleu(), 9)
    with _Tensors():
        Bleu().score(pairs.statistics(np.arange(9), np.arange(9)))


OBJECTS = 200_000
"""Bytes of Python's own and of the way of looking, whatever the number of pairs."""


def many(count: int, seed: int) -> list[str]:
    """Different texts, one of them empty, so that orders are missing."""
    generator = np.random.default_rng(seed)
    words = np.array(["the", "a", "cat", "dog", "sat", "lay", "on", "under", "mat", "hat", ".", "!"])
    return ["", *(" ".join([f"n{number}", *words[generator.integers(12, size=8)]]) for number in range(1, count))]


def of_segment(utility: Utility, size: int) -> Pairs:
    return utility.prepare(many(size, 1), 0)


def of_document(utility: Utility, size: int) -> Pairs:
    """Of two segments."""
    rows = np.random.default_rng(1).integers(size, size=(size, 2))
    rows[0] = 0  # empty
    return DocumentPairs([utility.prepare(many(size, seed), seed) for seed in range(2)], [size] * 2, rows)


@pytest.mark.parametrize("made", [of_segment, of_document])
@pytest.mark.parametrize("names", [["bleu"], ["chrf++"], ["ter"], ["chrf++", "bleu"]])
def test_blocks_take_no_more_than_they_may(names: list[str], made: Callable[[Utility, int], Pairs]) -> None:
    """And not much less, so that blocks are no smaller than they need to be."""
    utility, size, rows = (make_utility(names), 40, 10) if names == ["ter"] else (make_utility(names), 200, 60)
    pairs, columns = made(utility, size), np.arange(size)
    memory = pairs.room.need(rows, size)

    def two_blocks() -> None:
        for _part, _block in islice(blocks(utility, pairs, columns, columns, memory), 2):
            pass

    assert memory / 3 < most_bytes(two_blocks) <= memory + OBJECTS


@pytest.mark.parametrize(
    ("unit", "select"),
    [
        ("sentence", "exact"),
        ("sentence", "fine"),
        ("sentence", "prune"),
        ("document", "exact"),
        ("document", "recombine"),
    ],
)
def test_little_memory_changes_nothing(unit: Unit, select: Selection) -> None:
    """Just enough for a row of pairs gives what plenty does; a byte less is refused."""
    utility = make_utility(["chrf", "bleu"])
    texts = [many(16, seed) for seed in range(2)]
    draws = [Draws(one, np.zeros(16), np.arange(16)) for one in texts]
    document = DocumentDraws(draws, np.zeros(16), np.zeros(16, np.int64))

    def decided(memory: int) -> Outcome:
        options = Options(unit=unit, weights="multiplicity", settings=Settings(select, 8, 0.9, memory=memory))
        if unit == "sentence":
            return decide_segment(draws[0], utility, 0, options)
        return decide_document(document, utility, 0, 0, options)

    segments = [utility.prepare(sorted(one), place) for place, one in enumerate(texts)]
    need = (segments[0].room if unit == "sentence" else room_of_documents(segments)).need(1, 16)
    little, plenty = decided(need).best[0], decided(1 << 30).best[0]
    assert little.texts == plenty.texts and little.value == pytest.approx(plenty.value, rel=1e-12)
    with pytest.raises(InputError, match="utilities of a candidate do not fit the memory"):
        decided(need - 1)
