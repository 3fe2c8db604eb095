"""What a run of the sampler takes of memory and disk, and whether it is there: known before anything is sampled."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.memory import free_bytes


@dataclass(frozen=True)
class Need:
    """What a run takes, in bytes."""

    memory: int
    """Of the chains that run side by side."""
    disk: int
    """Of all samples."""


def of_all(needs: Iterable[Need]) -> Need:
    """What batches take that are sampled one after the other."""
    every = list(needs)
    return Need(max((need.memory for need in every), default=0), sum(need.disk for need in every))


def check_room(need: Need, folder: Path) -> None:
    """See to it that there is room for a run, whose samples go into a folder that may hold some of them already.

    Raises:
        InputError: there is none, in memory or on the disk.
    """
    there = sum(path.stat().st_size for path in folder.glob("unit-*.rounds"))
    for what, wanted, free in (
        ("memory for all chains of a unit", need.memory, free_bytes()),
        ("room on the disk for the samples", need.disk - there, shutil.disk_usage(folder).free),
    ):
        if wanted > free:
            raise InputError(
                f"not enough {what}",
                found=f"{free / 2**20:.0f} MiB free",
                expected=f"{wanted / 2**20:.0f} MiB",
                hint="take fewer chains, fewer iterations, a greater thin, or shorter documents",
            )
