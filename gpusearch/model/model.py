"""The model: phrase tables, language and reordering models and their weights, read and checked against each other."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config, LanguageModelConfig, PhraseTableConfig, check_weight_count
from gpusearch.errors import InputError
from gpusearch.io.phrase_table import PhraseTable, read_phrase_table
from gpusearch.kernels.records import LM_INFO, Language
from gpusearch.model.backends import open_language_model
from gpusearch.model.checks import check_option_range, check_shared_words, idle_columns
from gpusearch.model.entries import best_first, make_entries, offsets_of, ranges
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.language_model import LanguageModel, join_language_models
from gpusearch.model.reordering import ReorderingModel, load_reordering_model, parse_type
from gpusearch.model.tableless import UnknownWords
from gpusearch.model.weights import CANDIDATES, SCORE_UNITS, Features, make_features

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

# Option sets that the unit of temperature is measured on, at most; evenly spread over the table.
_SAMPLED_SETS = 1 << 12


@dataclass(frozen=True, eq=False)
class TranslationTable:
    """A phrase table as a feature of the model."""

    name: str
    pairs: PhraseTable
    limit: int
    """Options a source span, best isolated score first; 0: all."""
    lm_words: tuple[NDArray[np.int32], ...]
    """For each language model its word for each target word of the table."""


@dataclass(frozen=True, eq=False)
class Model:
    """What a translation is scored with, apart from features of the document.

    A context manager that ends the processes of language models on the host.
    """

    features: Features
    tables: tuple[TranslationTable, ...]
    language_models: tuple[LanguageModel, ...]
    language: Language
    """All language models with their weights, as kernels read them."""
    reordering: tuple[ReorderingModel, ...]
    unknown: UnknownWords
    deviation: int
    """Median standard deviation of an option set's isolated scores, 2^-40 nat: the unit of all temperatures."""
    document: tuple[Any, ...] = ()
    """Features of the document that are made (`gpusearch.features.load.with_features`)."""
    warnings: tuple[str, ...] = ()
    """What is odd in the model but no fault; also logged when the model is made."""

    def close(self) -> None:
        """End the processes of language models that are asked in KenLM; without such, nothing."""
        _close(self.language_models)

    def __enter__(self) -> Model:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def temperature(self, relative: float) -> float:
        """A temperature given in units of the model's own deviation, in nats."""
        return relative * self.deviation / SCORE_UNITS


def load_model(config: Config) -> Model:
    """Read the tables and models of a configuration.

    Raises:
        InputError: a file that is missing or damaged; a number of weights that differs from the table's columns; a
            table without a word that the language models know; values out of range.
    """
    pairs = [_read_table(table, config.text.unescape) for table in config.phrase_table]
    for table, read in zip(config.phrase_table, pairs, strict=True):
        check_weight_count(table.name, table.weights, read.columns)
    language_models: list[LanguageModel] = []
    try:
        for language_model in config.language_model:
            language_models.append(_read_language_model(language_model))
        return make_model(config, pairs, language_models)
    except BaseException:
        _close(language_models)
        raise


def make_model(config: Config, pairs: Sequence[PhraseTable], language_models: Sequence[LanguageModel]) -> Model:
    """A model of phrase tables and language models that are in memory; reordering tables are read here.

    `load_model` says what may be wrong with them.
    """
    features = make_features(
        _with_values_of_options(config),
        [(language_model.name, language_model.weight) for language_model in config.language_model],
        word_penalty=config.weights.word_penalty,
        phrase_penalty=config.weights.phrase_penalty,
        unknown_word=config.weights.unknown_word,
        distortion=config.weights.distortion,
        reordering=[(entry.name, parse_type(entry.type).labels, entry.weights) for entry in config.reordering_model],
        document=[(name, feature.weights) for name, feature in config.features.items()],
    )
    tables = []
    for table, read in zip(config.phrase_table, pairs, strict=True):
        check_weight_count(table.name, table.weights, read.columns)
        check_option_range(features, table.name, read)
        words = list(read.target_vocabulary)
        lm_words = [np.asarray(model.index(words), np.int32) for model in language_models]
        for entry, language_model, known in zip(config.language_model, language_models, lm_words, strict=True):
            check_shared_words(table, entry, read, language_model, known)
        tables.append(TranslationTable(table.name, read, table.table_limit, tuple(lm_words)))
    language = _joined(features, language_models)
    warnings = tuple(warning for table in tables for warning in idle_columns(table.name, table.pairs))
    for warning in warnings:
        logger.warning(warning)
    reordering = tuple(load_reordering_model(entry, pairs, config.text.unescape) for entry in config.reordering_model)
    text = config.text
    unknown = UnknownWords(text.mark_unknown, text.drop_unknown, text.unknown_prefix, text.unknown_suffix)
    model = Model(
        features,
        tuple(tables),
        tuple(language_models),
        language,
        reordering,
        unknown,
        SCORE_UNITS,
        warnings=warnings,
    )
    return replace(model, deviation=_deviation(model))


def _with_values_of_options(config: Config) -> list[tuple[str, Sequence[str], Sequence[float]]]:
    """Name, columns and weights of the phrase tables, and of the candidates where they have scores."""
    tables: list[tuple[str, Sequence[str], Sequence[float]]]
    tables = [(table.name, table.columns, table.weights) for table in config.phrase_table]
    scores = config.candidates.weights
    return [*tables, (CANDIDATES, tuple(scores), tuple(scores.values()))] if scores else tables


def _read_table(table: PhraseTableConfig, unescape: bool) -> PhraseTable:
    return read_phrase_table(
        table.path,
        columns=table.columns or None,
        lenient=table.lenient,
        unescape=unescape,
        cache=table.cache,
    )


def _read_language_model(config: LanguageModelConfig) -> LanguageModel:
    read = open_language_model(config)
    if config.order not in (None, read.order):
        _close([read])
        raise InputError(
            f"{config.name} has another order than configured",
            path=config.path,
            found=read.order,
            expected=config.order,
            hint="correct or leave out `order`",
        )
    return read


def _close(language_models: Sequence[LanguageModel]) -> None:
    for language_model in language_models:
        if isinstance(language_model, HostLanguageModel):
            language_model.pool.close()


def _joined(features: Features, models: Sequence[LanguageModel]) -> Language:
    if models:
        weights = [int(features.integer_weights[features.index(name)]) for name in features.language_models]
        return join_language_models(models, weights)
    return Language(
        info=np.zeros((0, LM_INFO), np.int64),
        slot=np.zeros((0, 2), np.int64),
        extreme=np.zeros(0, np.int32),
        tag=np.zeros(0, np.int64),
        state=np.zeros((0, 3), np.int32),
    )


def _deviation(model: Model) -> int:
    """Median standard deviation of the isolated scores of option sets, 2^-40 nat; 1 nat where there are none.

    Each table's sets of at least two options count, after its limit; of large tables an even sample. Rounded to
    2^-20 nat, which hides how sums of floats are ordered.
    """
    deviations = []
    for number, table in enumerate(model.tables):
        counts = np.diff(table.pairs.row_offsets)
        several = np.flatnonzero(counts >= 2)
        if table.limit == 1 or len(several) == 0:
            continue
        chosen = several[np.unique(np.arange(_SAMPLED_SETS) * len(several) // _SAMPLED_SETS)]
        rows = [np.empty(0, np.int64)] * len(model.tables)
        rows[number] = ranges(table.pairs.row_offsets[chosen], counts[chosen])
        entries = make_entries(model, rows)
        group = np.repeat(np.arange(len(chosen)), counts[chosen])
        kept = best_first(entries.score, group, entries.row, table.limit)
        begin = offsets_of(np.bincount(group[kept]))
        # Distances from the best of the set, 2^-20 nat: small numbers, exact as floats.
        best = np.repeat(entries.score[kept][begin[:-1]], np.diff(begin))
        distance = ((best - entries.score[kept]) >> 20).astype(np.float64)
        size = np.diff(begin)
        mean = np.add.reduceat(distance, begin[:-1]) / size
        square = np.add.reduceat((distance - np.repeat(mean, size)) ** 2, begin[:-1]) / size
        deviations.append(np.sqrt(square))
    if not deviations:
        return SCORE_UNITS
    return int(np.rint(np.median(np.concatenate(deviations)))) << 20 or SCORE_UNITS
