"""The main path: documents -> translation options -> first translations -> chains -> choice -> text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config
from gpusearch.errors import InputError
from gpusearch.features.load import crosses_sentences, with_document, with_features
from gpusearch.kernels.records import ACCEPTED, Search
from gpusearch.memory import free_bytes
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.model.tableless import Constraints, part_of
from gpusearch.model.units import document_identities
from gpusearch.model.weights import DISTORTION, SCORE_UNITS
from gpusearch.search.beam_run import BeamOutput, Wanted, beam_alone, run_beam
from gpusearch.search.chains import Finals, Start, finals_bytes, run_chains
from gpusearch.search.choose import Derivation, choose_all
from gpusearch.search.compiling import BesideCompilation, kernel_name
from gpusearch.search.described import document_result
from gpusearch.search.drift import BestSums
from gpusearch.search.final_sweep import sweep_to_the_end
from gpusearch.search.initial import GivenStart, RandomStart, best_derivations, given_start
from gpusearch.search.judged import served
from gpusearch.search.limits import make_limits
from gpusearch.search.lists import sentence_lists
from gpusearch.search.operators import names_of
from gpusearch.search.policy_driver import policy_driver
from gpusearch.search.recombine import can_recombine, recombine
from gpusearch.search.rejected import compiling
from gpusearch.search.result import Ending, SearchResult, Status, Watch
from gpusearch.search.rounds import run_rounds
from gpusearch.search.saved import Given
from gpusearch.search.settings import make_search
from gpusearch.search.tempering import TemperingDriver
from gpusearch.timing import Timer

Sentence = Sequence[str]

# Source words of the documents that are searched together: their options take some 200 MB at most.
BATCH_WORDS = 40_000


def search_documents(
    model: Model,
    config: Config,
    documents: Sequence[Sequence[Sentence]],
    ids: Sequence[str | None] | None = None,
    *,
    given: Given | None = None,
    constraints: Constraints | None = None,
    n_best_size: int = 0,
    list_size: int = 0,
    distinct: bool = False,
    keep_chains: bool = False,
    trace: bool = False,
    lattices: bool = False,
    units: str | None = None,
    timer: Timer | None = None,
    status: Status | None = None,
) -> SearchResult:
    """Translate documents, which are lists of sentences, which are lists of source tokens.

    Args:
        ids: names of the documents; their random numbers depend on them.
        given: first translations, for ``initial = "file"`` and ``"saved"``.
        constraints: translations that the input gives or forbids, by document and sentence.
        n_best_size: how many of the chains' final states to describe as well, or of the beam's best derivations of
            each sentence where it is by itself.
        list_size: how many derivations of each sentence to list, of those that the chains end with, or of the beam's.
        distinct: no two of the same words, in either.
        keep_chains: keep the phrases of all chains.
        trace: write down all scores at powers of two of the steps.
        lattices: keep the search graphs of the beam by itself.
        units: ``sentence`` or ``document``; by default what the score allows.

    Raises:
        InputError: see `build_problem`; first translations that do not fit the documents.
    """
    timer = timer or Timer()
    wanted, of_beam = Wanted(), 0
    if config.search.method == "beam":
        config, wanted = beam_alone(config), Wanted(max(n_best_size, list_size), distinct, lattices)
        n_best_size, of_beam = 0, n_best_size
    identities = document_identities(documents, ids)
    model = with_features(model, config)
    config = served(model, config)
    if units is None:
        # A score that is enough is one of the document, as are Docent's draws; some features look beyond a sentence.
        whole = config.search.target_score is not None or config.search.compat == "docent" or crosses_sentences(model)
        units = "document" if whole else "sentence"
    parts = _Parts(config, model, SearchResult(units=units, operators=names_of(config.search)), Watch(status), timer)
    if config.search.time_limit is not None:
        parts.watch.deadline = time.monotonic() + config.search.time_limit
    with ExitStack() as later:
        later.enter_context(compiling(model))
        for first, last in batches(documents):
            with timer.measure("options") as stage:
                batch = build_problem(
                    model,
                    documents[first:last],
                    search=config.search,
                    units=units,
                    identities=identities[first:last],
                    forced=given.forced(first, last) if given else None,
                    constraints=part_of(constraints or {}, first, last),
                    memory_limit=free_bytes(),
                )
                batch = with_document(batch)
                stage.add(len(batch.options), "options")
            if first == 0:
                beside = later.enter_context(BesideCompilation(_needed_last(config, batch)))
            with timer.measure("search") as stage:
                beam = parts.beam(batch, wanted) if config.search.initial == "beam" else None
                start = _start(config, batch, given, first, beam)
                # Chains that are saved, or were, have each a translation of their own.
                start_all = keep_chains or config.search.initial == "saved"
                finals = parts.chains(batch, start, trace=trace, start_all=start_all)
                stage.add(int(finals.tally.sum()), "proposals")
                if finals.complete:
                    beside.finish()
            with timer.measure("recombine"):
                best = parts.recombined(batch, finals)
            neighbours = np.zeros(len(batch.problem.unit), np.int64)
            if config.search.final_sweep and parts.result.complete:
                with timer.measure("sweep"):
                    best, neighbours = parts.swept(batch, best)
            with timer.measure("output"):
                for document in range(last - first):
                    inside = slice(*batch.units.first_sentence[document : document + 2].tolist())
                    found = document_result(
                        batch, finals, best[inside], document, config.search.first_jump, n_best_size,
                        distinct=distinct, keep_chains=keep_chains,
                    )  # fmt: skip
                    found.neighbours = neighbours[batch.units.document == document]
                    if beam is not None and wanted.n_best:
                        found.lists = beam.described(document, config.search.first_jump)
                        found.sentence_n_best = [best[:of_beam] for best in found.lists] if of_beam else []
                    elif list_size:
                        found.lists = sentence_lists(
                            finals, batch, document, best[inside], list_size, config.search.first_jump,
                            distinct=distinct,
                        )  # fmt: skip
                    if beam is not None and wanted.lattices:
                        found.lattices = beam.lattices(document)
                    parts.result.documents.append(found)
    return parts.result


def batches(documents: Sequence[Sequence[Sentence]]) -> Iterator[tuple[int, int]]:
    """Ranges of documents with at most `BATCH_WORDS` source words, one document at least."""
    first = words = 0
    for number, document in enumerate(documents):
        more = sum(len(sentence) for sentence in document)
        if number > first and words + more > BATCH_WORDS:
            yield first, number
            first, words = number, 0
        words += more
    if first < len(documents):
        yield first, len(documents)


def search_settings(config: Config, model: Model, batch: Batch) -> Search:
    """The search group of a configuration as kernels read it, for a batch."""
    features = model.features
    return make_search(
        config.search,
        longest=batch.options.longest,
        values=features.option_values,
        distortion_weight=int(features.integer_weights[features.index(DISTORTION)]),
    )


def _needed_last(config: Config, batch: Batch) -> list[str]:
    """Kernels that the chains do not need, by their names in `gpusearch warmup`."""
    search, kinds = config.search, list[str]()
    if search.recombine == "lattice" and search.initial != "beam" and can_recombine(batch.options.model):
        kinds.append("beam")
    if search.final_sweep and search.active_policy != "sweep":
        kinds.append("sweep")
    return [name for kind in kinds if (name := kernel_name(kind, batch.problem))]


def _start(config: Config, batch: Batch, given: Given | None, first: int, beam: BeamOutput | None) -> Start:
    if config.search.initial == "random":
        return RandomStart()
    if config.search.initial == "best":
        return GivenStart(batch.problem, best_derivations(batch))
    if beam is not None:
        return GivenStart(batch.problem, beam.options)
    assert given is not None, "initial = file and saved come with what they start from"
    return given_start(batch, given, first, config.search)


@dataclass
class _Parts:
    """The parts of a search of a batch: each takes what was found before it, and tells what has become of it."""

    config: Config
    model: Model
    result: SearchResult
    watch: Watch
    timer: Timer

    def beam(self, batch: Batch, wanted: Wanted) -> BeamOutput:
        """What the beam finds; where it is ended early, chains do not begin."""
        tick = self._tick(f"beam: {{}} of {len(batch.units.words)} sentences")
        output = run_beam(batch, self.config.search, search_settings(self.config, self.model, batch), tick, wanted)
        self._ended(output)
        return output

    def chains(self, batch: Batch, start: Start, *, trace: bool, start_all: bool) -> Finals:
        """What the chains of all units have become; where they are ended early, what is left keeps a first
        translation."""
        settings, result = self.config.search, self.result
        limits = make_limits(batch, settings, trace=trace)
        _check_memory(batch, settings.chains, len(limits.looks))
        began = time.monotonic()

        def tick(finals: Finals, finished: int) -> None:
            def text() -> str:
                proposals = int(finals.tally.sum())
                rate = proposals / max(time.monotonic() - began, 1e-9)
                accepted = 100 * finals.tally[:, ACCEPTED].sum() / max(1, proposals)
                best = finals.best_so_far() / SCORE_UNITS
                return f"{rate / 1e6:.1f} M proposals/s, {accepted:.1f} % accepted, score {best:.1f}"

            share = finished / max(1, len(batch.problem.unit) * settings.chains)
            self.watch.look(len(result.documents) + int(share * len(batch.units.first_sentence[:-1])), text)

        search = search_settings(self.config, self.model, batch)
        driver = policy_driver(self.config, self.model, batch, search, limits, self.timer)
        lattice, ended = settings.lattice, BestSums(batch)
        try:
            if settings.recombine == "lattice" and lattice.every is not None:
                join = partial(self.recombined, batch)
                finals = run_rounds(
                    batch, driver, limits, start, tick, settings.chains,
                    every=lattice.every, replaced=lattice.replaced, join=join, start_all=start_all, ended=ended,
                )  # fmt: skip
            else:
                finals = run_chains(
                    batch.problem, driver, limits, start, tick, settings.chains, start_all=start_all, ended=ended
                )
        finally:
            driver.close()
        ended.check()
        result.tally += finals.tally
        result.device = driver.name
        if isinstance(driver, TemperingDriver):
            result.swaps.append(driver.swaps)
        self._ended(finals)
        return finals

    def recombined(self, batch: Batch, finals: Finals) -> Derivation:
        """The translation of each sentence; where the search was ended early, without a further search."""
        search = self.config.search
        best = choose_all(finals, batch, search.recombine)
        # Chains that make no step are there to be looked at as they are.
        if search.recombine != "lattice" or not finals.complete or not finals.step.any():
            return best
        tick = self._tick(f"recombination: {{}} of {len(batch.units.words)} sentences")
        found = recombine(batch, search_settings(self.config, self.model, batch), finals, search, best, tick)
        self._ended(found)
        return found.derivation

    def swept(self, batch: Batch, best: Derivation) -> tuple[Derivation, NDArray[np.int64]]:
        """Local optima, and the number of neighbours of each unit."""
        tick = self._tick(f"final sweep: {{}} of {len(batch.problem.unit)} certified")
        search, values = search_settings(self.config, self.model, batch), len(self.model.features.names)
        swept = sweep_to_the_end(batch, search, self.config.search, best, values, lambda _, done: tick(done))
        self._ended(swept.finals)
        return swept.derivation, swept.neighbours

    def _tick(self, text: str) -> Callable[[int], None]:
        """Says how many are done; `text` has a place for the number."""
        return lambda done: self.watch.look(len(self.result.documents), lambda: text.format(done))

    def _ended(self, part: Ending) -> None:
        """What comes behind a part that was ended early is ended before it begins."""
        self.result.ended_with(part)
        if not self.result.complete:
            self.watch.deadline = time.monotonic()


def _check_memory(batch: Batch, chains: int, looks: int) -> None:
    need, free = finals_bytes(batch.problem, chains, looks), free_bytes()
    if need > free:
        raise InputError(
            "not enough memory for what all chains will have become",
            found=f"{free / 2**20:.0f} MiB free",
            expected=f"{need / 2**20:.0f} MiB for {chains} chains",
            hint="take fewer chains, or shorter documents",
        )
