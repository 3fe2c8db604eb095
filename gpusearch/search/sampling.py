"""`gpusearch sample`: chains of a sampler over documents, into a folder of samples (Arun et al. 2010, section 2).

Chains of some units run side by side, from one sample to the next; then a round of each unit is written. What a chain
does next follows from its phrases and its step counter alone: a run that was broken off goes on from its last rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.sample_options import read_options, unit_options, write_options
from gpusearch.candidates.samples import (
    RoundWriter,
    Samples,
    read_samples,
    round_type,
    unit_paths,
)
from gpusearch.config import Config
from gpusearch.config.sample import SampleConfig
from gpusearch.config.search import SearchConfig
from gpusearch.errors import InputError
from gpusearch.features.load import crosses_sentences, with_document, with_features
from gpusearch.io.json_files import read_json, write_json
from gpusearch.kernels.records import (
    ACCEPTED,
    BELOW_SCORE,
    EMPTY,
    LIMIT_PAUSE,
    SENTENCE_OPTION,
    SENTENCE_SLOT,
    UNIT_SENTENCES,
    UNIT_WORDS,
    State,
)
from gpusearch.memory import free_bytes
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.model.tableless import Constraints, part_of
from gpusearch.model.units import document_identities
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.chains import Start, reset_lanes
from gpusearch.search.device import batch_lanes, make_driver
from gpusearch.search.drift import BestSums
from gpusearch.search.driver import Driver
from gpusearch.search.feature_check import check_features
from gpusearch.search.initial import RandomStart
from gpusearch.search.judged import make_judges, on_host
from gpusearch.search.rejected import compiling
from gpusearch.search.result import Status
from gpusearch.search.run import batches
from gpusearch.search.sample_folder import make_header, open_folder, write_header
from gpusearch.search.sample_room import Need, check_room, of_all
from gpusearch.search.sample_start import sample_start
from gpusearch.search.samplers import make_sampler, operators_of
from gpusearch.search.saved import Given
from gpusearch.search.state import UNLIMITED, lane_bytes
from gpusearch.search.tempering import TemperingDriver
from gpusearch.search.timed import timed
from gpusearch.timing import Timer

Sentence = Sequence[str]


def sample_documents(
    model: Model,
    config: Config,
    documents: Sequence[Sequence[Sentence]],
    sources: Sequence[Sequence[str]],
    ids: Sequence[str | None],
    folder: Path,
    *,
    resume: bool = False,
    constraints: Constraints | None = None,
    given: Given | None = None,
    status: Status | None = None,
    announce: Callable[[Need], None] | None = None,
    timer: Timer | None = None,
) -> Samples:
    """Draw samples of the translations of documents.

    Args:
        documents: lists of sentences, which are lists of source tokens.
        sources: raw source text of each segment.
        ids: names of the documents.
        folder: where samples go; new or empty, unless `resume` is set.
        resume: go on with what is in the folder, made by the same settings of the same documents.
        constraints: translations that the input gives or forbids.
        given: what chains begin with, chain by chain, again and again; where None what `search.initial` says: by
            default random monotone translations.
        status: told of progress; what it raises ends the run, which can be resumed.
        announce: told what the run takes before anything is sampled.
        timer: told what features in Python take.

    Raises:
        InputError: no room in memory or on disk; a folder that is there, or is of another run; first translations that
            do not fit the documents or the distortion limit; see `build_problem`.
    """
    model = with_features(model, config)
    config = on_host(model, config)
    if crosses_sentences(model):
        config = config.model_copy(update={"sample": config.sample.model_copy(update={"unit": "document"})})
    header = make_header(model, config, documents, sources, ids, constraints or {}, given)
    open_folder(folder, header, resume)
    identities = document_identities(documents, ids)
    ranges = list(batches(documents))

    def parts() -> Iterator[_Batch]:
        before = 0
        for first, last in ranges:
            batch = build_problem(
                model,
                documents[first:last],
                search=config.search,
                units=config.sample.unit,
                identities=identities[first:last],
                forced=given.forced(first, last) if given else None,
                constraints=part_of(constraints or {}, first, last),
                memory_limit=free_bytes(),
            )
            batch = with_document(batch)
            start = sample_start(batch, config, model, given, first, status)
            yield _Batch(model, config, batch, start, folder, first, before, status, timer or Timer())
            before += len(batch.problem.unit)

    def need_of(part: _Batch) -> Need:
        if status is not None:
            status(0, "memory and disk")
        check_features(part.batch, part.sampler.search)
        return part.need()

    # What may be wrong with any of them shows before the first is sampled; only one by itself is kept until then.
    made = list(parts()) if len(ranges) == 1 else None
    need = of_all(need_of(part) for part in made or parts())
    if announce is not None:
        announce(need)
    check_room(need, folder)
    write_header(folder, header)
    with compiling(model):
        for part in made or parts():
            part.run()
    return read_samples(folder)


def superchain(config: SampleConfig, chains: int) -> NDArray[np.int64]:
    """The superchain of each chain, [C]; each chain is one where they cannot be of equal size."""
    groups = config.superchains if chains % config.superchains == 0 else chains
    return np.arange(chains) // (chains // groups)


class _Batch:
    """The units of some documents."""

    def __init__(
        self,
        model: Model,
        config: Config,
        batch: Batch,
        start: Start,
        folder: Path,
        first_document: int,
        first_unit: int,
        status: Status | None,
        timer: Timer,
    ) -> None:
        self.config, self.batch, self.start, self.folder = config, batch, start, folder
        self.first_document, self.first_unit, self.status = first_document, first_unit, status
        self.values, self.chains = len(model.features.names), config.search.chains
        self.models = model.language_models
        self.sampler = make_sampler(config, model, batch)
        self.steps = self.sampler.steps
        self.superchain = superchain(config.sample, self.chains)
        self.timer = timer
        self.of_unit = self.chains * self.sampler.levels
        self.ended = BestSums(batch)

    @cached_property
    def side_by_side(self) -> int:
        """Units whose chains run at the same time."""
        fit = batch_lanes(self.batch, self._wanted, self.values) // self.of_unit
        return min(max(1, fit), len(self.batch.problem.unit))

    @property
    def _wanted(self) -> SearchConfig:
        """Settings in which the chains of a unit are all that it takes."""
        return self.config.search.model_copy(update={"chains": self.of_unit})

    def need(self) -> Need:
        """What it takes.

        Raises:
            InputError: not even one chain fits the memory; a GPU that is asked for and cannot serve.
        """
        slots = self.batch.problem.unit[:, UNIT_WORDS] + self.batch.problem.unit[:, UNIT_SENTENCES]
        size = sum(self._round_type(int(count)).itemsize for count in slots)
        memory = self.side_by_side * self.of_unit * lane_bytes(self.batch.problem, self.values)
        return Need(memory, size * self.config.sample.rounds)

    def run(self) -> None:
        """Sample every unit that has not all its rounds yet."""
        units = len(self.batch.problem.unit)
        if not units:
            return
        lanes = self.side_by_side * self.of_unit
        judges = timed(make_judges(self.batch, lanes), self.batch.options.model, self.timer, "sample")
        search, models = self.sampler.search, self.models
        driver = make_driver(self.batch.problem, search, lanes, self.values, self._wanted, models, judges)
        driver = self.sampler.driver(driver, self.batch)
        try:
            for first in range(0, units, self.side_by_side):
                self._run_units(driver, range(first, min(first + self.side_by_side, units)))
        finally:
            driver.close()
        self.ended.check()

    def _run_units(self, driver: Driver, units: range) -> None:
        rounds = self.config.sample.rounds
        writers: dict[int, RoundWriter] = {}
        try:
            for unit in units:
                writers[unit] = self._writer(unit)
            open_units = [unit for unit in units if writers[unit].count < rounds]
            if not open_units:
                return
            lanes = {unit: np.arange(k * self.of_unit, (k + 1) * self.of_unit) for k, unit in enumerate(units)}
            for unit in open_units:
                self._prepare(driver, unit, lanes[unit], writers[unit])
            while open_units:
                done = min(writers[unit].count for unit in open_units)
                now = [unit for unit in open_units if writers[unit].count == done]
                self._advance(driver, now, lanes, done + 1)
                for unit in now:
                    writers[unit].append(self._round(driver, unit, lanes[unit], done + 1))
                    if writers[unit].count == rounds:
                        open_units.remove(unit)
                        for lane in lanes[unit].tolist():
                            self.ended(driver.state, lane)
        finally:
            for writer in writers.values():
                writer.close()

    def _writer(self, unit: int) -> RoundWriter:
        """The file of a unit, its description and options beside it.

        Raises:
            InputError: what is there speaks of other options.
        """
        description, options, rounds = unit_paths(self.folder, self.first_unit + unit)
        slots, table = self._slots(unit), unit_options(self.batch, unit)
        if rounds.exists():
            there = read_options(options, read_json(description)["words"])
            if not there.same_as(table):
                raise InputError("samples of other translation options", path=options, hint="sample anew")
        else:
            sentences = self.batch.units.sentences(unit)
            document, segment = self.batch.units.place(sentences.start)
            write_options(options, table)
            write_json(
                description,
                {
                    "document": self.first_document + document,
                    "first_segment": segment,
                    "slots": slots,
                    "sources": [list(self.batch.options.sentences[sentence]) for sentence in sentences],
                    "words": table.vocabulary,
                },
            )
        return RoundWriter(rounds, self._round_type(slots))

    def _round_type(self, slots: int) -> np.dtype[Any]:
        operators = operators_of(self.config.sample.method)
        return round_type(self.chains, slots, self.values, len(operators), self.sampler.levels)

    def _slots(self, unit: int) -> int:
        row = self.batch.problem.unit[unit]
        return int(row[UNIT_WORDS] + row[UNIT_SENTENCES])

    def _first_option(self, unit: int) -> int:
        sentence = self.batch.units.sentences(unit).start
        return int(self.batch.problem.sentence[sentence, SENTENCE_OPTION])

    def _prepare(self, driver: Driver, unit: int, lanes: NDArray[np.int64], writer: RoundWriter) -> None:
        """Put the chains of a unit where they begin, or where they were after their last round."""
        state, chains, levels = driver.state, np.arange(len(lanes)), self.sampler.levels
        state.limit[lanes] = UNLIMITED
        if writer.last is None:
            random = isinstance(self.start, RandomStart)
            first = self.superchain[chains // levels] * levels + chains % levels if random else chains // levels
            reset_lanes(state, lanes, unit, first)
            self.start(driver, lanes)
            state.chain[lanes] = chains
            if isinstance(driver, TemperingDriver):
                driver.reset(lanes)
            return
        reset_lanes(state, lanes, unit, chains)
        options = writer.last["option" if levels == 1 else "replica"]
        slots = options.shape[1]
        state.option[lanes, :slots] = np.where(options >= 0, options + self._first_option(unit), -1)
        for local, sentence in enumerate(self.batch.units.sentences(unit)):
            first_slot = int(self.batch.problem.sentence[sentence, SENTENCE_SLOT])
            words = int(self.batch.units.words[sentence])
            state.length[lanes, local] = (options[:, first_slot : first_slot + words + 1] >= 0).sum(axis=1)
        driver.refresh(lanes)
        state.step[lanes] = int(writer.last["iteration"]) * self.steps[unit]
        tally = writer.last["tally"]
        state.tally[lanes[0], : len(tally), [EMPTY, BELOW_SCORE, ACCEPTED]] = tally.T
        if isinstance(driver, TemperingDriver):
            driver.go_on(lanes, writer.last["level"], writer.last["temperature"], writer.last["swaps"])

    def _advance(self, driver: Driver, units: list[int], lanes: dict[int, NDArray[np.int64]], count: int) -> None:
        """Run the chains of some units to their round number `count`, from 1."""
        iteration = self._iteration(count)
        for unit in units:
            driver.state.limit[lanes[unit], LIMIT_PAUSE] = iteration * self.steps[unit]
        rounds, chains = self.config.sample.rounds, self.chains

        def tick() -> None:
            if self.status is not None:
                scored = np.mean([driver.state.score[lanes[unit]].mean() for unit in units]) / SCORE_UNITS
                text = f"round {count} of {rounds}, {len(units)} units x {chains} chains, mean score {scored:.2f}"
                self.status(self.first_document + int(self.batch.units.document[units[0]]), text)

        driver.run(np.concatenate([lanes[unit] for unit in units]), tick)

    def _iteration(self, count: int) -> int:
        return self.config.sample.burn_in + count * self.config.sample.thin

    def _round(self, driver: Driver, unit: int, lanes: NDArray[np.int64], count: int) -> dict[str, Any]:
        """What a unit's chains are now."""
        state = driver.state
        samples, row = lanes, {}
        if isinstance(driver, TemperingDriver):
            samples = lanes[driver.level[lanes] == 0]
            row = {
                "swaps": driver.exchanges(lanes),
                "temperature": driver.temperature[lanes[:: self.sampler.levels]],
                "level": driver.level[lanes],
                "replica": self._options(state, unit, lanes),
            }
        tally = state.tally[lanes].sum(axis=0)[: len(operators_of(self.config.sample.method))]
        return {
            "iteration": self._iteration(count),
            "tally": np.stack(
                (tally[:, EMPTY], tally[:, EMPTY + 1 : ACCEPTED].sum(axis=1), tally[:, ACCEPTED]), axis=1
            ),
            "score": state.score[samples],
            "feature": state.feature[samples],
            "option": self._options(state, unit, samples),
            **row,
        }

    def _options(self, state: State, unit: int, lanes: NDArray[np.int64]) -> NDArray[np.int32]:
        """Phrases of lanes as rows of the unit's options."""
        options = state.option[lanes, : self._slots(unit)].copy()
        for local, sentence in enumerate(self.batch.units.sentences(unit)):
            first = int(self.batch.problem.sentence[sentence, SENTENCE_SLOT])
            words = int(self.batch.units.words[sentence])
            behind = np.arange(words + 1) >= state.length[lanes, local, None]
            options[:, first : first + words + 1][behind] = -1
        return np.where(options >= 0, options - self._first_option(unit), -1)
