"""The driver for CUDA: torch owns the memory, Numba's kernels see it without a copy.

A run is a row of launches of about `LAUNCH` seconds each, in which a block of threads works on one lane at a time.
Lanes that rest drop out between launches. Letters as in ``state.py``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
import torch

from gpusearch.kernels.records import (
    LIMIT_PAUSE,
    LIMIT_REJECTED,
    LIMIT_SCORE,
    LIMIT_STEPS,
    RANDOM,
    SENTENCE_WORDS,
    Problem,
    Scratch,
    Search,
    State,
)
from gpusearch.search.driver import Lanes
from gpusearch.search.state import lane_bytes, make_changed, mark_places

Record = TypeVar("Record", bound=tuple[Any, ...])

# Seconds that one launch is to take: short enough for `tick`, long enough to hide what a launch costs.
LAUNCH = 0.05
FIRST_STEPS, MOST_STEPS = 64, 1 << 24
WARP = 32
# Threads of a block at most, where the caller does not choose: more judge mostly what is thrown away.
WIDEST = 256
# Registers of a multiprocessor in each of its four parts, and blocks that it holds at once.
PART_REGISTERS, PARTS, RESIDENT_BLOCKS = 16384, 4, 32
# Fields of a state that kernels only read.
READ_ONLY = ("unit", "chain", "limit")


class Device(NamedTuple):
    """What the shape of a launch depends on."""

    processors: int
    threads: int
    """Resident threads of a multiprocessor, as far as registers go."""


class Shape(NamedTuple):
    """Blocks and threads of each block."""

    blocks: int
    threads: int


def cuda_available() -> bool:
    """Whether searches can run on a GPU here: torch sees one and numba-cuda is installed."""
    if not torch.cuda.is_available():
        return False
    try:
        from numba import cuda
    except ImportError:
        return False
    return bool(cuda.is_available())


def resident_threads(registers: int) -> int:
    """Threads that a multiprocessor holds at once when each needs so many registers (compute capability 9.0)."""
    of_warp = -(-registers // 8) * 8 * WARP
    return min(PART_REGISTERS // of_warp, 16) * PARTS * WARP


def launch_shape(lanes: int, device: Device, speculation: int | None = None) -> Shape:
    """Blocks and their width for so many lanes.

    The width, proposals judged at once, is `speculation`; where it is None, one warp, and twice as much as long as
    all lanes are resident at that width. Lanes beyond the resident blocks are spread evenly over them.
    """

    def resident_blocks(width: int) -> int:
        threads = -(-width // WARP) * WARP
        return device.processors * min(RESIDENT_BLOCKS, device.threads // threads)

    widest = min(1024, device.threads)
    width = min(speculation or WARP, widest)
    while speculation is None and width * 2 <= min(WIDEST, widest) and resident_blocks(width * 2) >= lanes:
        width *= 2
    rounds = -(-lanes // resident_blocks(width))
    return Shape(-(-lanes // max(rounds, 1)), width)


def lanes_that_fit(problem: Problem, values: int, free: int | None = None) -> int:
    """How many lanes fit beside the problem into `free` bytes (by default nine tenths of the GPU's free memory).

    Each has room for any unit, as in `make_state`; `values` is K.
    """
    if free is None:
        free = torch.cuda.mem_get_info()[0] * 9 // 10
        threads = torch.cuda.get_device_properties(0).multi_processor_count * resident_threads(128)
        free -= _bytes(problem) + threads * _scratch_bytes(problem)
    return max(0, free // lane_bytes(problem, values))


class CudaDriver:
    """Lanes on a GPU, a block of threads each. The path of a lane does not depend on the shape of the launches.

    Args:
        problem, search: copied to the device.
        state: arrays on the host; each call takes the rows of its lanes to the device and back.
        speculation: proposals of a lane judged at once; chosen from the number of lanes where None.
        registers: most that a thread of `run` gets; see `gpusearch.kernels.target.cuda_driver`.

    In Numba's simulator (NUMBA_ENABLE_CUDASIM) it works on the host.
    """

    name = "cuda"

    def __init__(
        self,
        problem: Problem,
        search: Search,
        state: State,
        speculation: int | None = None,
        *,
        registers: int | None = None,
    ) -> None:
        from numba import cuda

        from gpusearch.kernels import cuda as kernels

        self.problem, self.search, self.state = problem, search, state
        self._simulated = bool(numba.config.ENABLE_CUDASIM)
        self._torch_device = torch.device("cpu" if self._simulated else "cuda")
        if not self._simulated:
            cuda.select_device(torch.cuda.current_device())
        self._speculation = speculation
        self._start, self._refresh = kernels.compiled(kernels.start_lanes), kernels.compiled(kernels.refresh_lanes)
        run_lanes = kernels.run_lanes
        if search.gibbs:
            from gpusearch.kernels.gibbs_cuda import sample_lanes

            run_lanes = sample_lanes
        self._run = kernels.compiled(run_lanes, registers)
        self._tensors = State(*(torch.zeros_like(_tensor(field), device=self._torch_device) for field in state))
        self._constant = self._visible(self._copied(problem)), self._visible(self._copied(search))
        self._record = self._visible(self._tensors)
        self._device, self._scratch = self._prepare()
        self._steps = FIRST_STEPS

    def start(self, lanes: Lanes) -> None:
        """Put random monotone translations into lanes."""
        self._each(self._start, lanes)

    def refresh(self, lanes: Lanes) -> None:
        """Recompute scores and LM states of lanes from their phrases."""
        self._each(self._refresh, lanes)

    def run(self, lanes: Lanes, tick: Callable[[], None], enough: int | None = None) -> None:
        """Run lanes until each rests, or `enough` of them; `tick` is called between launches."""
        most_left = 0 if enough is None else len(lanes) - enough
        rows = self._send(lanes)
        try:
            waiting = self._not_resting(rows)
            while len(waiting) > most_left:
                begin = time.perf_counter()
                shape = launch_shape(len(waiting), self._device, self._speculation)
                self._launch(self._run, shape, waiting, self._steps)
                waiting = self._not_resting(waiting)  # waits for the kernel
                self._adapt(time.perf_counter() - begin)
                tick()
        finally:
            self._fetch(lanes, rows)

    def close(self) -> None:
        """Give the device's memory back."""
        del self._tensors, self._constant, self._record, self._scratch
        if not self._simulated:
            torch.cuda.empty_cache()

    def _each(self, kernel: Any, lanes: Lanes) -> None:
        """Launch a kernel that gives each lane one thread."""
        rows = self._send(lanes)
        if len(rows):
            threads = WARP if not self._simulated else 1
            blocks = min(-(-len(rows) // threads), self._device.processors * self._device.threads // threads)
            self._launch(kernel, Shape(blocks, threads), rows)
        self._fetch(lanes, rows)

    def _launch(self, kernel: Any, shape: Shape, rows: torch.Tensor, *rest: int) -> None:
        with warnings.catch_warnings():
            # Few lanes, few blocks: nothing that the user could change.
            warnings.filterwarnings("ignore", message=".*Grid size")  # the message begins with a colour
            configured = kernel[shape.blocks, shape.threads]
        configured(*self._constant, self._record, self._scratch, self._visible(rows), *rest)

    def _prepare(self) -> tuple[Device, Scratch]:
        """Compile the main kernel, learn how many of its threads are resident, and give each its work space."""
        if self._simulated:
            device = Device(processors=2, threads=128)
        else:
            self._scratch = self._work_space(1)
            self._launch(self._run, Shape(1, 1), torch.zeros(0, dtype=torch.int64, device=self._torch_device), 0)
            registers = max(self._run.get_regs_per_thread().values())
            properties = torch.cuda.get_device_properties(self._torch_device)
            device = Device(properties.multi_processor_count, resident_threads(registers))
        return device, self._work_space(device.processors * device.threads)

    def _work_space(self, threads: int) -> Scratch:
        """Work space of so many threads: a row each, but no memo, which they would have to share."""
        words = int(self.problem.sentence[:, SENTENCE_WORDS].max(initial=0)) + 1
        models = self.problem.language.info.shape[0]

        def zeros(dtype: torch.dtype, *shape: int) -> torch.Tensor:
            return torch.zeros(shape, dtype=dtype, device=self._torch_device)

        return self._visible(
            Scratch(
                option=zeros(torch.int32, threads, words),
                origin=zeros(torch.int32, threads, words),
                covers=zeros(torch.int32, threads, words),
                mark=zeros(torch.int32, threads, mark_places(self.problem)),
                random=zeros(torch.int64, RANDOM),  # each thread has its own in local memory
                memo_key=zeros(torch.int64, models, 1),
                memo_value=zeros(torch.int64, models, 1),
                changed=self._copied(make_changed(self.problem, threads, sweeps=bool(self.search.sweep))),
            )
        )

    def _send(self, lanes: Lanes) -> torch.Tensor:
        """Rows of the host's state to the device; returns their numbers there."""
        lanes = np.asarray(lanes, np.int64)
        rows = torch.from_numpy(lanes.copy()).to(self._torch_device)
        for field, tensor in zip(self.state, self._tensors, strict=True):
            tensor.index_copy_(0, rows, _tensor(field[lanes]).to(self._torch_device))
        return rows

    def _fetch(self, lanes: Lanes, rows: torch.Tensor) -> None:
        """Rows of the device's state to the host."""
        for name, field, tensor in zip(State._fields, self.state, self._tensors, strict=True):
            if name not in READ_ONLY:
                field[lanes] = tensor.index_select(0, rows).cpu().numpy()

    def _not_resting(self, rows: torch.Tensor) -> torch.Tensor:
        """Those of some lanes that go on: `gpusearch.kernels.step.resting` for all at once."""
        state = self._tensors
        limit, step = state.limit[rows], state.step[rows]
        rests = (
            (step >= limit[:, LIMIT_STEPS])
            | (step >= limit[:, LIMIT_PAUSE])
            | (state.rejected[rows] >= limit[:, LIMIT_REJECTED])
            | (state.score[rows] >= limit[:, LIMIT_SCORE])
        )
        return rows[~rests]

    def _adapt(self, seconds: float) -> None:
        """Let the next launch take `LAUNCH` seconds."""
        factor = min(max(LAUNCH / max(seconds, 1e-9), 0.25), 4.0)
        self._steps = int(min(max(self._steps * factor, 1), MOST_STEPS))

    def _copied(self, record: Record) -> Record:
        """A record of arrays as one of tensors on the device."""
        return _map(lambda array: _tensor(array).to(self._torch_device), record)

    def _visible(self, record: Any) -> Any:
        """Tensors as kernels take them, without a copy."""
        if self._simulated:
            return _map(lambda tensor: tensor.numpy(), record)
        from numba import cuda

        return _map(cuda.as_cuda_array, record)


def _map(function: Callable[[Any], Any], record: Any) -> Any:
    """Apply a function to each array of a record, or to a lone array."""
    if isinstance(record, tuple):
        return type(record)(*(_map(function, field) for field in record))
    return function(record)


def _tensor(array: Any) -> torch.Tensor:
    """An array as a tensor; the memory is shared where it may be written to."""
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def _bytes(record: Any) -> int:
    return sum(_bytes(field) for field in record) if isinstance(record, tuple) else int(record.nbytes)


def _scratch_bytes(problem: Problem) -> int:
    """Work space of one thread."""
    words = int(problem.sentence[:, SENTENCE_WORDS].max(initial=0)) + 1
    return _bytes(make_changed(problem)) + 12 * words + 4 * mark_places(problem)
