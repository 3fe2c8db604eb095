"""What the Metropolis sampler must know of the draws of operations: their logarithms, made from the integers that they
are drawn by, in integers, the same on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.hastings import DRAWN, NOT_DRAWN, OF_ALL, OF_LENGTH
from gpusearch.kernels.records import (
    HASTINGS_EXCHANGED,
    HASTINGS_IN_ORDER,
    HASTINGS_RIGHT,
    LONGEST_DRAW,
    NEVER,
    RESEGMENT_BLOCK,
    RESEGMENT_SWAP,
    RIGHT_MOVE,
    SENTENCE_LONGEST,
    SENTENCE_WORDS,
    Hastings,
    Problem,
    Search,
)
from gpusearch.search.logarithms import log_ratios
from gpusearch.search.settings import ONE

Integers = NDArray[np.int64]


def make_hastings(problem: Problem, search: Search) -> Hastings:
    """The record that gives each threshold the ratio of its draw, for the options of a problem."""
    return Hastings(_number(search), _option(problem), _block(search), _count(problem))


def _number(search: Search) -> Integers:
    exchanged, right = int(search.number[RESEGMENT_SWAP]), int(search.number[RIGHT_MOVE])
    number = np.zeros(3, np.int64)
    if 0 < right < ONE:
        number[HASTINGS_RIGHT] = log_ratios(right, ONE - right)
    number[HASTINGS_IN_ORDER] = log_ratios(ONE - exchanged, ONE)
    number[HASTINGS_EXCHANGED] = log_ratios(exchanged, ONE)
    return number


def _option(problem: Problem) -> Integers:
    """``[O, 2]``: of each option and of all others of its span, their share in the draw."""
    first = np.unique(problem.span).astype(np.int64)
    counts = np.diff(first)
    summed = problem.option_draw.astype(np.int64)
    weight = np.diff(summed, prepend=0)
    weight[first[:-1]] = summed[first[:-1]]
    total = np.repeat(summed[first[1:] - 1], counts)
    option = np.zeros((len(summed), 2), np.int64)
    option[:, DRAWN] = log_ratios(weight, total)
    others = total - weight
    option[:, NOT_DRAWN] = np.where(others > 0, log_ratios(others, total), 0)
    return option


def _block(search: Search) -> Integers:
    """``[LONGEST_DRAW + 1, 2]``: of each number of phrases its weight, and the sum of the weights up to it."""
    survival = search.survival[RESEGMENT_BLOCK]
    block = np.zeros((LONGEST_DRAW + 1, 2), np.int64)
    block[1:, OF_LENGTH] = log_ratios(survival[:-1] - survival[1:], ONE)
    block[1:, OF_ALL] = log_ratios(ONE - survival[1:], ONE)
    block[0, OF_LENGTH] = NEVER
    return block


def _count(problem: Problem) -> Integers:
    """ln k for every number of phrases, words or lengths that is drawn from."""
    most = int(problem.sentence[:, [SENTENCE_WORDS, SENTENCE_LONGEST]].max(initial=0)) + 2
    return log_ratios(np.maximum(np.arange(most + 1), 1), 1)
