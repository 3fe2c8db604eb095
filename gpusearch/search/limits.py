"""When a chain is done: steps, consecutive rejections, a score that is enough; and when its score is looked at.

Limits are stated for a document. Where its sentences are searched by themselves, each gets its share: in proportion to
its source words, rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpusearch.config.search import SearchConfig
from gpusearch.kernels.records import LIMIT_PAUSE, LIMIT_REJECTED, LIMIT_SCORE, LIMIT_STEPS, UNIT_WORDS, State
from gpusearch.model.problem import Batch
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.state import UNLIMITED


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of each unit: int64[U] each."""

    steps: NDArray[np.int64]
    rejected: NDArray[np.int64]
    score: NDArray[np.int64]
    words: NDArray[np.int64]
    """Source words of the unit."""
    document_words: NDArray[np.int64]
    """Source words of its document."""
    looks: tuple[int, ...] = ()
    """Steps of the document at which all scores are written down, in rising order."""
    stop: NDArray[np.int64] | None = None
    """int64[U]: steps at which chains are taken out, though they are not done; None: nowhere."""

    def share(self, unit: int, steps: int) -> int:
        """A unit's share of some steps of its document."""
        return -(-steps * int(self.words[unit]) // int(self.document_words[unit]))

    def set(self, state: State, lane: int, unit: int) -> None:
        """Write a unit's limits into a lane."""
        state.limit[lane, LIMIT_STEPS] = self.steps[unit]
        state.limit[lane, LIMIT_PAUSE] = self.pause(unit)
        state.limit[lane, LIMIT_REJECTED] = self.rejected[unit]
        state.limit[lane, LIMIT_SCORE] = self.score[unit]

    def pause(self, unit: int) -> int:
        """The step at which a chain of a unit is taken out."""
        return int(self.steps[unit] if self.stop is None else min(self.stop[unit], self.steps[unit]))

    def over(self, state: State, lanes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which lanes are done, or to be taken out: bool, one a lane."""
        limit = state.limit[lanes]
        last = limit[:, LIMIT_STEPS]
        if self.stop is not None:
            last = np.minimum(last, self.stop[state.unit[lanes]])
        return (
            (state.step[lanes] >= last)
            | (state.rejected[lanes] >= limit[:, LIMIT_REJECTED])
            | (state.score[lanes] >= limit[:, LIMIT_SCORE])
        )

    def without_end(self) -> Limits:
        """No limits but that chains end by themselves."""
        unlimited = np.full(len(self.words), UNLIMITED)
        return replace(self, steps=unlimited, rejected=unlimited, score=unlimited)


def make_limits(batch: Batch, config: SearchConfig, *, trace: bool = False) -> Limits:
    """The limits of a configuration for each unit; with `trace` a look at every power of two of the steps."""
    words = batch.problem.unit[:, UNIT_WORDS]
    of_document = np.bincount(batch.units.document, weights=words, minlength=1).astype(np.int64)
    document_words = of_document[batch.units.document]

    def shared(whole: int) -> NDArray[np.int64]:
        pairs = zip(words.tolist(), document_words.tolist(), strict=True)
        return np.array([-(-whole * part // (total or 1)) for part, total in pairs], np.int64)  # no int64 on the way

    unlimited = np.full(len(words), UNLIMITED)
    if config.steps is not None:
        steps = shared(config.steps)
        longest = config.steps
    else:
        per_word = config.proposals_per_word(batch.units.kind)
        steps = np.ceil(per_word * words).astype(np.int64)
        if config.active_policy == "sweep":  # it ends by itself
            steps = unlimited
        longest = int(np.ceil(per_word * document_words.max(initial=0)))
    score = unlimited if config.target_score is None else np.full(len(words), round(config.target_score * SCORE_UNITS))
    looks = (0, *(1 << power for power in range(longest.bit_length()) if 1 << power < longest), longest)
    return Limits(
        steps=steps,
        rejected=unlimited if config.max_rejected is None else shared(config.max_rejected),
        score=score,
        words=words,
        document_words=document_words,
        looks=looks if trace else (),
    )
