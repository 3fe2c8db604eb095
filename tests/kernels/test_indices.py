"""The rewriting of indices for compilation."""

from __future__ import annotations

import ast
import re

import numba
import numpy as np
import pytest

from gpusearch.kernels.indices import rewritten, unsigned_indices

COLUMN = 1


def total(table, rows, start):
    """Two kinds of index, and a store."""
    table[rows[start], COLUMN] += 5
    return table[rows[start - 1], 0] + table[rows[start]][COLUMN] + table.shape[0]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a[i]", "a[_unsigned(i)]"),
        ("a[i, j + 1]", "a[_unsigned(i), _unsigned(j + 1)]"),
        ("a[b[i]]", "a[_unsigned(b[_unsigned(i)])]"),
        ("a[i, COLUMN] + a.shape[0]", "a[_unsigned(i), COLUMN] + a.shape[0]"),
    ],
)
def test_every_index_that_is_no_constant_is_converted(source: str, expected: str) -> None:
    tree = rewritten(f"@shared\ndef f(a, b, i, j):\n    return {source}\n")
    assert ast.unparse(tree) == f"def f(a, b, i, j):\n    return {expected}"


def test_results_stay_the_same() -> None:
    tables = [np.arange(12, dtype=np.int32).reshape(6, 2) for _ in range(2)]
    rows = np.array([3, 0, 5], np.int64)
    compiled = numba.njit(unsigned_indices(total))
    assert compiled(tables[0], rows, 1) == total(tables[1], rows, 1)
    np.testing.assert_array_equal(tables[0], tables[1])


def test_no_index_is_compared_with_zero() -> None:
    """What the rewriting is for: without it Numba chooses between the index and the index plus the length."""
    arguments = (np.zeros((6, 2), np.int32), np.zeros(3, np.int64), 1)
    choices = []
    for function in (total, unsigned_indices(total)):
        compiled = numba.njit(function, boundscheck=False)
        compiled(*arguments)
        (text,) = compiled.inspect_llvm().values()
        body = text[text.index("define ") : text.index("\n}")]
        choices.append(len(re.findall(r"icmp slt i64 %[^,]*, 0|ashr i64|lshr i64 [^,]*, 63|select", body)))
    assert choices[1] == 0 < choices[0]
