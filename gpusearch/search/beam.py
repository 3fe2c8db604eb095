"""Stack decoding of a batch of documents (`kernels/beam.py`): the best derivation of each sentence by itself.

It scores with the features that a sentence's phrases decide from left to right: all of the tables, the language
models in memory, the penalties, distortion. Others are left out of it; what it finds is then scored with all of them.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.config.beam import BeamConfig
from gpusearch.config.search import SearchConfig
from gpusearch.cores import usable_cores
from gpusearch.errors import InputError
from gpusearch.features.load import no_sums_over_steps, of_steps, steps_may_gain
from gpusearch.kernels.beam_records import (
    BEAM_ARCS,
    BEAM_GRAPH,
    BEAM_NUMBERS,
    BEAM_POPS,
    BEAM_STACK,
    BEAM_WIDTH,
    BEAM_WINDOW,
    MASK_BITS,
    Beam,
    BeamResult,
    BeamWork,
)
from gpusearch.kernels.records import DISTORTION_LIMIT, DISTORTION_WEIGHT, SENTENCE_WORDS, Problem, Search
from gpusearch.memory import free_bytes
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.language_model import join_language_models
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.beam_arrays import make_beam, make_result, make_work, work_bytes
from gpusearch.search.chains import OutOfTime
from gpusearch.search.compiling import announce_compilation, note_compiled
from gpusearch.search.driver import TICK
from gpusearch.search.graph import SearchGraph, graph_of

logger = logging.getLogger(__name__)

# Sentences handed out to a thread at a time: few enough that all threads end together, and an interrupt is answered.
SHARE = 8
# Part of the free memory that the work space of all threads may take.
SHARE_OF_MEMORY = 0.5

# Arcs that a thread has room for at first.
ARCS = 1 << 18

Tick = Callable[[int], None]
"""Told about ten times a second how many sentences are done; what it raises ends the beam."""
Keep = Callable[[SearchGraph], None]


@dataclass(frozen=True, eq=False)
class BeamDerivations:
    """What the beam found: for each sentence of the problem the options in target order; none where none is above
    the goal."""

    options: list[NDArray[np.int32]]
    done: NDArray[np.bool_]
    """``[N]``: which sentences were searched; the others have no options."""
    score: NDArray[np.int64]
    """``[N]``, 2^-40 nat: of the features that the beam holds."""
    evaluated: NDArray[np.int64]
    """``[N]``: hypotheses that were scored."""
    complete: bool = True
    """False where a time limit or an interrupt ended the beam early."""
    interrupted: bool = False


def features_left_out(model: Model) -> tuple[str, ...]:
    """Names of the model's features that the beam cannot hold: language models that are asked on the host, and
    features that are no sums over the steps of a derivation."""
    host = (
        name
        for name, language_model in zip(model.features.language_models, model.language_models, strict=True)
        if isinstance(language_model, HostLanguageModel)
    )
    return (*host, *no_sums_over_steps(model))


def problem_of_beam(problem: Problem, model: Model) -> Problem:
    """A problem without what the beam cannot hold."""
    left_out = features_left_out(model)
    problem = problem._replace(document=of_steps(problem.document))
    if not set(left_out) & set(model.features.language_models):
        return problem
    names = model.features.language_models
    kept = [number for number, name in enumerate(names) if name not in left_out]
    weights = [int(model.features.integer_weights[model.features.index(names[number])]) for number in kept]
    if kept:
        language = join_language_models([model.language_models[number] for number in kept], weights)
    else:
        language = problem.language._replace(info=problem.language.info[:0].copy())
    return problem._replace(
        language=language,
        option_open=np.ascontiguousarray(problem.option_open[kept]),
        target_word=np.ascontiguousarray(problem.target_word[kept]),
        word_bound=np.ascontiguousarray(problem.word_bound[kept]),
        host=(),
    )


def beam_numbers(config: BeamConfig, search: Search, *, graph: bool = False) -> NDArray[np.int64]:
    """The `[beam]` group as the integers that kernels read."""
    number = np.zeros(BEAM_NUMBERS, np.int64)
    number[BEAM_STACK] = config.stack_size
    number[BEAM_WIDTH] = round(-math.log(config.beam_threshold) * SCORE_UNITS)
    number[BEAM_POPS] = config.pop_limit
    number[BEAM_WINDOW] = min(int(search.number[DISTORTION_LIMIT]), MASK_BITS)
    number[BEAM_GRAPH] = graph
    return number


class BeamDecoder:
    """The beam on a problem: its view of the options, and a work space for each thread.

    Args:
        free: bytes of memory, of which it takes a part at most; None: as it comes.
        graph: search graphs are kept, for `decode` with `keep`.
        goal: ``[N]``, 2^-40 nat: for each sentence a score that only derivations above it are of use. What cannot lead
            above it is pruned, by upper bounds of what words that are not translated yet may add.

    Raises:
        InputError: stacks that do not fit the memory.
    """

    def __init__(
        self,
        problem: Problem,
        search: Search,
        config: BeamConfig,
        *,
        threads: int | None = None,
        free: int | None = None,
        graph: bool = False,
        goal: NDArray[np.int64] | None = None,
    ) -> None:
        from gpusearch.kernels import beam, beam_options  # compiles, or loads what was compiled

        announce_compilation()
        self.problem, self.search = problem, search
        self.threads = threads or usable_cores()
        self._kernels = beam
        self._sizes = {"stack": config.stack_size, "pops": config.pop_limit}
        self.beam: Beam = make_beam(problem, beam_numbers(config, search, graph=graph))
        self._sizes["window"] = int(self.beam.number[BEAM_WINDOW])
        need = work_bytes(problem, search, **self._sizes) * self.threads
        if free is not None and need > free * SHARE_OF_MEMORY:
            raise InputError(
                "the stacks of the beam do not fit the memory",
                found=f"{need / 2**20:.0f} MiB for stack_size = {config.stack_size} and {self.threads} threads",
                expected=f"at most {free * SHARE_OF_MEMORY / 2**20:.0f} MiB",
                hint="make beam.stack_size or beam.pop_limit smaller, or use fewer threads",
            )
        beam_options.view_options(problem, self.beam, 0, len(problem.option_place))
        beam_options.rank_spans(problem, self.beam, 0, len(problem.span) - 1)
        if goal is not None and not steps_may_gain(problem.document):
            self.beam.goal[:] = goal
            self.beam.most[:] += self._most_of_a_jump()
        self._spaces = threading.local()

    def _most_of_a_jump(self) -> int:
        """The most that a jump adds to a score: nothing, but where it is rewarded."""
        words = int(self.problem.sentence[:, SENTENCE_WORDS].max(initial=0))
        longest = min(int(self.search.number[DISTORTION_LIMIT]), words)
        return max(0, -int(self.search.number[DISTORTION_WEIGHT])) * longest

    def decode(
        self, sentences: NDArray[np.integer] | None = None, tick: Tick | None = None, keep: Keep | None = None
    ) -> BeamDerivations:
        """Search sentences, by default all that have words.

        Args:
            sentences: which, counted through the problem.
            tick: called about ten times a second.
            keep: given the search graph of each sentence, by the thread that has searched it; any order.

        `OutOfTime` and KeyboardInterrupt, which `tick` may raise, end the beam: what is done then is returned.
        """
        words = self.problem.sentence[:, SENTENCE_WORDS]
        chosen = np.flatnonzero(words > 0) if sentences is None else np.asarray(sentences, np.int64)
        chosen = chosen[np.argsort(-words[chosen], kind="stable")]  # long ones first: they take longest
        result = make_result(self.problem)
        result.length[words > 0] = -1
        stop = np.zeros(1, np.int64)
        parts = [chosen[first : first + SHARE] for first in range(0, len(chosen), SHARE)]
        ended: BaseException | None = None
        with ThreadPoolExecutor(self.threads) as pool:
            waiting = {pool.submit(self._search, result, part, stop, keep) for part in parts}
            try:
                while waiting:
                    finished, waiting = wait(waiting, TICK, FIRST_EXCEPTION)
                    for future in finished:
                        future.result()
                    if tick is not None:
                        tick(int((result.length[chosen] >= 0).sum()))
            except (KeyboardInterrupt, OutOfTime) as reason:
                ended = reason
            finally:
                stop[0] = 1
        note_compiled("beam", self.problem)
        return _derivations(result, ended)

    def _search(
        self, result: BeamResult, sentences: NDArray[np.int64], stop: NDArray[np.int64], keep: Keep | None
    ) -> None:
        if keep is None:
            self._run(result, sentences, stop)
            return
        for sentence in sentences:
            while not stop[0]:
                self._run(result, np.array([sentence]), stop)
                work = self._work()
                if work.cursor[BEAM_ARCS] <= len(work.arc_target):
                    keep(graph_of(work, int(sentence), int(self.problem.sentence[sentence, SENTENCE_WORDS])))
                    break
                self._spaces.mine = None  # the sentence is searched again, with room for twice as many arcs
                self._spaces.arcs = 2 * len(work.arc_target)

    def _run(self, result: BeamResult, sentences: NDArray[np.int64], stop: NDArray[np.int64]) -> None:
        self._kernels.beam_sentences(self.problem, self.search, self.beam, self._work(), result, sentences, stop)

    def _work(self) -> BeamWork:
        """The work space of the thread that asks."""
        work: BeamWork | None = getattr(self._spaces, "mine", None)
        if work is None:
            arcs = getattr(self._spaces, "arcs", ARCS) if self.beam.number[BEAM_GRAPH] else 0
            work = self._spaces.mine = make_work(self.problem, self.search, **self._sizes, arcs=arcs)
        return work


def _derivations(result: BeamResult, ended: BaseException | None) -> BeamDerivations:
    return BeamDerivations(
        options=[row[: max(0, length)].copy() for row, length in zip(result.option, result.length, strict=True)],
        done=result.length >= 0,
        score=result.score,
        evaluated=result.evaluated,
        complete=ended is None,
        interrupted=isinstance(ended, KeyboardInterrupt),
    )


def beam_decoder(batch: Batch, config: SearchConfig, search: Search, *, graph: bool = False) -> BeamDecoder:
    """The beam on a batch; what of the model it leaves out is named in the log.

    Args:
        search: the settings of the search for this batch, of which distortion's are looked at.

    Raises:
        InputError: see `BeamDecoder`.
    """
    model = batch.options.model
    for name in features_left_out(model):
        logger.warning("%s is left out of the beam, whose result is scored with it", name)
    longest = int(batch.problem.sentence[:, SENTENCE_WORDS].max(initial=0))
    if search.number[DISTORTION_LIMIT] > MASK_BITS and longest > MASK_BITS:
        logger.warning("the beam translates at most %d words ahead of the first gap", MASK_BITS)
    problem = problem_of_beam(batch.problem, model)
    return BeamDecoder(problem, search, config.beam, threads=config.threads, free=free_bytes(), graph=graph)
