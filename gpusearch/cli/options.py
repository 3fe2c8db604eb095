"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
