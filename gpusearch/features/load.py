"""From the `[features]` group to features that are made, and from a batch to one that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config
from gpusearch.config.models import FeatureConfig, TextConfig
from gpusearch.errors import InputError
from gpusearch.features.batch import Preparation, Reader
from gpusearch.features.builtin import BUILT_IN
from gpusearch.features.cohesive import Cohesion
from gpusearch.features.compiled import compiled_feature
from gpusearch.features.material import Material, material_of
from gpusearch.features.protocol import Feature, OfTexts, Scope, Tokens
from gpusearch.features.record import make_document
from gpusearch.features.semantic_lm import SemanticLanguageModel
from gpusearch.features.text import Document, Sentence
from gpusearch.features.user import BatchFeature, batch_feature, identity, made
from gpusearch.kernels.beam_cohesion import BeamCohesion
from gpusearch.kernels.cohesion import Trees
from gpusearch.kernels.cohesive import Cohesion as Cohesive
from gpusearch.kernels.records import ACTIVE_WEIGHT, UNIT_FIRST_SENTENCE, UNIT_SENTENCES, Active, each_active
from gpusearch.kernels.records import Document as DocumentRecord
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.model.weights import VALUE_UNITS, Features, check_range
from gpusearch.text.processor import make_processor
from gpusearch.text.xml_input import parse_marked
from gpusearch.user_code import find


@dataclass(frozen=True)
class Named:
    """A feature with the name that it has in a configuration."""

    name: str
    feature: Feature
    own: bool
    """Whether it is a user's."""


def with_features(model: Model, config: Config) -> Model:
    """The model with the features of its `[features]` group made; itself where that has been done.

    Raises:
        InputError: a feature that is not known, options or a number of weights that it does not take, a semantic space
            of other words than the model's.
    """
    if len(model.document) == len(config.features):
        return model
    document = tuple(made_feature(name, entry, config.text) for name, entry in config.features.items())
    for named in document:
        if isinstance(named.feature, SemanticLanguageModel):
            named.feature.check_words(named.name, [table.pairs for table in model.tables])
    return replace(model, document=document, features=_labelled(model.features, document))


def made_feature(name: str, entry: FeatureConfig, text: TextConfig) -> Named:
    """The feature that an entry of the `[features]` group asks for; `text` makes tokens of what it reads.

    Raises:
        InputError: see `with_features`.
    """
    files = {"path": entry.path, "source": entry.source}
    given = entry.options | {key: path for key, path in files.items() if path is not None}
    if ":" in entry.use:
        written = made(name, find(entry.use), given)
        form = compiled_feature if getattr(written, "compiled", False) else batch_feature
        named = Named(name, form(name, written, identity(entry.use, written, given)), True)
    elif entry.use in BUILT_IN:
        built = made(name, BUILT_IN[entry.use], given)
        if isinstance(built, OfTexts):
            built = built.of_texts(_source_tokens(text), make_processor(text, "target").to_tokens)
        named = Named(name, built, False)
    else:
        raise InputError(
            f"unknown feature {name}",
            found=f'use = "{entry.use}"',
            expected=f"module:object, or one of {', '.join(sorted(BUILT_IN))}",
        )
    values = max(1, len(named.feature.names))
    if len(entry.weights) != values:
        raise InputError(f"the weights of feature {name}", found=f"{len(entry.weights)} weights", expected=str(values))
    return named


def _source_tokens(text: TextConfig) -> Tokens:
    """What makes tokens of raw source text; of mark-up, where it means something, the text alone."""
    to_tokens = make_processor(text, "source").to_tokens
    if text.xml_input == "none":
        return to_tokens
    return lambda raw: to_tokens(" ".join(parse_marked(raw, text.xml_brackets, "a source").pieces))


def _labelled(features: Features, document: Sequence[Named]) -> Features:
    """With the names that features give their values."""
    names = [*features.names]
    for named in document:
        first, last = features.groups[named.name]
        if last > first + 1:
            names[first:last] = [f"{named.name}.{label}" for label in named.feature.names]
    return replace(features, names=tuple(names))


def crosses_sentences(model: Model) -> bool:
    """Whether a feature looks beyond a sentence, so that documents are the units of a search."""
    return any(named.feature.scope is Scope.DOCUMENT for named in model.document)


def no_sums_over_steps(model: Model) -> tuple[str, ...]:
    """Names of the features that the beam cannot hold; it can hold those of cohesion."""
    return tuple(named.name for named in model.document if not isinstance(named.feature, Cohesion))


def of_steps(document: DocumentRecord | tuple[()]) -> DocumentRecord | tuple[()]:
    """The record of those features that the beam can hold and that weigh something, joined where trees are the same."""
    joined: list[BeamCohesion] = []
    for active in each_active(document.features if document else ()):
        weight = int(active.number[ACTIVE_WEIGHT])
        if isinstance(active.feature, Cohesive) and weight:
            _of_same_trees(joined, active.feature.trees).weight[tuple(active.feature.number)] += weight
    chain: Active | tuple[()] = ()
    for one in reversed(joined):
        chain = Active(one, np.zeros(0, np.int64), chain)
    return document._replace(features=chain) if document and chain else ()


def steps_may_gain(document: DocumentRecord | tuple[()]) -> bool:
    """Whether a feature of the record that `of_steps` made may add to a score; else they only take off."""
    return any((active.feature.weight < 0).any() for active in each_active(document.features if document else ()))


def _of_same_trees(joined: list[BeamCohesion], trees: Trees) -> BeamCohesion:
    """The record of these trees, which is added where there is none."""
    for one in joined:
        if all(map(np.array_equal, one.trees, trees)):
            return one
    joined.append(BeamCohesion(trees, np.zeros((2, 4), np.int64)))
    return joined[-1]


def batch_features(model: Model) -> list[tuple[Named, BatchFeature]]:
    """The features that are written in Python or torch."""
    return [(named, named.feature) for named in model.document if isinstance(named.feature, BatchFeature)]


def with_document(batch: Batch) -> Batch:
    """The batch with the features of its model in what kernels read.

    Raises:
        InputError: values that could leave the range of exact scores; names feature and text.
    """
    model = batch.options.model
    if not model.document:
        return batch
    features, material = model.features, material_of(batch.problem, batch.options)
    largest = np.zeros((len(batch.problem.unit), len(features.names)))
    weighted = []
    for named in model.document:
        here = slice(*features.groups[named.name])
        largest[:, here] = named.feature.largest(material)[:, None] * VALUE_UNITS
        weighted.append((named.feature, features.integer_weights[here].tolist()))
    check_range(features, largest, [batch.units.name(unit) for unit in range(len(batch.problem.unit))])
    prepare(model, batch, material)
    return replace(batch, problem=batch.problem._replace(document=make_document(material, weighted)))


def prepare(model: Model, batch: Batch, material: Material) -> None:
    """Tell features in Python what the batch is made of."""
    found = batch_features(model)
    if found:
        sources = [
            [list(batch.options.sentences[k]) for k in range(first, first + many)]
            for first, many in batch.problem.unit[:, [UNIT_FIRST_SENTENCE, UNIT_SENTENCES]].tolist()
        ]
        for _, feature in found:
            feature.prepare(Preparation(material.words, sources))


def reader(batch: Batch) -> Reader:
    """Makes what features in Python see of a batch; words have the numbers of `prepare`."""
    material = material_of(batch.problem, batch.options)
    return Reader(batch.problem, material.word, material.words)


def sentence_values(model: Model, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """Values of the features that look at one sentence, at their places among those of the model: ``[N, K]``, nats."""
    return _values(model, [[sentence] for sentence in sentences], Scope.SENTENCE)


def document_values(model: Model, document: Document) -> NDArray[np.float64]:
    """Values of the features that look at a whole document, at their places: ``[K]``, nats."""
    whole: NDArray[np.float64] = _values(model, [document], Scope.DOCUMENT)[0]
    return whole


def _values(model: Model, documents: Sequence[Document], scope: Scope) -> NDArray[np.float64]:
    """``[N, K]``; those of texts without phrases are 0."""
    values = np.zeros((len(documents), len(model.features.names)))
    filled = [row for row, document in enumerate(documents) if any(sentence.phrases for sentence in document)]
    for named in model.document:
        if named.feature.scope is scope and filled:
            here = slice(*model.features.groups[named.name])
            values[filled, here] = _values_of(named.feature, [documents[row] for row in filled])
    return values


def _values_of(feature: Feature, documents: Sequence[Document]) -> NDArray[np.float64]:
    """``[N, K]``"""
    if isinstance(feature, BatchFeature):
        return feature.values_of(documents)
    return np.array([feature.values(document) for document in documents])
