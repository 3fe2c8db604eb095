"""Lexicalised reordering: smoothed probabilities of the orientations of each phrase pair (Koehn et al. 2005)."""

from __future__ import annotations

import numpy as np

from gpusearch.train.corpus import Array

#: Orientation models and the classes of :mod:`gpusearch.train.extract` that make up each of their columns.
MODELS: dict[str, tuple[tuple[int, ...], ...]] = {"msd": ((0,), (1,), (2, 3)), "mslr": ((0,), (1,), (2,), (3,))}

_SMOOTHING = 0.5  # of a count, added to each class


def model_type(model: str) -> str:
    """The type as Moses writes it: word-based, both directions, given source and target."""
    return f"wbe-{model}-bidirectional-fe-allff"


def orientation_probabilities(counts: Array, model: str) -> Array:
    """Probabilities of the classes for the step from the previous phrase, then those for the step to the next.

    (count + 0.5) / (occurrences + 0.5 * classes). The columns are monotone, swap, discontinuous for msd and
    monotone, swap, discontinuous left, discontinuous right for mslr.

    Args:
        counts: int64[N, 2, 4], see :class:`gpusearch.train.counting.Pairs`.
        model: "msd" or "mslr".

    Returns:
        float64[N, 2 * classes].
    """
    classes = MODELS[model]
    joined = np.stack([counts[:, :, list(members)].sum(axis=2) for members in classes], axis=2) + _SMOOTHING
    probabilities = joined / joined.sum(axis=2, keepdims=True)
    return probabilities.reshape(len(counts), 2 * len(classes))
