"""The paths of fixed searches do not change unnoticed, and are the same on every machine."""

from __future__ import annotations

import pytest

from tests.golden.entries import ENTRIES, stored
from tests.paths import cpu


@pytest.mark.parametrize("name", ENTRIES)
def test_cpu_finds_the_golden_hashes(name: str) -> None:
    """If a change of paths is meant: `python -m tests.golden.regenerate`."""
    assert ENTRIES[name](cpu(2)) == stored()[name]


def test_every_golden_hash_has_its_entry() -> None:
    assert set(stored()) == set(ENTRIES)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ENTRIES)
def test_cuda_finds_the_golden_hashes(name: str) -> None:
    from gpusearch.search.cuda import CudaDriver

    assert ENTRIES[name](CudaDriver) == stored()[name]
