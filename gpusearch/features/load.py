"""From the `[features]` group to features that are made, and from a batch to one that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import Config
from gpusearch.config.models import FeatureConfig
from gpusearch.errors import InputError
from gpusearch.features.builtin import BUILT_IN
from gpusearch.features.cohesive import Cohesion
from gpusearch.features.material import material_of
from gpusearch.features.protocol import Feature, Scope
from gpusearch.features.record import make_document
from gpusearch.features.text import Document, Sentence
from gpusearch.kernels import cohesive as kernels
from gpusearch.kernels.records import Active
from gpusearch.kernels.records import Document as DocumentRecord
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.model.weights import VALUE_UNITS, check_range


@dataclass(frozen=True)
class Named:
    """A feature with the name that it has in a configuration."""

    name: str
    feature: Feature


def with_features(model: Model, config: Config) -> Model:
    """The model with the features of its `[features]` group made; itself where that has been done.

    Raises:
        InputError: a feature that is not known, options or a number of weights that it does not take.
    """
    if len(model.document) == len(config.features):
        return model
    return replace(model, document=tuple(Named(name, _made(name, entry)) for name, entry in config.features.items()))


def _made(name: str, entry: FeatureConfig) -> Feature:
    kind = BUILT_IN.get(entry.use)
    if kind is None:
        raise InputError(
            f"unknown feature {name}", found=f'use = "{entry.use}"', expected=f"one of {', '.join(sorted(BUILT_IN))}"
        )
    if len(entry.weights) != 1:
        raise InputError(f"the weights of feature {name}", found=f"{len(entry.weights)} weights", expected="1")
    known = [field.name for field in fields(kind)]
    for option in entry.options:
        if option not in known:
            what = f"one of {', '.join(known)}" if known else "no options"
            raise InputError(f"unknown option of feature {name}", found=option, expected=what)
    return kind(**entry.options)


def crosses_sentences(model: Model) -> bool:
    """Whether a feature looks beyond a sentence, so that documents are the units of a search."""
    return any(named.feature.scope is Scope.DOCUMENT for named in model.document)


def no_sums_over_steps(model: Model) -> tuple[str, ...]:
    """Names of the features that the beam cannot hold; it can hold those of cohesion."""
    return tuple(named.name for named in model.document if not isinstance(named.feature, Cohesion))


def of_steps(document: DocumentRecord | tuple[()]) -> DocumentRecord | tuple[()]:
    """The record of those features that the beam can hold and that weigh something."""
    held, active = [], document.features if document else ()
    while active:
        if isinstance(active.feature, kernels.Cohesion) and active.weight[0]:
            held.append(active)
        active = active.rest
    chain: Active | tuple[()] = ()
    for one in reversed(held):
        chain = one._replace(rest=chain)
    return document._replace(features=chain) if document and chain else ()


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
    for named in model.document:
        largest[:, features.index(named.name)] = named.feature.largest(material) * VALUE_UNITS
    check_range(features, largest, [batch.units.name(unit) for unit in range(len(batch.problem.unit))])
    weighted = [(named.feature, int(features.integer_weights[features.index(named.name)])) for named in model.document]
    return replace(batch, problem=batch.problem._replace(document=make_document(material, weighted)))


def sentence_values(model: Model, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """Values of the features that look at one sentence, at their places among those of the model: ``[N, K]``, nats."""
    return np.array([_values(model, [sentence], Scope.SENTENCE) for sentence in sentences]).reshape(
        len(sentences), len(model.features.names)
    )


def document_values(model: Model, document: Document) -> NDArray[np.float64]:
    """Values of the features that look at a whole document, at their places: ``[K]``, nats."""
    return _values(model, document, Scope.DOCUMENT)


def _values(model: Model, document: Document, scope: Scope) -> NDArray[np.float64]:
    values = np.zeros(len(model.features.names))
    for named in model.document:
        if named.feature.scope is scope and any(sentence.phrases for sentence in document):
            values[model.features.index(named.name)] = named.feature.value(document)
    return values
