"""What the CUDA kernels take of a multiprocessor: registers, local memory, spills, from ptxas and without a GPU.

``python -m profiling.registers`` writes the table in ``kernels/README.md`` anew. numba-cuda[cu13] brings the compiler.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from gpusearch.kernels.records import RANDOM, Docent, Scratch
from gpusearch.kernels.sweep import sweep as make_sweep
from gpusearch.search.cuda import resident_threads
from gpusearch.search.gibbs import make_gibbs
from gpusearch.search.hastings import make_hastings
from gpusearch.search.state import make_changed, make_state
from gpusearch.search.temperature import temperature_levels
from tests.random_features import with_features
from tests.random_language import random_language
from tests.random_problem import random_problem

CAPABILITY = (9, 0)
README = Path(__file__).resolve().parent.parent / "kernels" / "README.md"
BEGIN, END = "<!-- registers: begin -->", "<!-- registers: end -->"
# Limits on registers that are worth knowing: 16, 20 and 24 resident warps.
LIMITS = (None, 128, 96, 80)


class Usage(NamedTuple):
    """What ptxas says of a kernel: registers a thread, bytes a thread, bytes a block."""

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    shared: int


def ptxas() -> Path | None:
    """The assembler of CUDA 13 in the Python environment."""
    spec = find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return next((path for folder in folders if (path := Path(folder, "cu13", "bin", "ptxas")).exists()), None)


@contextmanager
def _device_of(capability: tuple[int, int]) -> Iterator[None]:
    """Nested device functions ask the driver for the compute capability; there may be none."""
    from numba.cuda import dispatcher

    class Device:
        compute_capability = capability

    real = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: Device
    try:
        yield
    finally:
        dispatcher.get_current_device = real


def signatures(
    *,
    docent: bool = False,
    gibbs: bool = False,
    sweep: bool = False,
    metropolis: bool = False,
    reordering: int = 0,
    features: Sequence[str] = (),
) -> dict[Callable[..., None], tuple[Any, ...]]:
    """Numba's types of the arguments of every kernel, as `CudaDriver` calls them; for Docent's proposals or ours.

    Args:
        gibbs: of the kernel of the Gibbs sampler instead.
        sweep: of kernels that look at all neighbours.
        metropolis: of thresholds with a temperature and the ratio of the draw and its inverse.
        reordering: number of lexicalised reordering models; whether there is one makes another kernel.
        features: of the document, as `tests.random_features` writes them.
    """
    from gpusearch.kernels import cuda as kernels
    from gpusearch.kernels import gibbs_cuda

    problem, search, values = random_problem(0, random_language(0), sentences=(2,), reordering=reordering)
    if features:
        problem, more = with_features(problem, features)
        values += more
    if docent:
        search = search._replace(docent=Docent(np.zeros(1, np.int64)))
    if gibbs:
        search = search._replace(gibbs=make_gibbs(3, [1.0]))
    if sweep:
        search = search._replace(sweep=make_sweep())
    if metropolis:
        search = search._replace(temperature=temperature_levels([1.0]), hastings=make_hastings(problem, search))
    state = make_state(problem, np.zeros(1, int), np.zeros(1, int), values)
    row = np.zeros((1, 1), np.int32)
    scratch = Scratch(row, row, row, row, np.zeros(RANDOM, np.int64), *(np.zeros((1, 1), np.int64) for _ in range(2)))
    scratch = scratch._replace(changed=make_changed(problem, 1))
    records = tuple(_type(record) for record in (problem, search, state, scratch, np.zeros(1, np.int64)))
    if gibbs:
        return {gibbs_cuda.sample_lanes: (*records, types.int64)}
    return {
        kernels.start_lanes: records,
        kernels.refresh_lanes: records,
        kernels.run_lanes: (*records, types.int64),
    }


def _type(record: Any) -> Any:
    if isinstance(record, tuple):
        fields = tuple(_type(field) for field in record)
        return types.BaseTuple.from_types(fields, type(record) if hasattr(record, "_fields") else None)
    return types.Array(numba.from_dtype(record.dtype), record.ndim, "C")


def compile_to_ptx(**variant: Any) -> dict[str, str]:
    """The PTX of every kernel for sm_90, by its name; see `signatures`."""
    from numba import cuda

    with _device_of(CAPABILITY):
        return {
            kernel.__name__: cuda.compile_ptx(kernel, signature, cc=CAPABILITY)[0]
            for kernel, signature in signatures(**variant).items()
        }


def usage(ptx: str, limit: int | None = None) -> Usage:
    """Assemble a kernel for sm_90, with at most `limit` registers."""
    assembler = ptxas()
    if assembler is None:
        raise FileNotFoundError("no ptxas: pip install 'numba-cuda[cu13]'")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx, encoding="utf-8")
        command = [str(assembler), "-v", "-arch=sm_90", str(source), "-o", str(Path(folder, "kernel.cubin"))]
        said = subprocess.run(
            command + ([f"-maxrregcount={limit}"] if limit else []), capture_output=True, text=True, check=True
        ).stderr

    def number(pattern: str) -> int:
        found = re.search(pattern, said)
        return int(found[1]) if found else 0

    return Usage(
        number(r"Used (\d+) registers"),
        number(r"(\d+) bytes stack frame"),
        number(r"(\d+) bytes spill stores"),
        number(r"(\d+) bytes spill loads"),
        number(r"(\d+) bytes smem"),
    )


def table() -> str:
    """A row for each kernel, and for limits on the registers of the main one."""
    lines = [
        "| kernel | registers | warps a multiprocessor | local memory | spills: stores, loads | shared | PTX lines |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, ptx in (compile_to_ptx() | compile_to_ptx(gibbs=True)).items():
        for limit in LIMITS if name == "run_lanes" else (None,):
            found = usage(ptx, limit)
            title = f"`{name}`" + (f", at most {limit}" if limit else "")
            lines.append(
                f"| {title} | {found.registers} | {resident_threads(found.registers) // 32} | {found.stack} "
                f"| {found.spill_stores}, {found.spill_loads} | {found.shared} | {ptx.count(chr(10)):,} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Write the table between its marks."""
    text = README.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{README} lacks the marks of the table")
    before, rest = text.split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
