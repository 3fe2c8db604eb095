"""A process that asks KenLM. `gpusearch.model.kenlm_pool` starts it and talks to it.

    python -m gpusearch.model.kenlm_worker MODEL DESCRIPTOR...

It loads the model once and forks a process for each further descriptor: they share the model's memory, whether KenLM
mapped it from a binary or built it from an ARPA file. Each process answers on one descriptor until that is closed.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import kenlm

# First byte of a message to the worker: a list of words (UTF-8, zero byte behind each), or queries (int32[n, order]).
WORDS, QUERIES = b"W", b"Q"
# First byte of the worker's first message: the order in digits, or what was wrong with the model, or with KenLM.
READY, FAILED, BROKEN = b"R", b"F", b"B"

# KenLM states kept at most; a state and its key take about half a kilobyte.
_MOST_STATES = 1 << 17


def import_kenlm() -> Any:
    """KenLM's Python module under one of its two names.

    Raises:
        ModuleNotFoundError: there is none.
        ImportError: there is none that works.
    """
    faults = []
    for name in ("kenlm", "ufal.kenlm"):
        try:
            module = import_module(name)
        except ModuleNotFoundError:
            continue
        except ImportError as error:
            faults.append(f"{name}: {error}")
            continue
        if hasattr(module, "Model"):
            return module
        faults.append(f"{name}: no Model in it")  # as in a folder of that name
    raise ImportError("; ".join(faults)) if faults else ModuleNotFoundError("no kenlm, no ufal.kenlm")


class Answers:
    """What KenLM says of the last word of a query after the words before it (-1: no word known there)."""

    def __init__(self, module: Any, model: kenlm.Model) -> None:
        self.model, self.new_state = model, module.State
        self.words: list[str] = []
        self.states: dict[tuple[int, ...], kenlm.State] = {}

    def answer(self, queries: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Of queries int32[n, order] log10 P, float64[n], and the length of the n-gram that it comes from, uint8[n]."""
        words, states, score, new_state = self.words, self.states, self.model.BaseFullScore, self.new_state
        if len(states) + len(queries) > _MOST_STATES:
            states.clear()
        log10, length = [], []
        for row in queries.tolist():
            context = tuple(row[:-1])
            state = states.get(context)
            if state is None:
                states[context] = state = self._state(context)
            following = new_state()
            said = score(state, words[row[-1]], following)
            log10.append(said.log_prob)
            length.append(said.ngram_length)
            # The state behind the query is the one in front of the text's next word.
            states[tuple(row[1:])] = following
        return np.array(log10, np.float64), np.array(length, np.uint8)

    def _state(self, context: tuple[int, ...]) -> kenlm.State:
        state = self.new_state()
        self.model.NullContextWrite(state)
        for word in context:
            if word >= 0:
                following = self.new_state()
                self.model.BaseScore(state, self.words[word], following)
                state = following
        return state


def load(module: Any, path: str) -> kenlm.Model:
    """The model; says nothing on standard error."""
    config = module.Config()
    config.show_progress = False
    config.arpa_complain = module.ARPALoadComplain.NONE
    model: kenlm.Model = module.Model(path, config)
    return model


def serve(connection: Connection, answers: Answers) -> None:
    """Answer until the other side hangs up."""
    order = answers.model.order
    while True:
        try:
            message = connection.recv_bytes()
        except EOFError:
            return
        if message[:1] == WORDS:
            answers.words = message[1:].decode().split("\0")[:-1]
        else:
            queries = np.frombuffer(message, np.int32, offset=1).reshape(-1, order)
            log10, length = answers.answer(queries)
            connection.send_bytes(log10.tobytes() + length.tobytes())


def main(path: str, descriptors: list[int]) -> None:
    """Load, fork, serve."""
    connections = [Connection(descriptor) for descriptor in descriptors]
    try:
        module = import_kenlm()
    except ImportError as error:
        connections[0].send_bytes(BROKEN + str(error).encode())
        return
    try:
        model = load(module, path)
    except (OSError, RuntimeError) as error:
        connections[0].send_bytes(FAILED + str(error).encode())
        return
    mine = connections[0]
    children: list[int] = []
    for connection in connections[1:]:
        child = os.fork()
        if child == 0:
            mine, children = connection, []
            break
        children.append(child)
    for connection in connections:
        if connection is not mine:
            connection.close()
    mine.send_bytes(READY + str(model.order).encode())
    with suppress(BrokenPipeError, ConnectionResetError):  # the other side is gone: nobody waits for the answer
        serve(mine, Answers(module, model))
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], [int(descriptor) for descriptor in sys.argv[2:]])
