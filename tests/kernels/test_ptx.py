"""Every kernel compiles for compute capability 9.0 on a machine without a GPU, and fits into its registers."""

from __future__ import annotations

from collections.abc import Callable, Set
from pathlib import Path
from typing import Any

import pytest

from gpusearch.kernels import cuda as kernels
from gpusearch.kernels import gibbs_cuda
from gpusearch.kernels.records import RANDOM
from profiling import registers
from tests.feature_forms import ALL, ALONG, NGRAMS, USERS

SAMPLER = gibbs_cuda.sample_lanes.__name__
# A root of the semantic document LM (kernels/semantic.py:square_root): IEEE 754 rounds it, and integers correct it.
ROOT = {"cvt.rn.f64.s64", "sqrt.rn.f64", "cvt.rzi.s64.f64"}


VARIANTS: dict[str, dict[str, Any]] = {
    "ours": {},
    "docent": {"docent": True},
    "reordering": {"reordering": 1},
}


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=VARIANTS)
def ptx(request: pytest.FixtureRequest) -> dict[str, str]:
    """Of the kernels as they draw our proposals, as they draw Docent's, with lexicalised reordering."""
    return registers.compile_to_ptx(**request.param)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant",
    [
        {"features": ALL},
        {"features": ALONG},
        {"features": NGRAMS[0]},
        {"features": USERS},
        {"features": ALL, "gibbs": True},
    ],
    ids=["search", "search along", "n-grams", "users", "sampler"],
)
@pytest.mark.usefixtures("of_users")
def test_features_compile_to_ptx(variant: dict[str, Any]) -> None:
    """All that are built in, and those of users; what they take of a multiprocessor is not limited."""
    for text in registers.compile_to_ptx(**variant).values():
        is_one_entry_of_integers(text, ROOT if "semantic-lm" in variant["features"] else set())


def test_metropolis_compiles_to_ptx() -> None:
    is_one_entry_of_integers(registers.compile_to_ptx(metropolis=True)[kernels.run_lanes.__name__])


def test_sweeps_compile_to_ptx() -> None:
    """They spill a little: a group takes far longer than that."""
    is_one_entry_of_integers(registers.compile_to_ptx(sweep=True, reordering=1)[kernels.run_lanes.__name__])


@pytest.fixture(scope="module")
def sampler() -> str:
    """Of the Gibbs sampler."""
    return registers.compile_to_ptx(gibbs=True)[SAMPLER]


def test_every_kernel_has_a_signature() -> None:
    assert set(registers.signatures()) == set(kernels.KERNELS)


@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_kernel_compiles_to_ptx(ptx: dict[str, str], kernel: Callable[..., None]) -> None:
    is_one_entry_of_integers(ptx[kernel.__name__])


def test_sampler_compiles_to_ptx(sampler: str) -> None:
    is_one_entry_of_integers(sampler)


def is_one_entry_of_integers(text: str, floats: Set[str] = frozenset()) -> None:
    """One entry, for sm_90, without calls into a runtime, and without other instructions on `floats` than these."""
    assert text.count(".visible .entry") == 1
    assert ".target sm_90" in text
    assert ".extern" not in text
    lines = [line.split() for line in text.splitlines() if ".f32" in line or ".f64" in line]
    assert {next(word for word in line if word[0] != "@") for line in lines} - {".reg"} <= floats


@pytest.mark.skipif(registers.ptxas() is None, reason="no ptxas in the environment")
@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_kernel_assembles_without_spills(ptx: dict[str, str], kernel: Callable[..., None]) -> None:
    """Local memory holds the random stream and nothing else."""
    has_no_spills(ptx[kernel.__name__])


@pytest.mark.skipif(registers.ptxas() is None, reason="no ptxas in the environment")
def test_sampler_assembles_without_spills(sampler: str) -> None:
    has_no_spills(sampler)


def has_no_spills(text: str) -> None:
    found = registers.usage(text)
    assert 0 < found.registers <= 255
    assert (found.spill_stores, found.spill_loads) == (0, 0)
    assert found.stack <= 8 * RANDOM


def test_readme_has_the_table(repository: Path) -> None:
    text = (repository / "kernels" / "README.md").read_text(encoding="utf-8")
    inside = text.split(registers.BEGIN)[1].split(registers.END)[0]
    for name in (*(kernel.__name__ for kernel in kernels.KERNELS), SAMPLER):
        assert f"`{name}`" in inside
