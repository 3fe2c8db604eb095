"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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

_SEED = typer.Option(min=0, help="All randomness follows from it.")
Seed = Annotated[int, _SEED]
SeedOfModel = Annotated[int | None, _SEED]
"""Where not given: what the model's settings say."""

Device = Annotated[str | None, typer.Option(help="auto, cpu or cuda.")]

Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads; all cores where not given.")]

InputFormat = Annotated[str | None, typer.Option(help="text, tsv, jsonl, wmt-xml, mteval or conllu.")]

DocIds = Annotated[Path | None, typer.Option(metavar="FILE", help="Document id of each line of plain text.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No timing table on standard error.")]


def check_has_use(option: str, given: bool, used: bool, where: str) -> None:
    """Refuse an option that would be ignored.

    Raises:
        InputError: it is given and not used; `where` says what it goes with.
    """
    if given and not used:
        raise InputError(f"{option} would have no effect", expected=where)


def given_keys(overrides: Sequence[str] | None, options: Mapping[str, object]) -> dict[str, str]:
    """Keys that are given to a run, as ``search.steps``, and how each was written.

    Args:
        overrides: what ``--set`` was given.
        options: keys of options that have one of their own, and their values; None: not given.
    """
    keys = [override.partition("=")[0].strip() for override in overrides or []]
    given = {key: f"--set {key}" for key in keys}
    named = [key for key, value in options.items() if value is not None]
    return given | {key: f"--{key.rpartition('.')[2].replace('_', '-')}" for key in named}


def check_given(given: Mapping[str, str], uses: Iterable[tuple[tuple[str, ...], bool, str]]) -> None:
    """Refuse settings that were given to a run which does not look at them.

    Args:
        given: see :func:`given_keys`.
        uses: keys, or groups of them; whether the run looks at them; and what they go with. The first that has a key
            counts.

    Raises:
        InputError: names the first such setting, and what it goes with.
    """
    rows = list(uses)
    for key, written in given.items():
        for keys, used, where in rows:
            if any(key == one or key.startswith(f"{one}.") for one in keys):
                check_has_use(written, True, used, where)
                break


def overrides_of(group: str, values: Mapping[str, str | Path | float | None]) -> list[str]:
    """Overrides of a group's keys as `--set` has them; a key whose value is None is left out."""
    return [f"{group}.{key}={_toml(value)}" for key, value in values.items() if value is not None]


def _toml(value: str | Path | float) -> str:
    """A value as TOML; texts stand in quotes, lest a file called 1 be read as a number."""
    if isinstance(value, str | Path):
        return json.dumps(str(value), ensure_ascii=False)
    return str(value).lower()  # True and False are numbers, too
