"""Runs searches and the checks of drivers in Numba's CUDA simulator: JSON in, JSON out.

A process of its own, because Numba chooses the simulator when it is first imported:
``NUMBA_ENABLE_CUDASIM=1 python -m tests.simulator_runner < cases.json``.
"""

from __future__ import annotations

import json
import sys
import traceback
from functools import partial

import numba

from gpusearch.search.cuda import CudaDriver
from tests.driver_checks import CHECKS
from tests.known_answers import philox_on_cuda
from tests.paths import Case, final_hashes


def main() -> None:
    """Reads pairs of the arguments of `Case` and the speculation width; writes their hashes, and what checks say."""
    if not numba.config.ENABLE_CUDASIM:
        sys.exit("set NUMBA_ENABLE_CUDASIM=1")
    # The simulator's main thread spins while others work: let it not keep the interpreter for long.
    sys.setswitchinterval(1e-4)
    hashes = [_hashes(arguments, speculation) for arguments, speculation in json.load(sys.stdin)]
    print(json.dumps({"hashes": hashes, "faults": _faults(), "philox": philox_on_cuda()}))


def _hashes(arguments: dict, speculation: int | None) -> list[str]:
    case = Case(**{name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()})
    return final_hashes(case, partial(CudaDriver, speculation=speculation))


def _faults() -> dict[str, str]:
    """For each check of drivers "" or how it failed."""
    faults = {}
    for name, check in CHECKS.items():
        try:
            check(partial(CudaDriver, speculation=4))
        except AssertionError:
            faults[name] = traceback.format_exc()
        else:
            faults[name] = ""
    return faults


if __name__ == "__main__":
    main()
