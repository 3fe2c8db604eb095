"""Word alignment by the models of SIL Thot, in both directions.

Each direction is a process of its own: the two run side by side where there are two threads, their memory goes back
to the system, and each has one thread, so that the result does not depend on how many there are.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from gpusearch.errors import GpusearchError
from gpusearch.progress import SILENT, Progress
from gpusearch.train.corpus import Array, ParallelCorpus, Side

#: Aligners, and the words of the longest sentences that each can take.
LONGEST_SENTENCE = {"fast_align": 1000, "hmm": 200, "eflomal": 1000}

#: Eflomal's seed has 32 bits.
LARGEST_SEED = 2**32 - 1

_BATCH = 500  # sentence pairs that are aligned at a time
_FAST_ALIGN_ITERATIONS = 5
_HMM_ITERATIONS = (5, 5)  # of IBM model 1 and of the HMM
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


def align(
    corpus: ParallelCorpus,
    folder: Path,
    *,
    aligner: str,
    seed: int = 1,
    threads: int = 1,
    progress: Progress = SILENT,
) -> tuple[Array, Array]:
    """Train a model for each direction and align the text that it was trained on.

    Args:
        corpus: N sentence pairs.
        folder: where the corpus is saved and results may be put.
        aligner: one of :data:`LONGEST_SENTENCE`: fast_align (Dyer et al. 2013), an HMM (Vogel et al. 1996) after IBM
            model 1, or Eflomal (Östling and Tiedemann 2016).
        seed: of Eflomal, which draws samples; the others have no randomness.
        threads: 1: one direction after the other; more: both at once.

    Returns:
        int16[target words], the source place within its sentence of each target word, or -1; and
        int16[source words], likewise.
    """
    directions = [("source", "target"), ("target", "source")]
    jobs = [
        _Job(aligner, seed, folder / given, folder / aligned, folder / f"{given}-of-{aligned}.npy")
        for given, aligned in directions
    ]
    with progress.task("align words") as task:
        for batch in [jobs] if threads > 1 else [[job] for job in jobs]:
            for status in _run(batch):
                task.status(status)
    forward, backward = (np.load(job.result, allow_pickle=False) for job in jobs)
    return forward, backward


class _Job(NamedTuple):
    """Align each word of one side with a word of the given side, or with none."""

    aligner: str
    seed: int
    given: Path
    aligned: Path
    result: Path


def _run(jobs: list[_Job]) -> Iterator[str]:
    """Do each job in a process of its own and yield what they say of their state; all must succeed."""
    context = multiprocessing.get_context("spawn")
    processes = []
    states: dict[Connection, str] = {}
    for job in jobs:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(job, there), daemon=True)
        process.start()
        there.close()
        processes.append(process)
        states[here] = ""
    try:
        running = list(states)
        while running:
            for end in cast(list[Connection], wait(running)):
                try:
                    states[end] = end.recv()
                except EOFError:
                    running.remove(end)
            yield "; ".join(states.values())
        for process in processes:
            process.join()
            if process.exitcode:
                raise GpusearchError(
                    f"word alignment ended early (exit code {process.exitcode}); is there enough memory?"
                )
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _work(job: _Job, report: Connection) -> None:
    """What the process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's: it ends this process
    _end_with_parent()
    os.environ["OMP_NUM_THREADS"] = "1"  # read when the library is loaded
    given, aligned = Side.load(job.given), Side.load(job.aligned)
    model = _trained(job, given, aligned, report)
    places = np.empty(len(aligned.words), np.int16)
    for number, found in enumerate(_alignments(model, job.aligner, given, aligned)):
        places[aligned.offsets[number] : aligned.offsets[number + 1]] = found
        if number % _BATCH == 0:
            report.send(f"aligned {number:,} of {len(aligned):,}")
    np.save(job.result, places - 1)


def _end_with_parent() -> None:
    """Ask Linux to end this process when its parent ends in a way that leaves no time to do so."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def _alignments(model: Any, aligner: str, source: Side, target: Side) -> Iterator[list[int]]:
    """For each sentence pair the source place of each target word, from 1; 0 for none."""
    if aligner == "eflomal":  # the samples that it was trained with have voted
        for number in range(len(source)):
            yield model.get_training_alignment(number)[1].to_list()
        return
    numbers = [
        np.array([0, *(index(str(word)) for word in range(1, len(side.vocabulary) + 1))])
        for side, index in ((source, model.get_src_word_index), (target, model.get_trg_word_index))
    ]
    for begin in range(0, len(target), _BATCH):
        batch = range(begin, min(begin + _BATCH, len(target)))
        found = model.get_best_alignments(
            [numbers[0][source.sentence(number)].tolist() for number in batch],
            [numbers[1][target.sentence(number)].tolist() for number in batch],
        )
        for _, matrix in found:
            yield matrix.to_list()


def _trained(job: _Job, source: Side, target: Side, report: Connection) -> Any:
    """A trained model. Words are given by number, since Thot reserves some (such as NULL)."""
    from thot import alignment as thot

    if job.aligner == "fast_align":
        model = _filled(thot.FastAlignModel(), source, target)
        _train(model, _FAST_ALIGN_ITERATIONS, report)
    elif job.aligner == "hmm":
        simple = _filled(thot.Ibm1AlignmentModel(), source, target)
        _train(simple, _HMM_ITERATIONS[0], report)
        model = thot.HmmAlignmentModel(simple)
        _train(model, _HMM_ITERATIONS[1], report)
    else:
        model = thot.EflomalAlignmentModel()
        model.seed = job.seed
        model.emit_training_alignments = True
        _filled(model, source, target)
        _train(model, None, report)
    return model


def _filled(model: Any, source: Side, target: Side) -> Any:
    names = [str(word) for word in range(max(len(source.vocabulary), len(target.vocabulary)) + 1)]
    for number in range(len(source)):
        model.add_sentence_pair(
            [names[word] for word in source.sentence(number).tolist()],
            [names[word] for word in target.sentence(number).tolist()],
        )
    return model


def _train(model: Any, iterations: int | None, report: Connection) -> None:
    model.start_training()
    # Eflomal settles its number of iterations by the size of the text when training starts.
    total = iterations or model.scheduled_iterations
    for iteration in range(1, total + 1):
        report.send(f"iteration {iteration} of {total}")
        model.train()
    model.end_training()
