"""The readers' kernels: their cache on disk is renewed with their sources, and they need not much memory."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from gpusearch.io import compilation
from gpusearch.io.compilation import compiled


def add_one(number: int) -> int:
    return number + 1


def cache_path(kernel: Any) -> str:
    return str(kernel.stats.cache_path)


def test_every_file_with_kernels_counts_for_the_cache(repository: Path) -> None:
    """A change of any of them must change the folder of the cache, since kernels call helpers of other files."""
    with_kernels = {
        path.name
        for path in (repository / "gpusearch" / "io").glob("*.py")
        if re.search(r"^@(compiled|helper)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert with_kernels == set(compilation._SOURCES)


def test_changed_source_has_another_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in compilation._SOURCES:
        (tmp_path / name).write_text("# kernels\n")
    monkeypatch.setattr(compilation, "_FOLDER", tmp_path)
    monkeypatch.setattr(compilation, "_cache_folder", compilation._cache_folder.__wrapped__)
    first = cache_path(compiled(add_one))
    assert first == cache_path(compiled(add_one))
    assert first.startswith(str(tmp_path / "__pycache__" / "readers-"))
    (tmp_path / "bytewise.py").write_text("# other kernels\n")
    assert cache_path(compiled(add_one)) != first


def test_a_helper_beside_a_kernel_of_another_package_counts(tmp_path: Path) -> None:
    folder = compilation._cache_folder.__wrapped__
    first = folder("", tmp_path)
    (tmp_path / "helper.py").write_text("# helper\n")
    assert folder("", tmp_path) != first


def test_folder_that_the_user_chose_for_numba_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kernel = compiled(add_one)
    assert cache_path(kernel).startswith(str(tmp_path))
    assert str(tmp_path) == numba.config.CACHE_DIR
    assert kernel(1) == 2
    assert list(tmp_path.glob("readers-*/*/*.nbi"))


def test_kernels_work_without_any_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    njit = numba.njit

    def nowhere(*arguments: object, cache: bool = False, **options: object) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*arguments, **options)

    monkeypatch.setattr(compilation, "_njit", nowhere)
    assert compiled(add_one)(1) == 2


@pytest.mark.slow
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_ten_million_rows_fit_in_four_gigabytes(tmp_path: Path, parity: Path, order: str) -> None:
    """A fifth of them, at a fifth of the memory: 400 bytes a row while the table is read, in the order of need."""
    lines = gzip.decompress((parity / "laws100k.fr-en" / "phrase-table.gz").read_bytes()).split(b"\n")[:-1]
    rows = 2_000_000
    path = tmp_path / "table"
    with open(path, "wb") as file:
        for number in range(rows):
            # Three copies with sources of their own; shuffled by a step that has no divisor in common with the rows.
            place = number if order == "sorted" else number * 1_000_003 % rows
            file.write(b"%d%s\n" % (place // len(lines), lines[place % len(lines)]))
    script = (
        "import resource, sys\n"
        "from gpusearch.io.phrase_table import read_phrase_table\n"
        "small, large = sys.argv[1:]\n"
        "read_phrase_table(small, cache=False)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "rows = len(read_phrase_table(large, cache=False))\n"
        "print(rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)\n"
    )
    small = tmp_path / "small"
    small.write_bytes(lines[0] + b"\n")
    command = [sys.executable, "-c", script, str(small), str(path)]
    read, memory = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert read == rows
    assert memory < 400 * rows
