"""Questions about the structure of the configuration: what group, field or keys stand where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from gpusearch.config.group import Group
from gpusearch.config.models import Config

#: Where a value stands: keys of groups, and indices of their repeated ones.
Location = tuple[str | int, ...]


def dotted(location: Location) -> str:
    """`phrase_table[0].path` for ("phrase_table", 0, "path")."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in location).lstrip(".")


def group_of(annotation: Any) -> type[Group] | None:
    """The group inside an annotation such as `tuple[PhraseTableConfig, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, Group):
        return annotation
    inner = (group_of(argument) for argument in getattr(annotation, "__args__", ()))
    return next((group for group in inner if group is not None), None)


def group_at(location: Location) -> type[Group] | None:
    """The group that stands at `location`; indices and names of features are passed over."""
    group: type[Group] | None = Config
    for key in location:
        if isinstance(key, str) and group is not None and key in group.model_fields:
            group = group_of(group.model_fields[key].annotation)
    return group


def field_at(location: Location) -> FieldInfo | None:
    """The field that stands at `location`, if there is such a key."""
    group = group_at(location[:-1])
    return group.model_fields.get(str(location[-1])) if group is not None else None


def is_path(field: FieldInfo) -> bool:
    """Whether the field holds a path."""
    pending = [field.annotation]
    while pending:
        annotation: Any = pending.pop()
        if annotation is Path:
            return True
        pending.extend(getattr(annotation, "__args__", ()))
    return False


def all_keys(group: type[Group] = Config, prefix: str = "") -> list[str]:
    """Every key of a group and of those inside it, dotted."""
    keys = []
    for name, field in group.model_fields.items():
        keys.append(f"{prefix}{name}")
        inner = group_of(field.annotation)
        if inner is not None:
            keys.extend(all_keys(inner, f"{prefix}{name}."))
    return keys
