"""How much memory this process may take, in all and still, by all limits that are set on it."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


def free_bytes(processes: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The least of what the machine has available, what control groups leave and what `ulimit -v` leaves.

    Args:
        processes: where the proc file system is.
        groups: where control groups are, of version 2 or 1.
    """
    left = [_available(processes), *(limit.left for limit in _of_groups(processes, groups))]
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        pages = int(_read(processes / "self/statm").split()[0])
        left.append(limit - pages * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(left))


def total_bytes(processes: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The least of what the machine has and what control groups and `ulimit -v` allow; see `free_bytes`."""
    most = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    most += [limit.most for limit in _of_groups(processes, groups)]
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return min([*most, limit] if limit != resource.RLIM_INFINITY else most)


class _Limit(NamedTuple):
    """What a control group allows, and what is left of it: bytes."""

    most: int
    left: int


def _available(processes: Path) -> int:
    for line in _read(processes / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _of_groups(processes: Path, groups: Path) -> Iterator[_Limit]:
    """The limits of the control groups of the process, from its own up to the root.

    A container sees its own group as the root, whatever the path is: groups that are not there are passed over.
    """
    for line in _read(processes / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, names = groups, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            base, names = groups / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        own = base / path.lstrip("/")
        for group in (own, *own.parents):
            if group.is_relative_to(base):
                yield from _of_group(group, *names)


def _of_group(group: Path, limit: str, usage: str, cache: str) -> Iterator[_Limit]:
    """Where there is a limit: it, and it less the usage; cached files give way to what is needed."""
    most, used = _read(group / limit).strip(), _read(group / usage).strip()
    if most.isdecimal() and used.isdecimal():
        fields = dict(line.split(" ", 1) for line in _read(group / "memory.stat").splitlines())
        yield _Limit(int(most), int(most) - int(used) + int(fields.get(cache, 0)))


def _read(path: Path) -> str:
    """A file of the system; nothing where there is none."""
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""
