"""KenLM on the host: questions are gathered, asked once each, and answered by processes that share the model."""

from __future__ import annotations

import importlib.util
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.cores import usable_cores
from gpusearch.errors import GpusearchError, InputError
from gpusearch.kernels.query_memo import memorize_rows_cpu, recall_rows_cpu
from gpusearch.model.automaton import LARGEST_VALUE, UNIT
from gpusearch.model.kenlm_vocabulary import read_words
from gpusearch.model.kenlm_worker import BROKEN, FAILED, QUERIES, WORDS

# Fewer questions than this a process are not worth a message to it.
_FEWEST_QUERIES = 64
# An answer holds a length in its low bits.
_LENGTH_BITS = 4
_MOST_LENGTH = (1 << _LENGTH_BITS) - 1
_INSTALL = (
    'install it (pip install "gpusearch[kenlm]"), or set backend = "device" with an ARPA file, '
    "which needs no other module"
)


class KenlmPool:
    """A model that KenLM reads (ARPA, probing, trie, quantised), asked by word ids.

    A context manager. The processes are started by the first question after the pool was made or interrupted, and
    end with the pool, or when this process ends in whatever way. Answers to recent questions are remembered.

    Attributes:
        words: the words by id: those of the model's file.
        order: length of the longest n-grams.
        asked: questions so far.
        answered: questions that went to KenLM, the others were repetitions.
    """

    def __init__(self, path: str | Path, *, processes: int | None = None, memo: int = 1 << 18) -> None:
        """Read the words, load the model.

        Args:
            path: the model.
            processes: how many answer; by default as many as there are cores.
            memo: answers that are remembered at most, (order + 1) * 4 bytes each.

        Raises:
            InputError: no KenLM module, or one that does not work, a file that KenLM cannot read, an order above what
                it was compiled for.
        """
        check_kenlm(path)
        self.path = Path(path)
        self.words = read_words(path)
        self.asked = self.answered = 0
        self._processes = processes or usable_cores()
        self._worker: subprocess.Popen[bytes] | None = None
        self._connections: list[Connection] = []
        self.order = self._start()
        self._memo = np.full((max(memo, 1), self.order), -2, np.int32)
        self._answer = np.zeros(len(self._memo), np.int64)

    def __enter__(self) -> KenlmPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """End the processes. A later question starts them again."""
        self._end()

    def _end(self, *, at_once: bool = False) -> None:
        """End the processes: when they have answered what they were asked, or at once."""
        for connection in getattr(self, "_connections", ()):
            connection.close()
        self._connections = []
        worker = getattr(self, "_worker", None)
        if worker is not None:
            self._worker = None
            if at_once:
                with suppress(ProcessLookupError):
                    os.killpg(worker.pid, signal.SIGKILL)  # the group of its own session: it and all that it forked
            try:
                worker.wait(10)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()

    def score(self, queries: NDArray[np.int32]) -> NDArray[np.int32]:
        """ln P of the last word of each query after the words before it: int32[n] in 2^-20 nat.

        Args:
            queries: int32[n, k] word ids, k at most `order`; -1 before the first word that is known, which may be
                <s>. With fewer words than `order` nothing more is known on the left.

        Raises:
            ValueError: queries of another form, ids that are no words.
            GpusearchError: a process ended.
        """
        return self.follow(queries)[0]

    def follow(self, queries: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """`score`, and how much of each query matters to what follows it.

        Returns:
            Values, and the length of the longest n-gram of the model that ends the query: no word before that
            n-gram, known or not, changes the value of a word behind it. At most ``order - 1``.
        """
        queries = self._padded(queries)
        value = np.zeros(len(queries), np.int64)
        number, distinct = np.empty(len(queries), np.int32), np.empty(len(queries), np.int32)
        table = np.full(2 * len(queries) + 1, -1, np.int32)
        asked = recall_rows_cpu(queries, self._memo, self._answer, value, number, table, distinct)
        answers = self._ask(queries[distinct[:asked]])
        memorize_rows_cpu(queries, self._memo, self._answer, answers, number, distinct, asked, value)
        self.asked += len(queries)
        self.answered += asked
        return (value >> _LENGTH_BITS).astype(np.int32), (value & _MOST_LENGTH).astype(np.int32)

    def number(self, words: Iterable[str]) -> None:
        """Give these words the ids 0, 1, ...; KenLM takes what it does not know for <unk>."""
        self.words = list(words)
        self._memo[:] = -2  # answers by the old ids
        self._send_words()

    def _send_words(self) -> None:
        words = WORDS + b"".join(word.encode() + b"\0" for word in self.words)
        for connection in self._connections:
            connection.send_bytes(words)

    def _padded(self, queries: NDArray[np.int32]) -> NDArray[np.int32]:
        if queries.ndim != 2 or not 1 <= queries.shape[1] <= self.order:
            raise ValueError(f"queries of shape {queries.shape}, expected (n, 1 to {self.order})")
        if queries.size and (queries.min() < -1 or queries.max() >= len(self.words) or queries[:, -1].min() < 0):
            raise ValueError(f"word ids from {queries.min()} to {queries.max()} in a model of {len(self.words)} words")
        padded = np.full((len(queries), self.order), -1, np.int32)
        padded[:, self.order - queries.shape[1] :] = queries
        return padded

    def _ask(self, queries: NDArray[np.int32]) -> NDArray[np.int32]:
        """Answers of the processes to queries of `order` words: value << _LENGTH_BITS | length."""
        if not len(queries):
            return np.zeros(0, np.int64)
        if self._worker is None:
            self._start()
        # Equal contexts, and texts that continue, meet in one process while they are neighbours.
        count = max(1, min(len(self._connections), len(queries) // _FEWEST_QUERIES))
        parts = np.array_split(queries, count)
        try:
            for connection, part in zip(self._connections, parts, strict=False):
                connection.send_bytes(QUERIES + part.tobytes())
            answers = [connection.recv_bytes() for connection in self._connections[:count]]
        except BaseException as error:
            # An answer may be on its way: these processes cannot be asked again.
            self._end(at_once=True)
            if isinstance(error, EOFError | OSError):
                raise GpusearchError(f"{self.path}: a process that asks KenLM has ended") from error
            raise
        log10 = np.concatenate([np.frombuffer(a, np.float64, len(p)) for a, p in zip(answers, parts, strict=True)])
        length = np.concatenate(
            [np.frombuffer(a, np.uint8, offset=8 * len(p)) for a, p in zip(answers, parts, strict=True)]
        )
        nats = np.maximum(log10 * math.log(10), -LARGEST_VALUE)
        value = np.rint(nats * UNIT).astype(np.int64)
        return value << _LENGTH_BITS | np.minimum(length, self.order - 1)

    def _start(self) -> int:
        """Start the processes and tell them the words; returns the model's order."""
        pairs = [Pipe() for _ in range(self._processes)]
        theirs = [child.fileno() for _, child in pairs]
        self._connections = [mine for mine, _ in pairs]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, "-m", "gpusearch.model.kenlm_worker", os.fspath(self.path), *map(str, theirs)]
        try:
            # Of its own session: an interrupt at the terminal is for this process to answer.
            self._worker = subprocess.Popen(
                command, pass_fds=theirs, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
            )
            for _, child in pairs:
                child.close()
            first = self._connections[0].recv_bytes()
            if first[:1] == FAILED:
                raise _unreadable(self.path, first[1:].decode(errors="replace"))
            if first[:1] == BROKEN:
                found = first[1:].decode(errors="replace")
                raise InputError("the KenLM module cannot be loaded", found=found, hint=_INSTALL)
            for connection in self._connections[1:]:
                connection.recv_bytes()
            self._send_words()
        except BaseException as error:
            self._end(at_once=True)
            if isinstance(error, EOFError | OSError):
                raise GpusearchError(f"{self.path}: the process that loads it for KenLM has ended") from error
            raise
        return int(first[1:])


def check_kenlm(path: str | Path) -> None:
    """Raises InputError where the file is not there or KenLM's module is not."""
    if not Path(path).is_file():
        raise InputError("no such file", path=path)
    if all(_missing(name) for name in ("kenlm", "ufal.kenlm")):
        raise InputError(
            "the KenLM module is not installed",
            path=path,
            hint=_INSTALL,
        )


def _missing(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is None
    except ModuleNotFoundError:  # of the package that it would be in
        return True


def _unreadable(path: Path, message: str) -> InputError:
    found: Any = message
    expected = hint = None
    if "was compiled to support up to" in message:
        found, limit = (message.split(part)[1].split()[0].rstrip(".") for part in ("has order", "support up to"))
        found, expected = f"order {found}", f"up to {limit}, for which this KenLM was compiled"
        hint = (
            f'set backend = "device" (orders up to 9), or install with MAX_ORDER={found.split()[1]} pip install kenlm'
        )
    return InputError("KenLM cannot read the language model", path=path, found=found, expected=expected, hint=hint)
