"""Reading a configuration: TOML and overrides to models."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gpusearch.config.explain import explain
from gpusearch.config.models import Config
from gpusearch.config.presets import without
from gpusearch.config.schema import Location, dotted, field_at, group_at, is_path
from gpusearch.config.search import SearchConfig
from gpusearch.errors import InputError
from gpusearch.io.files import read_lines


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read `path` (`-`: standard input); then apply overrides such as `search.chains=64`, in their order.

    A value of an override is TOML, or a string without quotes; a repeated group is named by its feature
    (`language_model.LM0.weight=0.3`) or index. Relative paths in the file are resolved against its folder,
    those of overrides against the working folder.

    Raises:
        InputError: unreadable file, TOML that does not parse, unknown key, unusable value, overrides without effect.
    """
    return parse_config("\n".join(read_lines(path)), path=path, overrides=overrides)


def parse_config(text: str, *, path: str | Path = "model.toml", overrides: Sequence[str] = ()) -> Config:
    """`load_config` of a text; errors name `path`, and relative paths start from its folder."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+), column \d+", str(error))
        raise InputError(f"not TOML: {error}", path=path, line=int(place.group(1)) if place else None) from None
    if any(override.partition("=")[0].strip() == "search.preset" for override in overrides):
        data = _without_preset(data)
    overridden = {_override(data, override): override for override in overrides}
    folder = Path(".") if str(path) == "-" else Path(path).parent
    try:
        config = Config.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        raise explain(error, text, path, overridden) from None
    _check_use(config, overridden)
    return config


def with_search(config: Config, settings: Mapping[str, Any]) -> Config:
    """The configuration with other values of keys of its `[search]` group.

    Raises:
        InputError: unknown key, unusable value, one without effect.
    """
    data = config.model_dump()
    if "preset" in settings:
        data = _without_preset(data)
    data["search"].update(settings)
    written: dict[Location, str] = {("search", key): f"search.{key}={value}" for key, value in settings.items()}
    try:
        changed = Config.model_validate(data, context={"folder": Path(".")})
    except ValidationError as error:
        raise explain(error, "", "settings", written) from None
    _check_use(changed, written)
    return changed


def _check_use(config: Config, given: Mapping[Location, str]) -> None:
    """Refuse what is asked for beside a method that does not look at it; a file may carry it for its searches.

    Args:
        given: settings of this call, by their place.
    """
    for key in ("policy", "restarts", "perturbation"):
        asked = getattr(config.search, key) != SearchConfig.model_fields[key].default
        if asked and ("search", key) in given and config.search.method != "search":
            raise InputError(
                f"search.{key} would have no effect",
                found=f'{given["search", key]}, method = "{config.search.method}"',
                expected='method = "search"',
            )


def _without_preset(data: dict[str, Any]) -> dict[str, Any]:
    """What is left where another preset is asked for: files state all values, those that come of a preset, too."""
    search = data.get("search")
    return data | {"search": without(search)} if isinstance(search, dict) else data


def _override(data: dict[str, Any], override: str) -> Location:
    """Put the value of `group.key=value` in its place, and return the place."""
    target, equals, written = override.partition("=")
    keys = [key.strip() for key in target.split(".")]
    if not equals or len(keys) < 2 or not all(keys):
        raise InputError("unusable override", found=repr(override), expected="group.key=value")
    location: list[str | int] = []
    group: Any = data
    for key in keys[:-1]:
        if isinstance(group, dict):
            if location == ["features"] and isinstance(group.get(key), str):  # NAME = "what"
                group[key] = {"use": group[key]}
            group = group.setdefault(key, {})
            location.append(key)
        elif isinstance(group, list):
            index = _index(group, key, location, override)
            group = group[index]
            location.append(index)
        if not isinstance(group, dict | list):
            raise InputError(f"{dotted(tuple(location))} is no group", found=repr(override))
    if isinstance(group, list):
        raise InputError(
            f"{dotted(tuple(location))} is repeated, so the override must say which one",
            found=repr(override),
            expected=f"one of {', '.join(_entry_names(group, location))} before the key",
        )
    place: Location = (*location, keys[-1])
    value, field = _value(written.strip()), field_at(place)
    if field is not None and is_path(field) and isinstance(value, str):
        value = str(Path(value).absolute())
    group[keys[-1]] = value
    return place


def _value(written: str) -> Any:
    try:
        return tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        return written


def _entry_names(entries: Sequence[Any], location: Sequence[str | int]) -> list[str]:
    """Names of the entries of a repeated group, given or by their number."""
    group = group_at(tuple(location))
    stem = (
        str(group.model_fields["name"].default).removesuffix("0")
        if group is not None and "name" in group.model_fields
        else ""
    )
    return [
        str(entry.get("name", f"{stem}{index}")) if isinstance(entry, dict) else str(index)
        for index, entry in enumerate(entries)
    ]


def _index(entries: Sequence[Any], key: str, location: Sequence[str | int], override: str) -> int:
    names = _entry_names(entries, location)
    if key in names:
        return names.index(key)
    if key.isdecimal() and int(key) < len(entries):
        return int(key)
    raise InputError(f"no {location[-1]} is called {key}", found=repr(override), expected=f"one of {', '.join(names)}")
