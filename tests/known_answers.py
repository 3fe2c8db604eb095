"""Known answers of Philox4x32-10 (Random123, kat_vectors), and the kernel that asks for them on CUDA."""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpusearch.kernels.philox import philox

#: (counter, key, answer)
PHILOX = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def ask(counter, key, answer):
    """A kernel: one question a thread."""
    row = cuda.grid(1)
    if row < counter.shape[0]:
        words = philox(
            int(counter[row, 0]),
            int(counter[row, 1]),
            int(counter[row, 2]),
            int(counter[row, 3]),
            int(key[row, 0]),
            int(key[row, 1]),
        )
        for place in range(4):
            answer[row, place] = words[place]


def philox_on_cuda() -> list[tuple[int, ...]]:
    """The answers of a GPU, or of the simulator."""
    counter = cuda.to_device(np.array([counter for counter, _, _ in PHILOX], np.int64))
    key = cuda.to_device(np.array([key for _, key, _ in PHILOX], np.int64))
    answer = cuda.to_device(np.zeros((len(PHILOX), 4), np.int64))
    cuda.jit(ask)[1, 4](counter, key, answer)
    return [tuple(row) for row in answer.copy_to_host().tolist()]
