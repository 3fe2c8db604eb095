"""What drivers inline has no machine code of its own."""

from __future__ import annotations

from collections.abc import Callable

import numba
import pytest
from numba.core.codegen import JITCodeLibrary

from gpusearch.kernels.target import APART, optional, shared


@shared
def twice(number):
    return number + number


def _none(record, number):
    return number


@optional(_none, apart=True)
def twice_each(record, number):
    return twice(twice(number)) + record[0]


def test_a_driver_alone_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four functions, one of them not inlined, and it gives the values that Python gives."""
    compiled, plain = [], JITCodeLibrary._finalize_specific

    def finalize(library: JITCodeLibrary) -> None:
        compiled.append(library.name)
        plain(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", finalize)

    def run(record: tuple[int, ...], number: int) -> int:
        value: int = twice_each(record, number) - twice_each((), number)
        return value

    driver: Callable[[tuple[int, ...], int], int] = numba.njit(**APART)(run)
    assert [driver((5,), number) for number in (-3, 0, 7)] == [run((5,), number) for number in (-3, 0, 7)]
    own = [name for name in compiled if name != "nrt"]  # Numba's runtime, once a process
    assert len(own) == 1 and own[0].endswith("run")
