"""First translations: random, by best options, or given (Hardmeier et al. 2012, section 2.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusearch.config.search import SearchConfig
from gpusearch.kernels.records import (
    MONOTONE,
    OPTION_LENGTH,
    ORIENTATIONS,
    SENTENCE_LONGEST,
    SENTENCE_SLOT,
    SENTENCE_SPAN,
    SENTENCE_WORDS,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Problem,
)
from gpusearch.model.problem import Batch
from gpusearch.search.chains import Finals
from gpusearch.search.driver import Driver, Lanes
from gpusearch.search.reach import OptionsOfSentence, check_reach
from gpusearch.search.saved import Given


class RandomStart:
    """Random monotone translations, another one for each chain."""

    def __call__(self, driver: Driver, lanes: Lanes) -> None:
        """Fill lanes."""
        driver.start(lanes)


class GivenStart:
    """The same translation for all chains: the options of each sentence of the batch in target order."""

    def __init__(self, problem: Problem, derivations: Sequence[OptionsOfSentence]) -> None:
        self.problem, self.derivations = problem, derivations

    def derivation(self, chain: int, sentence: int) -> OptionsOfSentence:
        """Options of a sentence of the batch for a chain."""
        return self.derivations[sentence]

    def __call__(self, driver: Driver, lanes: Lanes) -> None:
        """Fill lanes."""
        state = driver.state
        for lane in lanes.tolist():
            row = self.problem.unit[state.unit[lane]]
            for local in range(int(row[UNIT_SENTENCES])):
                sentence = int(row[UNIT_FIRST_SENTENCE]) + local
                options = np.asarray(self.derivation(int(state.chain[lane]), sentence), np.int32)
                slot = int(self.problem.sentence[sentence, SENTENCE_SLOT])
                state.option[lane, slot : slot + len(options)] = options
                state.length[lane, local] = len(options)
        driver.refresh(lanes)


class SavedStart(GivenStart):
    """A translation for each chain, ``chains[chain % len(chains)][sentence]``, and the counters that it goes on from.

    Args:
        counters: steps and consecutive rejections, ``[C, U]`` each; None: chains begin here.
    """

    def __init__(
        self,
        problem: Problem,
        chains: Sequence[Sequence[OptionsOfSentence]],
        counters: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    ) -> None:
        super().__init__(problem, chains[0])
        self.chains, self.counters = chains, counters

    def derivation(self, chain: int, sentence: int) -> OptionsOfSentence:
        """Options of a sentence of the batch for a chain."""
        return self.chains[chain % len(self.chains)][sentence]

    def __call__(self, driver: Driver, lanes: Lanes) -> None:
        """Fill lanes."""
        super().__call__(driver, lanes)
        if self.counters is not None:
            steps, rejected = self.counters
            chain, unit = driver.state.chain[lanes], driver.state.unit[lanes]
            driver.state.step[lanes] = steps[chain, unit]
            driver.state.rejected[lanes] = rejected[chain, unit]


def given_start(batch: Batch, given: Given, first: int, search: SearchConfig, *, go_on: bool = True) -> SavedStart:
    """What puts given translations into the lanes of a batch that begins with document `first`.

    Args:
        go_on: with the counters that come along; else chains begin.

    Raises:
        InputError: they do not fit the documents or the distortion limit.
    """
    chains = given.options(batch, first)
    for chain in chains:
        check_reach(batch, chain, search)
    return SavedStart(batch.problem, chains, given.counters(batch, first) if go_on else None)


class ContinuedStart:
    """Chains go on from what they have become."""

    def __init__(self, finals: Finals) -> None:
        self.finals = finals

    def __call__(self, driver: Driver, lanes: Lanes) -> None:
        """Fill lanes."""
        state, finals = driver.state, self.finals
        units, chains = state.unit[lanes], state.chain[lanes]
        for lane, unit, chain in zip(lanes.tolist(), units.tolist(), chains.tolist(), strict=True):
            option, length = finals.option[unit][chain], finals.length[unit][chain]
            state.option[lane, : len(option)], state.length[lane, : len(length)] = option, length
        driver.refresh(lanes)
        state.step[lanes], state.rejected[lanes] = finals.step[units, chains], finals.rejected[units, chains]


def best_derivations(batch: Batch) -> list[list[int]]:
    """For each sentence the monotone derivation with the best sum of isolated scores, LM estimates included.

    Reordering models count with what monotone phrases have from them. Dynamic programming over source positions; of
    equal sums the one whose last phrase is longest.
    """
    problem, options = batch.problem, batch.options
    inside = at_end = options.entries.score[options.entry]
    if problem.reordering:
        order = problem.reordering.score
        at_end = at_end + order[:, MONOTONE]
        inside = at_end + order[:, ORIENTATIONS + MONOTONE]  # the score of the step behind a phrase
    result = []
    for row in problem.sentence:
        words, first_row, longest = row[[SENTENCE_WORDS, SENTENCE_SPAN, SENTENCE_LONGEST]].tolist()
        # Score up to each position, option that ends there; none ends inside an exclusive translation.
        best: list[tuple[int, int] | None] = [(0, -1)]
        for stop in range(1, words + 1):
            ends: list[tuple[int, int]] = []
            for length in range(min(longest, stop), 0, -1):
                span = first_row + (stop - length) * longest + length - 1
                (first, last), before = problem.span[span : span + 2].tolist(), best[stop - length]
                if first < last and before is not None:
                    worth = (at_end if stop == words else inside)[first:last]
                    option = int(worth.argmax())
                    ends.append((before[0] + int(worth[option]), first + option))
            best.append(max(ends, key=lambda end: end[0], default=None))
        chosen: list[int] = []
        stop = words
        while stop > 0:
            end = best[stop]
            assert end is not None, "every way to a position begins where a phrase ends"
            chosen.append(end[1])
            stop -= int(problem.option_place[end[1], OPTION_LENGTH])
        result.append(chosen[::-1])
    return result
