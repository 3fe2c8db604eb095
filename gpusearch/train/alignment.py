"""Word alignment by the models of SIL Thot, in both directions.

Each direction is a process of its own: the two run side by side where there are two threads, their memory goes back
to the system, and each has one thread, so that the result does not depend on how many there are.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from gpusearch.errors import GpusearchError
from gpusearch.progress import SILENT, Progress
from gpusearch.train.corpus import Array, ParallelCorpus, Side

ALIGNERS = ("fast_align", "hmm", "eflomal")

_BATCH = 500  # sentence pairs that are aligned at a time
_FAST_ALIGN_ITERATIONS = 5
_HMM_ITERATIONS = (5, 5)  # of IBM model 1 and of the HMM


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
        aligner: one of :data:`ALIGNERS`: fast_align (Dyer et al. 2013), an HMM (Vogel et al. 1996) after IBM
            model 1, or Eflomal (Östling and Tiedemann 2016).
        seed: of Eflomal, which draws samples; the others have no randomness.
        threads: 1: one direction after the other; more: both at once.

    Returns:
        int16[target words], the source place within its sentence of each target word, or -1; and
        int16[source words], likewise.
    """
    results = [folder / f"{name}.npy" for name in ("source-of-target", "target-of-source")]
    jobs = [(folder / "source", folder / "target", results[0]), (folder / "target", folder / "source", results[1])]
    with progress.task("align words", None, "sentence pairs") as task:
        for batch in [jobs] if threads > 1 else [jobs[:1], jobs[1:]]:
            for units in _run([(aligner, seed, *job) for job in batch]):
                task.advance(units)
    forward, backward = (np.load(path, allow_pickle=False) for path in results)
    return forward, backward


def _run(jobs: list[tuple[Any, ...]]) -> Iterator[int]:
    """Run each job in a process and yield the units of work that they report; all must succeed."""
    context = multiprocessing.get_context("spawn")
    processes = []
    ends = []
    for job in jobs:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_align_direction, args=(there, *job), daemon=True)
        process.start()
        there.close()
        processes.append(process)
        ends.append(here)
    try:
        open_ends = list(ends)
        while open_ends:
            for end in wait(open_ends):
                assert isinstance(end, Connection)
                try:
                    yield end.recv()
                except EOFError:
                    open_ends.remove(end)
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


def _align_direction(
    report: Connection, aligner: str, seed: int, source_folder: Path, target_folder: Path, result: Path
) -> None:
    """Align each target word with a source word or none; the work of one process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's: it ends this process
    os.environ["OMP_NUM_THREADS"] = "1"  # read when the library is loaded
    source, target = Side.load(source_folder), Side.load(target_folder)
    model = _trained(aligner, seed, source, target, report)
    aligned = np.empty(len(target.words), np.int16)
    for number, places in enumerate(_alignments(model, aligner, source, target)):
        aligned[target.offsets[number] : target.offsets[number + 1]] = places
        if number % _BATCH == _BATCH - 1:
            report.send(_BATCH)
    np.save(result, aligned - 1)


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


def _trained(aligner: str, seed: int, source: Side, target: Side, report: Connection) -> Any:
    """A trained model. Words are given by number, since Thot reserves some (such as NULL)."""
    from thot import alignment as thot

    if aligner == "fast_align":
        model = _filled(thot.FastAlignModel(), source, target)
        _train(model, _FAST_ALIGN_ITERATIONS, len(source), report)
    elif aligner == "hmm":
        simple = _filled(thot.Ibm1AlignmentModel(), source, target)
        _train(simple, _HMM_ITERATIONS[0], len(source), report)
        model = thot.HmmAlignmentModel(simple)
        _train(model, _HMM_ITERATIONS[1], len(source), report)
    else:
        model = thot.EflomalAlignmentModel()
        model.seed = seed
        model.emit_training_alignments = True
        _filled(model, source, target)
        _train(model, None, len(source), report)
    return model


def _filled(model: Any, source: Side, target: Side) -> Any:
    names = [str(word) for word in range(max(len(source.vocabulary), len(target.vocabulary)) + 1)]
    for number in range(len(source)):
        model.add_sentence_pair(
            [names[word] for word in source.sentence(number).tolist()],
            [names[word] for word in target.sentence(number).tolist()],
        )
    return model


def _train(model: Any, iterations: int | None, pairs: int, report: Connection) -> None:
    model.start_training()
    # Eflomal settles its number of iterations by the size of the text when training starts.
    for _ in range(iterations or model.scheduled_iterations):
        model.train()
        report.send(pairs)
    model.end_training()
