"""The tensors that a search writes: allocation, sizes, and the hash that tells equal states.

Letters: ``L`` lanes (a lane is one chain on one unit), ``P`` phrase slots, ``S`` sentences, ``W`` word places, ``M``
language models, ``K`` feature values. Here they are numpy arrays on the host; the driver for CUDA takes their rows to
torch tensors on the GPU and back. So a search on the CPU does not import torch, which takes more than a second.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from gpusearch.kernels.philox import BUFFER
from gpusearch.kernels.records import (
    AHEAD,
    DOCUMENT_COUNTS,
    DOCUMENT_MARKS,
    DOCUMENT_MOST,
    DOCUMENT_SUMS,
    DOCUMENT_WORK,
    LIMITS,
    OPERATIONS,
    PLACES,
    RANDOM,
    SENTENCE_OPTION,
    SENTENCE_SLOT,
    SENTENCE_WORDS,
    STAGES,
    UNIT_FIRST_SENTENCE,
    UNIT_PLACES,
    UNIT_SENTENCES,
    UNIT_WORDS,
    Ahead,
    Changed,
    Problem,
    Scratch,
    State,
)

# Entries of the memo of LM look-ups: so many a source word of the largest unit, within these bounds. A chain asks again
# what it asked lately: of one sentence, 4096 questions are most; of a document of 1,755 words, 65,536 (1 MB) make
# half as many proposals a second again as 1024.
MEMO_PER_WORD, LEAST_MEMO, MOST_MEMO = 32, 1 << 12, 1 << 16
UNLIMITED = np.iinfo(np.int64).max


def make_state(problem: Problem, units: NDArray[np.integer], chains: NDArray[np.integer], values: int) -> State:
    """Zeroed lanes, one for each pair of a unit (int[L]) and a chain number (int[L]); K = `values` feature values.

    Each has room for any unit of the problem.
    """
    lanes = len(units)
    models = problem.language.info.shape[0]
    slots, places, sentences = _room(problem)
    counts, sums = _document_room(problem)

    def zeros(dtype: type[np.integer], *shape: int) -> NDArray:
        return np.zeros((lanes, *shape), dtype)

    state = State(
        unit=np.array(units, np.int32),
        chain=np.array(chains, np.int64),
        option=np.full((lanes, slots), -1, np.int32),
        place=zeros(np.int32, slots),
        length=zeros(np.int32, sentences),
        lm_value=zeros(np.int32, models, places),
        lm_state=zeros(np.int32, models, places),
        covers=zeros(np.int32, slots),
        worth=zeros(np.int64, slots),
        slack=zeros(np.int64, slots),
        feature=zeros(np.int64, values),
        score=zeros(np.int64),
        step=zeros(np.int64),
        rejected=zeros(np.int64),
        tally=zeros(np.int64, OPERATIONS, STAGES),
        limit=zeros(np.int64, LIMITS),
        count=zeros(np.int32, counts),
        sum=zeros(np.int64, sums),
    )
    state.limit[:] = UNLIMITED
    return state


def lane_bytes(problem: Problem, values: int) -> int:
    """Memory of one lane of `make_state`."""
    slots, places, sentences = _room(problem)
    models = problem.language.info.shape[0]
    counts, sums = _document_room(problem)
    fixed = 8 * (values + LIMITS + OPERATIONS * STAGES + 5 + sums) + 4 * counts
    return slots * (4 + 4 + 4 + 8 + 8) + places * models * 8 + sentences * 4 + fixed


def _room(problem: Problem) -> tuple[int, int, int]:
    """Slots, word places and sentences that any unit needs: the largest of each need not be of the same unit."""
    unit = problem.unit
    slots = unit[:, UNIT_WORDS] + unit[:, UNIT_SENTENCES]
    places, sentences = unit[:, UNIT_PLACES], unit[:, UNIT_SENTENCES]
    return int(slots.max(initial=1)), int(places.max(initial=1)), int(sentences.max(initial=1))


def _document_room(problem: Problem) -> tuple[int, int]:
    """Columns of `State.count` and `State.sum`; one, which nothing reads, where there are no document features."""
    if not problem.document:
        return 1, 1
    number = problem.document.number
    return max(1, int(number[DOCUMENT_COUNTS])), max(1, int(number[DOCUMENT_SUMS]))


def make_changed(problem: Problem, *threads: int, sweeps: bool = True) -> Changed | tuple[()]:
    """Room for what a proposal changes of the counts, and for the ceilings of sweeps; for so many threads, each with a
    row."""
    if not problem.document:
        return ()
    tables, most = len(problem.document.table), max(1, int(problem.document.number[DOCUMENT_MOST]))
    rows = (*threads, max(1, tables))
    work = np.zeros((*threads, max(1, int(problem.document.number[DOCUMENT_WORK]))), np.int32)
    item, by, turn = (np.zeros((*rows, most), np.int32) for _ in range(3))
    options = int(np.diff(problem.span).max(initial=1)) if sweeps else 1
    open_places, ceiling = (np.zeros((*threads, PLACES, columns), np.int64) for columns in (2, options))
    return Changed(np.zeros(rows, np.int64), item, by, turn, work, open_places, ceiling)


def mark_places(problem: Problem) -> int:
    """Places of `Scratch.mark`."""
    words = int(problem.sentence[:, SENTENCE_WORDS].max(initial=0)) + 1
    return max(words, int(problem.document.number[DOCUMENT_MARKS])) if problem.document else words


def make_scratch(problem: Problem, memo: int | None = None) -> Scratch:
    """Work space of one thread; `memo` entries for each language model (a power of two; 1: no memo;
    by default as many as suit the largest unit)."""
    words = int(problem.sentence[:, SENTENCE_WORDS].max(initial=0)) + 1
    models = problem.language.info.shape[0]
    if memo is None:
        wanted = MEMO_PER_WORD * int(problem.unit[:, UNIT_WORDS].max(initial=1))
        memo = min(max(1 << (wanted - 1).bit_length(), LEAST_MEMO), MOST_MEMO)
    return Scratch(
        option=np.zeros(words, np.int32),
        origin=np.zeros(words, np.int32),
        covers=np.zeros(words, np.int32),
        mark=np.zeros(mark_places(problem), np.int32),
        random=np.zeros(RANDOM, np.int64),
        memo_key=np.full((models, memo), -1, np.int64),
        memo_value=np.zeros((models, memo), np.int64),
        question=np.full(3, -1, np.int64) if problem.host else (),
        ahead=Ahead(np.full(4, -1, np.int64), np.zeros((BUFFER, AHEAD), np.int64)),
        changed=make_changed(problem),
    )


def lane_hash(problem: Problem, state: State, lane: int) -> str:
    """BLAKE2b-64 of what a chain has become: phrases (numbered within their sentence), sums and counters.

    It does not depend on the batch: equal for a unit alone and among others, for any padding and device.
    """
    digest = blake2b(digest_size=8)
    unit = int(state.unit[lane])
    first = int(problem.unit[unit, UNIT_FIRST_SENTENCE])
    for local in range(int(problem.unit[unit, UNIT_SENTENCES])):
        row = problem.sentence[first + local]
        slots = int(row[SENTENCE_SLOT])
        options = state.option[lane, slots : slots + int(state.length[lane, local])]
        digest.update((options - row[SENTENCE_OPTION]).astype("<i8").tobytes() + b"|")
    sums = (state.feature[lane], state.score[lane], state.step[lane], state.rejected[lane], state.tally[lane])
    for values in sums:
        digest.update(np.asarray(values).astype("<i8").tobytes())
    return digest.hexdigest()
