"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpusearch.errors import InputError

ConfigPath = Annotated[Path, typer.Option("--config", "-c", metavar="FILE", help="The model and its settings (TOML).")]

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="GROUP.KEY=VALUE",
        help="Set a key of the configuration, e.g. --set search.chains=128. May be repeated.",
    ),
]

Seed = Annotated[int, typer.Option(min=0, help="All randomness follows from it.")]

Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads. All cores where not given.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No timing table on standard error.")]


def check_has_use(option: str, given: bool, used: bool, where: str) -> None:
    """Refuse an option that would be ignored.

    Raises:
        InputError: it is given and not used; `where` says what it goes with.
    """
    if given and not used:
        raise InputError(f"{option} would have no effect", expected=where)
