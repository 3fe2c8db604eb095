"""JSON: values whose faults are told in words of JSON, files that are there as a whole or not at all."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from gpusearch.errors import InputError
from gpusearch.io.files import read_bytes, replaced


def parse_json(text: str | bytes) -> Any:
    """A JSON value.

    Raises:
        ValueError: text that is none (json.JSONDecodeError, UnicodeDecodeError), or that Python cannot hold.
    """
    try:
        return json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError:  # it speaks of a function of Python's
        raise ValueError(f"an integer of more than {sys.get_int_max_str_digits()} digits") from None
    except RecursionError:
        raise ValueError("too deep a nesting") from None


def finite_number(value: object) -> float:
    """A number of JSON, which Python also reads where it is infinite or none.

    Raises:
        TypeError: something else.
        OverflowError: an integer that float64 cannot hold.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no finite number")
    return float(value)


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
        row = parse_json(read_bytes(path))
    except ValueError as error:
        raise InputError(f"not JSON ({error})", path=path) from None
    if not isinstance(row, dict):
        raise InputError("no JSON object", path=path)
    return row
