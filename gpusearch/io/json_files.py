"""JSON files that are there as a whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gpusearch.errors import InputError
from gpusearch.io.files import read_bytes, replaced


def write_json(path: Path, content: Any) -> None:
    """Write a file, keys in their order."""
    with replaced(path) as stream:
        stream.write((json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Read an object.

    Raises:
        InputError: something else.
    """
    try:
        row = json.loads(read_bytes(path))
    except ValueError as error:
        raise InputError(f"not JSON ({error})", path=path) from None
    if not isinstance(row, dict):
        raise InputError("no JSON object", path=path)
    return row
