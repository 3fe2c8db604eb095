"""Writing a configuration as TOML in which each key is explained."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import tomlkit
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from gpusearch.config.group import Group
from gpusearch.config.models import Config
from gpusearch.config.schema import group_of

_WIDTH = 110


def to_toml(config: Config, *, comments: bool = True, folder: str | Path | None = None) -> str:
    """The configuration as TOML text that `load_config` reads back to an equal one.

    Args:
        comments: write what each key does and its default above it, and the keys without a value as comments.
        folder: where the text will be stored; paths inside it are written relative to it.
    """
    base = Path(folder).absolute() if folder is not None else None
    lines = ["# gpusearch model; paths are relative to this file, scores are natural logarithms."] if comments else []
    _write_group(lines, config, "", comments, base)
    return "\n".join(lines).strip("\n") + "\n"


def _write_group(lines: list[str], group: Group, name: str, comments: bool, base: Path | None) -> None:
    inner: list[tuple[str, Any]] = []
    for key, field in type(group).model_fields.items():
        value = getattr(group, key)
        if isinstance(value, Group) or _is_groups(value):
            inner.append((f"{name}.{key}".lstrip("."), value))
        elif not value and group_of(field.annotation) is not None:
            continue
        else:
            _write_key(lines, key, value, field, comments, base)
    for dotted, value in inner:
        entries = value.items() if isinstance(value, dict) else [("", value)]
        for entry_name, entry in entries:
            header = f"{dotted}.{entry_name}".rstrip(".")
            for one in entry if isinstance(entry, tuple) else (entry,):
                lines.append("")
                lines.append(f"[[{header}]]" if isinstance(entry, tuple) else f"[{header}]")
                _write_group(lines, one, header, comments, base)


def _is_groups(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return bool(members) and all(isinstance(member, Group) for member in members)


def _write_key(lines: list[str], key: str, value: Any, field: FieldInfo, comments: bool, base: Path | None) -> None:
    if comments:
        explained = f"{field.description or key}{_default(field)}"
        lines.extend(textwrap.wrap(explained, _WIDTH, initial_indent="# ", subsequent_indent="#   "))
    if value is None:
        if comments:
            lines.append(f"# {key} =")
    else:
        lines.append(f"{key} = {_render(value, base)}")


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined or field.default is None or field.default == ():
        return ""
    return f" (default: {_render(field.default, None)})"


def _render(value: Any, base: Path | None) -> str:
    if isinstance(value, Path):
        inside = base is not None and value.is_absolute() and value.is_relative_to(base)
        return tomlkit.item((value.relative_to(base) if inside and base else value).as_posix()).as_string()
    if isinstance(value, dict):
        inner = ", ".join(f"{tomlkit.item(str(k)).as_string()} = {_render(v, base)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_render(item, base) for item in value)}]"
    return tomlkit.item(value).as_string()
