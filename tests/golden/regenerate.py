"""Write ``hashes.json`` anew: ``python -m tests.golden.regenerate``. Say in the commit why paths have changed."""

from __future__ import annotations

import json

from tests.golden.entries import ENTRIES, FILE
from tests.paths import cpu


def main() -> None:
    found = {name: entry(cpu(1)) for name, entry in ENTRIES.items()}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
