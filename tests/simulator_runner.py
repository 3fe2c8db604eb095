"""Runs searches in Numba's CUDA simulator: JSON in, hashes as JSON out.

A process of its own, because Numba chooses the simulator when it is first imported:
``NUMBA_ENABLE_CUDASIM=1 python -m tests.simulator_runner < cases.json``.
"""

from __future__ import annotations

import json
import sys

import numba

from gpusearch.search.cuda import CudaDriver
from tests.paths import Case, final_hashes


def main() -> None:
    """Cases are pairs of the arguments of `Case` and the speculation width."""
    if not numba.config.ENABLE_CUDASIM:
        sys.exit("set NUMBA_ENABLE_CUDASIM=1")
    # The simulator's main thread spins while others work: let it not keep the interpreter for long.
    sys.setswitchinterval(1e-5)
    print(json.dumps([_hashes(arguments, speculation) for arguments, speculation in json.load(sys.stdin)]))


def _hashes(arguments: dict, speculation: int) -> list[str]:
    case = Case(**{name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()})
    return final_hashes(
        case, lambda problem, search, state: CudaDriver(problem, search, state, speculation=speculation)
    )


if __name__ == "__main__":
    main()
