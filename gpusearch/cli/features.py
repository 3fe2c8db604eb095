"""`gpusearch features`: what a translation may be scored with besides the models."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpusearch.cli.options import Overrides, check_has_use
from gpusearch.table import aligned

if TYPE_CHECKING:
    from gpusearch.features.protocol import Feature


def command(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="List those of a model as well.")
    ] = None,
    overrides: Overrides = None,
) -> None:
    """List the features that are built in: how far they look, their parameters, what a proposal costs.

    With a model also those that it names, its own ones among them (docs/features.md), with their form.
    """
    from gpusearch.config import load_config
    from gpusearch.features.builtin import BUILT_IN, COSTS
    from gpusearch.features.load import made_feature
    from gpusearch.user_code import find

    check_has_use("--set", bool(overrides), config is not None, "--config")
    rows: list[tuple[str, ...]] = [("use", "scope", "parameters", "a proposal costs")]
    for name, kind in sorted(BUILT_IN.items()):
        scope, cost = COSTS[name]
        rows.append((name, scope, _parameters(kind), cost))
    print("\n".join(aligned(rows, "<<<<")))
    if config is None:
        return
    rows = [("feature", "scope", "values", "weights", "use", "form", "parameters", "a proposal costs")]
    model = load_config(config, overrides or [])
    for name, entry in model.features.items():
        named = made_feature(name, entry, model.text)
        values, weights = ", ".join(named.feature.names) or name, ", ".join(f"{w:g}" for w in entry.weights)
        kind = find(entry.use) if named.own else BUILT_IN[entry.use]
        form, cost = _form(named.feature) if named.own else ("built in", COSTS[entry.use][1])
        parameters = _parameters(kind) if callable(kind) else "-"
        rows.append((name, named.feature.scope.value, values, weights, entry.use, form, parameters, cost))
    if len(rows) > 1:
        print("", *aligned(rows, "<<<<<<<<"), sep="\n")


def _form(feature: Feature) -> tuple[str, str]:
    """How a user's feature is written, and what that says of its cost."""
    from gpusearch.features.user import BatchFeature

    if not isinstance(feature, BatchFeature):
        return "compiled", "its delta, in kernels"
    return "Python", f"its {'delta' if feature.has('delta') else 'full'}, on the host"


def _parameters(kind: object) -> str:
    """Parameters with their defaults, as the configuration takes them."""
    assert callable(kind)
    given = [
        name if one.default is inspect.Parameter.empty else f"{name} = {one.default!r}"
        for name, one in inspect.signature(kind).parameters.items()
    ]
    return ", ".join(given) or "-"
