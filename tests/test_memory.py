"""Free memory is the least that any limit leaves: of the machine, of control groups, of the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpusearch.memory import free_bytes, total_bytes

MB = 1 << 20
V1 = "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n"


@pytest.fixture
def processes(tmp_path: Path) -> Path:
    """A machine with 1,000 MB available; its process is in no control group."""
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {1000 << 10} kB\n")
    return tmp_path / "proc"


def make_group(path: Path, names: tuple[str, str, str], limit: str, usage: int, cached: int) -> None:
    path.mkdir(parents=True, exist_ok=True)
    (path / names[0]).write_text(limit + "\n")
    (path / names[1]).write_text(f"{usage}\n")
    (path / "memory.stat").write_text(f"anon 5\n{names[2]} {cached}\nother 7\n")


SECOND = ("memory.max", "memory.current", "inactive_file")
FIRST = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def test_what_the_machine_has(processes: Path, tmp_path: Path) -> None:
    assert free_bytes(processes, tmp_path / "none") == 1000 * MB
    (processes / "self/cgroup").write_text("0::/\n")
    assert free_bytes(processes, tmp_path / "none") == 1000 * MB
    assert 0 < free_bytes() < 1 << 50


def test_groups_of_version_2_up_to_the_root(processes: Path, tmp_path: Path) -> None:
    """Cached files give way; a group above may be narrower than its own."""
    (processes / "self/cgroup").write_text("0::/a/b\n")
    groups = tmp_path / "groups"
    make_group(groups / "a/b", SECOND, str(700 * MB), 300 * MB, 100 * MB)
    assert free_bytes(processes, groups) == 500 * MB
    make_group(groups / "a", SECOND, str(400 * MB), 350 * MB, 0)
    assert free_bytes(processes, groups) == 50 * MB
    make_group(groups / "a", SECOND, "max", 350 * MB, 0)
    make_group(groups / "a/b", SECOND, str(10 * MB), 20 * MB, 0)
    assert free_bytes(processes, groups) == 0


def test_groups_of_version_1(processes: Path, tmp_path: Path) -> None:
    """In a container its own group stands at the root, under another path than it is known by."""
    (processes / "self/cgroup").write_text(V1)
    groups = tmp_path / "groups"
    make_group(groups / "memory", FIRST, str(200 * MB), 50 * MB, 10 * MB)
    assert free_bytes(processes, groups) == 160 * MB
    make_group(groups / "memory", FIRST, str((1 << 63) - 4096), 50 * MB, 10 * MB)
    assert free_bytes(processes, groups) == 1000 * MB


def test_all_that_the_process_may_have(processes: Path, tmp_path: Path) -> None:
    """What `gpusearch doctor` says: the narrowest limit of its own groups, wherever they stand, whatever is in use."""
    whole = total_bytes(processes, tmp_path / "none")
    assert whole > 300 * MB
    (processes / "self/cgroup").write_text("0::/a/b\n")
    make_group(tmp_path / "groups/a/b", SECOND, str(300 * MB), 200 * MB, 10 * MB)
    assert total_bytes(processes, tmp_path / "groups") == 300 * MB
    make_group(tmp_path / "groups/a", SECOND, str(250 * MB), 0, 0)
    assert total_bytes(processes, tmp_path / "groups") == 250 * MB
    (processes / "self/cgroup").write_text("0::/\n")
    assert total_bytes(processes, tmp_path / "groups") == whole


def test_a_limit_of_the_process(repository: Path) -> None:
    """`ulimit -v`."""
    limit = 300 * MB
    code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
    code += "from gpusearch.memory import free_bytes, total_bytes; print(free_bytes(), total_bytes())"
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    free, total = map(int, done.stdout.split())
    assert 0 < free < total == limit
