"""Where a search runs, and how many lanes it holds at once."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

import numpy as np

from gpusearch.config.search import SearchConfig
from gpusearch.cores import usable_cores
from gpusearch.errors import InputError
from gpusearch.kernels.records import UNIT_WORDS, Problem, Search
from gpusearch.memory import free_bytes
from gpusearch.model.host_answers import HostAnswers
from gpusearch.model.language_model import LanguageModel
from gpusearch.model.problem import Batch
from gpusearch.search.asking import AskingDriver
from gpusearch.search.driver import CpuDriver, Driver
from gpusearch.search.gibbs_stepwise import GibbsStepwiseDriver
from gpusearch.search.state import lane_bytes, make_state
from gpusearch.search.stepwise import Judge, StepwiseDriver

# Lanes held at once on the CPU: enough for any number of threads, few enough for little memory. A GPU is busy with
# some thousands; more of them make the tail of a batch, where few are left, matter less.
CPU_LANES = 4096
CUDA_LANES = 1 << 16
# Part of the free memory that a batch of lanes may take.
SHARE_OF_MEMORY = 0.5


def resolve_device(wanted: str) -> str:
    """``cpu`` or ``cuda``; ``auto`` is a GPU where there is one.

    Raises:
        InputError: a GPU is asked for and there is none.
    """
    if wanted == "cpu":
        return "cpu"
    if _has_cuda_driver():
        from gpusearch.search.cuda import cuda_available  # imports torch, which takes a second

        if cuda_available():
            return "cuda"
    if wanted == "cuda":
        raise InputError("there is no GPU that can be used", hint="gpusearch doctor says what is missing; --device cpu")
    return "cpu"


@cache
def _has_cuda_driver() -> bool:
    """Whether NVIDIA's driver is installed; without it no library finds a GPU."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def device_of(wanted: str, language_models: Sequence[LanguageModel]) -> str:
    """`resolve_device` for a search with these language models: one that is asked on the host needs the CPU.

    Raises:
        InputError: a GPU is asked for and cannot serve.
    """
    if not HostAnswers(language_models):
        return resolve_device(wanted)
    if wanted == "cuda":
        raise InputError(
            "a language model with backend = kenlm is asked on the host, by a search on the CPU",
            found="device = cuda",
            hint='set backend = "device" (an ARPA file is needed), or --device cpu',
        )
    return "cpu"


def batch_lanes(batch: Batch, config: SearchConfig, values: int) -> int:
    """Lanes that are held at once: at most one for each chain on each unit.

    Raises:
        InputError: not even one lane fits the memory.
    """
    tasks = len(batch.problem.unit) * config.chains
    if tasks == 0:
        return 0
    largest = int(np.argmax(batch.problem.unit[:, UNIT_WORDS]))
    size = lane_bytes(batch.problem, values)
    room = int(free_bytes() * SHARE_OF_MEMORY) // size
    most = CPU_LANES
    if device_of(config.device, batch.options.model.language_models) == "cuda":
        from gpusearch.search.cuda import lanes_that_fit

        room, most = min(room, lanes_that_fit(batch.problem, values)), CUDA_LANES
    if room < 1:
        raise InputError(
            "not enough memory for one chain",
            found=f"{free_bytes() / 2**20:.0f} MiB free",
            expected=f"{size / SHARE_OF_MEMORY / 2**20:.0f} MiB",
            hint=f"{batch.units.name(largest)} is too long: cut it into shorter documents",
        )
    return min(tasks, config.max_lanes or most, room)


def make_driver(
    problem: Problem,
    search: Search,
    lanes: int,
    values: int,
    config: SearchConfig,
    language_models: Sequence[LanguageModel] = (),
    judges: Sequence[Judge] = (),
) -> Driver:
    """A driver with empty lanes, each with room for any unit, for a problem with these language models.

    Args:
        judges: parts of the score that are computed outside kernels, on the CPU.
    """
    nothing = np.zeros(lanes, np.int64)
    state = make_state(problem, nothing, nothing, values)
    if not judges and device_of(config.device, language_models) == "cuda":
        from gpusearch.search.cuda import CudaDriver

        return CudaDriver(problem, search, state, config.speculation)
    threads = config.threads or usable_cores()
    answers = HostAnswers(language_models)
    if judges:
        driver = GibbsStepwiseDriver if search.gibbs else StepwiseDriver
        return driver(problem, search, state, threads, answers, judges)
    if answers:
        return AskingDriver(problem, search, state, threads, answers)
    return CpuDriver(problem, search, state, threads)
