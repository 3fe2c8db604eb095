"""What users' features are tried on (`feature_check.py`): units of a problem, in an order, without language models."""

from __future__ import annotations

import numpy as np

from gpusearch.kernels.records import (
    LM_INFO,
    OPTION_LENGTH,
    SENTENCE_OPTION,
    SENTENCE_WORDS,
    UNIT_SENTENCES,
    UNIT_WORDS,
    Problem,
)

# Source words of a unit in which most kinds of proposals are possible.
MANY_WORDS = 8


def without_models(problem: Problem) -> Problem:
    """The problem without what scores sentences by their words or order: their places among the values stay 0."""
    language = problem.language._replace(info=np.zeros((0, LM_INFO), np.int64))
    return problem._replace(language=language, host=(), reordering=())


def in_order(problem: Problem) -> list[int]:
    """Units in the order in which they are gone through: those of `MANY_WORDS` words or more first, small ones before
    large ones, of two sentences before single ones; then the others, the largest first."""
    words = problem.unit[:, UNIT_WORDS]
    kind = np.where(words < MANY_WORDS, 2, problem.unit[:, UNIT_SENTENCES] < 2)
    order: list[int] = np.lexsort((np.where(kind == 2, -words, words), kind)).tolist()
    return order


def has_parts(problem: Problem) -> bool:
    """Whether a translation can have several phrases: no candidates for whole sentences alone."""
    options = np.diff(np.append(problem.sentence[:, SENTENCE_OPTION], len(problem.option_place)))
    words = np.repeat(problem.sentence[:, SENTENCE_WORDS], options)
    return bool((problem.option_place[:, OPTION_LENGTH] < words).any())
