"""Whole files of raw text as lines of tokens, on several cores."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from gpusearch.io.files import read_lines, replaced
from gpusearch.text.processor import TextProcessor

_CHUNK = 2_000  # lines that a process takes at a time
_WORTH_A_POOL = 10 * _CHUNK

_processor: TextProcessor  # of a worker process


def tokenize_file(path_in: str | Path, path_out: str | Path, processor: TextProcessor, threads: int = 1) -> int:
    """Write the tokens of each line of a file, with a blank between them; return the number of lines.

    The output is the same for any number of threads, is compressed where its name ends in ``.gz``, and
    appears when it is complete.

    Args:
        path_in: raw text, plain or compressed; ``-`` for standard input.
        path_out: file to write.
        processor: the side's processor.
        threads: worker processes; short files are done by this one.

    Raises:
        InputError: the file cannot be read or is not UTF-8.
    """
    count = 0
    with replaced(path_out) as stream:
        for tokens in tokenize_lines(read_lines(path_in), processor, threads):
            stream.write(tokens.encode() + b"\n")
            count += 1
    return count


def tokenize_lines(lines: Iterable[str], processor: TextProcessor, threads: int = 1) -> Iterator[str]:
    """The tokens of each line with a blank between them, in the order of the lines."""
    lines = iter(lines)
    first = list(islice(lines, _WORTH_A_POOL)) if threads > 1 else []
    if len(first) < _WORTH_A_POOL:
        for line in first or lines:
            yield " ".join(processor.to_tokens(line))
        return
    # Spawned, not forked: a fork of a process with threads (torch, Numba) may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(threads, context, _start, (processor,)) as pool:
        pending: deque[Future[list[str]]] = deque()
        for chunk in _chunks(first, lines):
            pending.append(pool.submit(_tokenize, chunk))
            if len(pending) > 4 * threads:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()


def _chunks(first: list[str], rest: Iterator[str]) -> Iterator[list[str]]:
    for start in range(0, len(first), _CHUNK):
        yield first[start : start + _CHUNK]
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk


def _start(processor: TextProcessor) -> None:
    global _processor
    _processor = processor


def _tokenize(lines: list[str]) -> list[str]:
    return [" ".join(_processor.to_tokens(line)) for line in lines]
