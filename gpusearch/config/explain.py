"""From pydantic's list of faults to one error with file, line and the nearest known names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gpusearch.config.schema import Location, all_keys, dotted, field_at, group_at
from gpusearch.errors import InputError

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_.\"-]+)\s*=")


def explain(error: ValidationError, text: str, path: str | Path, overridden: dict[Location, str]) -> InputError:
    """The first fault, in the order of the file, as an InputError; `overridden`: --set by place."""
    lines = _line_numbers(text)
    details = error.errors()
    places = [tuple(fault["loc"]) for fault in details]
    # A list that lost an entry to a fault inside it is reported as too short as well: keep the fault itself.
    causes = [
        fault
        for fault, place in zip(details, places, strict=True)
        if not any(len(other) > len(place) and other[: len(place)] == place for other in places)
    ]
    fault = min(causes, key=lambda cause: _line(lines, cause["loc"]) or 0)
    location: Location = tuple(fault["loc"])
    name = dotted(location)
    where: dict[str, Any] = {"path": path, "line": _line(lines, location)}
    for place, override in overridden.items():
        shared = min(len(place), len(location))
        if place[:shared] == location[:shared]:
            where, name = {}, f"{name} (--set {override})"
    if fault["type"] == "extra_forbidden":
        return InputError(f"unknown key {name}", hint=_nearest(location), **where)
    if fault["type"] == "missing":
        return InputError(f"missing key {name}", expected=_described(location), **where)
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "value_error":
        return InputError(f"{name}: {message}" if name else message, **where)
    if fault["type"] == "string_pattern_mismatch":
        message = _described(location) or message
    for lead in ("Input should be ", "Input should "):
        message = message.removeprefix(lead)
    return InputError(f"unusable {name}", found=repr(fault["input"]), expected=message, **where)


def _line(lines: dict[Location, int], location: Iterable[str | int]) -> int | None:
    """Line of the key at `location`, or of the nearest group around it."""
    place = tuple(location)
    while place:
        if place in lines:
            return lines[place]
        place = place[:-1]
    return None


def _line_numbers(text: str) -> dict[Location, int]:
    """Line of each key and group header; the text is known to parse, so that a scan for both is enough."""
    lines: dict[Location, int] = {}
    group: Location = ()
    counts: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            name = header.group(2)
            group = tuple(part.strip().strip('"') for part in name.split("."))
            lines.setdefault(group, number)
            if header.group(1) == "[[":
                group = (*group, counts.get(name, 0))
                counts[name] = counts.get(name, 0) + 1
            lines.setdefault(group, number)
        elif key := _KEY.match(line):
            lines.setdefault((*group, *(part.strip('"') for part in key.group(1).split("."))), number)
    return lines


def _described(location: Location) -> str | None:
    field = field_at(location)
    return field.description if field is not None else None


def _nearest(location: Location) -> str:
    """A hint: the same key in other groups, then those of its group that are spelt alike, or all of them."""
    key = str(location[-1])
    group = group_at(location[:-1])
    siblings = list(group.model_fields) if group is not None else []
    near = difflib.get_close_matches(key, siblings, n=3, cutoff=0.5)
    elsewhere = [dotted for dotted in all_keys() if dotted.rpartition(".")[2] == key]
    if near or elsewhere:
        return f"nearest known: {', '.join([*elsewhere, *near])}"
    return f"known here: {', '.join(siblings)}"
