"""The search graph of the beam: every way that it went, as far as it leads to the end; the k best of them.

Letters: ``V`` hypotheses (nodes), ``A`` arcs. Node 0 is the empty hypothesis, node V - 1 the end; an arc leads from a
node to one with a higher number and stands for the phrase that was put behind the translation so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.beam_records import BEAM_ARCS, BeamWork


@dataclass(frozen=True, eq=False)
class SearchGraph:
    """What the beam kept of a sentence: recombined hypotheses, and all arcs that were not dropped with a stack's floor.

    Scores are exact sums of the features that the beam holds, 2^-40 nat.
    """

    sentence: int
    """Counted through the problem."""
    score: NDArray[np.int64]
    """``[V]``: of the best way from the start to each node."""
    covered: NDArray[np.int32]
    """``[V]``: source words covered."""
    source: NDArray[np.int32]
    """``[A]``: node that the arc leaves; arcs are sorted by (target, falling score of the best way through them)."""
    target: NDArray[np.int32]
    """``[A]``: node that it leads to."""
    option: NDArray[np.int32]
    """``[A]``: the phrase, as an option of the problem."""
    gain: NDArray[np.int64]
    """``[A]``: what it adds to the score, the sentence's end included."""

    @property
    def best(self) -> int:
        """Score of the best derivation."""
        return int(self.score[-1])

    def k_best(self, count: int) -> list[tuple[int, tuple[int, ...]]]:
        """The `count` best derivations, best first: (score, options in target order). Exact."""
        ways = self.derivations()
        return [way for _, way in zip(range(count), ways, strict=False)]

    def derivations(
        self, words: Mapping[int, Sequence[str]] | None = None, most_steps: int | None = None
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Derivations as (score, options in target order), best first; of equal ones any order, but always the same.

        A* from the end to the start: what is left of a way is worth the score of the node it has come to, exactly
        (Huang and Chiang 2005 enumerate by ranks; with an exact estimate at hand no rank is needed).

        Args:
            words: target words of each option: then of all derivations that say the same only the best is found. Of
                two ways that have come to one node and say the same behind it, the worse one goes no further.
            most_steps: end after so many steps.
        """
        nodes = len(self.score)
        first = np.searchsorted(self.target, np.arange(nodes + 1)).tolist()
        score, gain = self.score.tolist(), self.gain.tolist()
        source, option = self.source.tolist(), self.option.tolist()
        number = 0
        texts: dict[tuple[str, int], int] = {}  # a word and the number of the text behind it -> number of the text
        seen: set[tuple[int, int]] = set()
        # (-score, number, arc that is next, last arc of its node, gain of what is behind it, its phrases, its text)
        heap: list[tuple[int, int, int, int, int, Any, int]] = []

        def push(arc: int, last: int, behind: int, phrases: Any, text: int) -> None:
            nonlocal number
            number += 1
            heappush(heap, (-(score[source[arc]] + gain[arc] + behind), number, arc, last, behind, phrases, text))

        push(first[nodes - 1], first[nodes], 0, None, -1)
        steps = 0
        while heap and steps != most_steps:
            steps += 1
            negative, _, arc, last, behind, phrases, text = heappop(heap)
            if arc + 1 < last:
                push(arc + 1, last, behind, phrases, text)
            node = source[arc]
            if words is not None:
                for word in reversed(words[option[arc]]):
                    text = texts.setdefault((word, text), len(texts))
                if (node, text) in seen:
                    continue
                seen.add((node, text))
            chain: Any = (option[arc], phrases)
            if node > 0:
                push(first[node], first[node + 1], behind + gain[arc], chain, text)
                continue
            found = []
            while chain is not None:
                found.append(chain[0])
                chain = chain[1]
            yield -negative, tuple(found)

    def pruned(self, width: int) -> SearchGraph:
        """The graph of the derivations that are worse than the best by `width` (2^-40 nat) at most, arc by arc."""
        rest = np.full(len(self.score), np.iinfo(np.int64).min >> 1)
        rest[-1] = 0
        begin = np.searchsorted(self.target, np.arange(len(self.score) + 1))
        for node in range(len(self.score) - 1, 0, -1):
            arcs = slice(begin[node], begin[node + 1])
            np.maximum.at(rest, self.source[arcs], self.gain[arcs] + rest[node])
        return self._without(self.score[self.source] + self.gain + rest[self.target] < self.best - width)

    def _without(self, dropped: NDArray[np.bool_]) -> SearchGraph:
        """The graph without some arcs, whose nodes all lie on a way from the start to the end."""
        kept = np.flatnonzero(~dropped)
        used = np.zeros(len(self.score), bool)
        used[[0, -1]] = True
        used[self.source[kept]] = used[self.target[kept]] = True
        renumbered = (np.cumsum(used) - 1).astype(np.int32)
        return replace(
            self,
            score=self.score[used],
            covered=self.covered[used],
            source=renumbered[self.source[kept]],
            target=renumbered[self.target[kept]],
            option=self.option[kept],
            gain=self.gain[kept],
        )


def graph_of(work: BeamWork, sentence: int, words: int) -> SearchGraph:
    """The graph that a thread's work space holds after a sentence of so many words; what leads nowhere is left out."""
    begin = work.group_first[work.stack[: words + 2]]
    nodes = int(begin[-1])
    arcs = int(work.cursor[BEAM_ARCS])
    source, target = work.arc_source[:arcs], work.arc_target[:arcs]
    leads = np.zeros(nodes, bool)
    leads[-1] = True
    # Arcs stand stack by stack, so that those into later nodes come first from behind.
    first = np.searchsorted(target, begin)
    for stack in range(words, 0, -1):
        here = slice(first[stack], first[stack + 1])
        leads[source[here][leads[target[here]]]] = True
    score = work.score[:nodes]
    through = score[source] + work.arc_gain[:arcs]
    kept = np.flatnonzero(leads[target])
    kept = kept[np.lexsort((kept, -through[kept], target[kept]))]
    renumbered = (np.cumsum(leads) - 1).astype(np.int32)
    return SearchGraph(
        sentence=sentence,
        score=score[leads],
        covered=np.repeat(np.arange(words + 1, dtype=np.int32), np.diff(begin))[leads],
        source=renumbered[source[kept]],
        target=renumbered[target[kept]],
        option=work.arc_option[kept],
        gain=work.arc_gain[kept],
    )
