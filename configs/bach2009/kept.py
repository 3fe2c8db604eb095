"""What was computed before: an experiment that was cut off goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from gpusearch.io.files import replaced


def kept(folder: Path, key: Any, make: Callable[[], Any]) -> Any:
    """What `make` returns, a JSON value; from a file of the folder where it has been made for the same key.

    Args:
        key: JSON value of all that the result depends on.
    """
    path = folder / f"{blake2b(json.dumps(key).encode(), digest_size=16).hexdigest()}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    found = make()
    folder.mkdir(parents=True, exist_ok=True)
    with replaced(path) as stream:
        stream.write(json.dumps(found).encode())
    return found
