"""What the golden hashes are taken of. ``hashes.json`` holds what the CPU found; every device must find the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from tests.feature_forms import ALL
from tests.paths import Case, MakeDriver, final_hashes

FILE = Path(__file__).with_name("hashes.json")

CASES = {
    "document": Case(101, orders=(5,), sentences=(9, 0, 14, 3, 1, 20), chains=8, steps=3000),
    "sentences": Case(102, orders=(3, 2), weights=(1 << 19, -(1 << 17)), sentences=(12, 7, 1, 25), units="sentence",
                      chains=8, steps=2000),
    "rejection limit": Case(103, orders=(4,), sentences=(30, 11), chains=16, steps=1 << 20, max_rejected=400),
    "pauses": Case(104, orders=(3,), sentences=(15, 15), chains=4, steps=1000, pauses=(1, 31, 32, 33, 500)),
    "Gibbs": Case(105, orders=(3, 2), weights=(1 << 19, -(1 << 17)), sentences=(12, 7, 0, 1), chains=4, steps=3000,
                  gibbs="random", scales=(2**-8, 2**-6), pauses=(1, 31)),
    "annealing": Case(106, orders=(4,), sentences=(9, 14, 3, 1, 20), chains=8, steps=3000,
                      temperatures=(256.0, 64.0, 16.0, 4.0, 0.0)),
    "metropolis": Case(107, sentences=(9, 14, 3, 1, 20), chains=8, steps=3000, metropolis=True, temperatures=(100.0,)),
    "tempering": Case(108, orders=(3, 2), weights=(1 << 19, -(1 << 17)), sentences=(7, 1, 0, 12), units="sentence",
                      chains=8, steps=2000, metropolis=True, ladders=True, temperatures=(4.0, 16.0, 64.0, 256.0)),
    "features": Case(109, features=ALL, sentences=(9, 0, 14, 3, 1, 20), chains=8, steps=3000),
}  # fmt: skip


def digest(record: Any) -> str:
    """BLAKE2b-64 of all arrays of a record."""
    whole = blake2b(digest_size=8)

    def add(part: Any) -> None:
        if isinstance(part, tuple):
            for field in part:
                add(field)
        else:
            whole.update(np.ascontiguousarray(part).astype("<i8").tobytes() + b"|")

    add(record)
    return whole.hexdigest()


def _of_case(case: Case, make_driver: MakeDriver) -> dict[str, Any]:
    problem, search, _ = case.problem()
    # The state numbers of an automaton and the columns of features may change without any effect: they are left out.
    tables = digest(problem._replace(language=(), option_open=(), document=())), digest(search)
    return {"problem": tables[0], "search": tables[1], "lanes": final_hashes(case, make_driver)}


#: For each entry how its hashes are found with a given driver.
ENTRIES: dict[str, Callable[[MakeDriver], dict[str, Any]]] = {
    name: lambda make_driver, case=case: _of_case(case, make_driver) for name, case in CASES.items()
}


def stored() -> dict[str, dict[str, Any]]:
    """The golden hashes."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
