"""Presets of the search: values for several keys at once, chosen by measurement (profiling/README.md)."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    # The defaults of all keys that the others set.
    "fast": {"chains": 64, "final_sweep": False},
    "best": {"chains": 256, "final_sweep": True},
}
# Proposals a chain and source word where sentences are the units.
PROPOSALS_PER_WORD = {"fast": 15.0, "best": 30.0}
# Where documents are, with either preset.
OF_DOCUMENTS = 100.0


def fill(search: dict[str, Any]) -> dict[str, Any]:
    """A `[search]` group with the values of its preset for all keys that it does not have."""
    preset = PRESETS.get(search.get("preset", "fast"), {})
    if search.get("compat") == "docent":  # which has nothing of the kind
        preset = preset | {"recombine": "best-chain"}
    return _beneath(preset, search)


def without(search: dict[str, Any]) -> dict[str, Any]:
    """A `[search]` group without the values that its preset has given to it, nor the name of it."""
    preset = PRESETS.get(search.get("preset", "fast"), {})
    return {key: value for key, value in _rest(preset, search).items() if key != "preset"}


def _beneath(lower: dict[str, Any], upper: dict[str, Any]) -> dict[str, Any]:
    both = dict(upper)
    for key, value in lower.items():
        if isinstance(value, dict) and isinstance(both.get(key), dict):
            both[key] = _beneath(value, both[key])
        else:
            both.setdefault(key, value)
    return both


def _rest(lower: dict[str, Any], upper: dict[str, Any]) -> dict[str, Any]:
    rest = {}
    for key, value in upper.items():
        if isinstance(value, dict) and isinstance(lower.get(key), dict):
            rest[key] = _rest(lower[key], value)
        elif key not in lower or value != lower[key]:
            rest[key] = value
    return rest
