"""Translations as people see them: phrases, words, alignments, and scores in nats from the models' own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusearch.features.load import document_values, sentence_values
from gpusearch.features.text import Phrase, Sentence
from gpusearch.kernels.records import OPTION_LENGTH, OPTION_START
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.model.reordering import orientations, reordering_values
from gpusearch.model.weights import DISTORTION
from gpusearch.search.choose import Derivation


@dataclass(frozen=True, eq=False)
class SentenceTranslation:
    """A sentence's phrases in target order, and what they are worth."""

    phrases: tuple[Phrase, ...]
    features: NDArray[np.float64]
    """K feature values in nats, in the order of the model's features; 0 for those that look at the document."""
    score: float
    """Weighted sum, nats."""

    @property
    def words(self) -> list[str]:
        """Target words."""
        return [word for phrase in self.phrases for word in phrase.words]

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """(source, target) word positions in the sentence, both from 0, in target order of the phrases."""
        points, target = [], 0
        for phrase in self.phrases:
            points += [(phrase.start + source, target + place) for source, place in phrase.alignment]
            target += len(phrase.words)
        return points


@dataclass
class Translation:
    """A translation of a document."""

    sentences: list[SentenceTranslation]
    features: NDArray[np.float64]
    """K feature values in nats: the sums of its sentences', and those of the document."""
    score: float
    """Weighted sum, nats, from the models' own numbers."""


def describe_document(batch: Batch, derivation: Derivation, first_jump: bool) -> Translation:
    """Describe a derivation of a whole document; see `describe`."""
    sources = [batch.options.sentences[batch.options.sentence(int(row[0]))] if len(row) else () for row in derivation]
    return whole(batch.options.model, sources, describe(batch, derivation, first_jump))


def whole(model: Model, sources: Sequence[Sequence[str]], sentences: list[SentenceTranslation]) -> Translation:
    """The translation of a document from those of all its sentences; `sources` are their words."""
    values = np.sum([np.zeros(len(model.features.names)), *(one.features for one in sentences)], axis=0)
    text = [Sentence(source, one.phrases) for source, one in zip(sources, sentences, strict=True)]
    own = document_values(model, text)
    score = sum(sentence.score for sentence in sentences) + float(model.features.score(own))
    return Translation(sentences, values + own, score)


def text_of(batch: Batch, options: NDArray[np.int32]) -> Sentence:
    """A sentence as features see it."""
    if not len(options):
        return Sentence((), ())
    source = batch.options.sentences[batch.options.sentence(int(options[0]))]
    return Sentence(source, tuple(_phrase(batch, int(option)) for option in options))


def describe(batch: Batch, derivation: Derivation, first_jump: bool) -> list[SentenceTranslation]:
    """Describe a derivation.

    Args:
        derivation: options of each sentence in target order.
        first_jump: whether the jump from the sentence's start counts as distortion.
    """
    features = feature_values(batch, derivation, first_jump)
    totals = batch.options.model.features.score(features)
    return [
        SentenceTranslation(tuple(_phrase(batch, int(option)) for option in options), values, float(score))
        for options, values, score in zip(derivation, features, totals, strict=True)
    ]


def scores(batch: Batch, derivation: Derivation, first_jump: bool) -> NDArray[np.float64]:
    """Score of each sentence of a derivation: ``[N]``, nats."""
    return batch.options.model.features.score(feature_values(batch, derivation, first_jump))


def _phrase(batch: Batch, option: int) -> Phrase:
    start, stop = batch.options.span_of(option)
    return Phrase(start, stop, tuple(batch.options.target(option)), tuple(batch.options.alignment(option)))


def feature_values(batch: Batch, derivation: Derivation, first_jump: bool) -> NDArray[np.float64]:
    """Feature values of each sentence of a derivation in float64 from the models' own numbers: ``[N, K]``, nats.

    An empty source sentence has no phrases and no words; all its values are 0.
    """
    model = batch.options.model
    values = np.zeros((len(derivation), len(model.features.names)))
    counts = np.array([len(options) for options in derivation], np.int64)
    every = np.concatenate([np.empty(0, np.int32), *derivation]).astype(np.int64)
    owner = np.repeat(np.arange(len(derivation)), counts)
    np.add.at(values[:, : model.features.option_values], owner, batch.options.values(every))
    place = batch.problem.option_place
    if model.reordering:
        _add_reordering(values, batch, every, owner)
    for row, options in enumerate(derivation):
        start = place[options, OPTION_START].astype(np.int64)
        stop = np.concatenate(([0], start + place[options, OPTION_LENGTH]))[:-1]
        jumps = np.abs(start - stop)
        values[row, model.features.index(DISTORTION)] = -jumps[0 if first_jump else 1 :].sum()
    filled = np.flatnonzero(counts)
    texts = [[word for option in derivation[int(row)] for word in batch.options.target(int(option))] for row in filled]
    if model.document:
        values += sentence_values(model, [text_of(batch, options) for options in derivation])
    for name, language_model in zip(model.features.language_models, model.language_models, strict=True):
        values[filled, model.features.index(name)] = language_model.score_texts(texts)
    return values


def _add_reordering(
    values: NDArray[np.float64], batch: Batch, every: NDArray[np.int64], owner: NDArray[np.int64]
) -> None:
    """Add the values of reordering models; `owner` is the row of each option of `every`."""
    model, place = batch.options.model, batch.problem.option_place[every].astype(np.int64)
    start = place[:, OPTION_START]
    first = np.diff(owner, prepend=-1) > 0
    turn = orientations(start, start + place[:, OPTION_LENGTH], first)
    found = reordering_values(model.reordering, batch.options.order_scores(every), turn, first)
    for reordering, steps in zip(model.reordering, found, strict=True):
        np.add.at(values[:, slice(*model.features.groups[reordering.name])], owner, steps)
