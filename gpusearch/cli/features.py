"""`gpusearch features`: what a translation may be scored with besides the models."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import typer

from gpusearch.cli.options import Overrides


def command(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="List those of a model as well.")
    ] = None,
    overrides: Overrides = None,
) -> None:
    """List the features that are built in: how far they look, their parameters, what a proposal costs.

    With a model also those that it names, its own ones among them (docs/features.md).
    """
    from gpusearch.config import load_config
    from gpusearch.errors import InputError
    from gpusearch.features.builtin import BUILT_IN, COSTS
    from gpusearch.features.load import made_feature

    rows: list[tuple[str, ...]] = [("use", "scope", "parameters", "a proposal costs")]
    for name, kind in sorted(BUILT_IN.items()):
        scope, cost = COSTS[name]
        rows.append((name, scope, _parameters(kind), cost))
    _print(rows)
    if config is None:
        if overrides:
            raise InputError("--set changes a model", expected="-c FILE")
        return
    rows = [("feature", "scope", "values", "weights", "use")]
    model = load_config(config, overrides or [])
    for name, entry in model.features.items():
        named = made_feature(name, entry, model.text)
        values = ", ".join(named.feature.names) or name
        rows.append((name, named.feature.scope.value, values, ", ".join(f"{w:g}" for w in entry.weights), entry.use))
    if len(rows) > 1:
        print()
        _print(rows)


def _parameters(kind: object) -> str:
    """Parameters with their defaults, as the configuration takes them."""
    assert callable(kind)
    given = [
        name if one.default is inspect.Parameter.empty else f"{name} = {one.default!r}"
        for name, one in inspect.signature(kind).parameters.items()
    ]
    return ", ".join(given) or "-"


def _print(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
