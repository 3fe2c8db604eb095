"""What functions of features in Python or torch return, as float64, and how exact it can be."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.model.weights import VALUE_UNITS

Floats = NDArray[np.float64]


class Answer(NamedTuple):
    """Numbers, and the type that they were computed in."""

    values: Floats
    step: float
    """The distance of 1 to the next number of that type: 2^-52 for float64, 2^-23 for float32, 0 for integers."""


def answer_of(what: str, returned: Any) -> Answer:
    """Any numbers: lists, arrays, tensors with a gradient or on a GPU.

    Args:
        what: names the function.

    Raises:
        InputError: no numbers, or rows of different lengths.
    """
    try:
        if hasattr(returned, "detach"):  # a tensor of torch
            tensor = returned.detach().cpu()
            step = sys.modules["torch"].finfo(tensor.dtype).eps if tensor.is_floating_point() else 0.0
            return Answer(np.asarray(tensor.double().numpy(), np.float64), step)
        if np.ma.is_masked(returned):
            raise TypeError("masked items")
        array = np.asarray(returned)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"items of type {array.dtype}")
        step = float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 0.0
        return Answer(array.astype(np.float64), step)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(what, found=f"{type(returned).__name__}: {error}", expected="numbers") from error


def values_of(what: str, returned: Any, rows: int, count: int) -> Answer:
    """Values ``[rows, count]``, for which ``[rows]`` may stand where `count` is 1.

    Raises:
        InputError: another shape; no numbers, or numbers that are too large.
    """
    values, step = answer_of(what, returned)
    if values.shape == (rows,) and count == 1:
        values = values[:, None]
    _check_shape(what, values, (rows, count), f"[{rows}]" if count == 1 else f"[{rows}, {count}]")
    if not (np.abs(values) < 2.0**50 / VALUE_UNITS).all():
        raise InputError(what, found="a value that is no number, or too large")
    return Answer(values, step)


def bounds_of(what: str, returned: Any, rows: int) -> Floats:
    """Upper bounds ``[rows]``; infinity is none.

    Raises:
        InputError: another shape; no numbers.
    """
    values = answer_of(what, returned).values
    _check_shape(what, values, (rows,), f"[{rows}]")
    if not (values > -np.inf).all():
        raise InputError(what, found="a bound that is no number", expected="nats, or infinity for none")
    return values


def _check_shape(what: str, values: Floats, shape: tuple[int, ...], expected: str) -> None:
    if values.shape != shape:
        raise InputError(what, found=f"shape {values.shape}", expected=expected)
