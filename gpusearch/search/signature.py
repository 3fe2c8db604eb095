"""The signature of a run: one line that names all that shaped its result."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

import gpusearch
from gpusearch.config import Config
from gpusearch.config.search import SearchConfig
from gpusearch.features.load import no_sums_over_steps
from gpusearch.io.candidates import Candidate
from gpusearch.io.sequences import Sequences, Vocabulary
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.model import Model
from gpusearch.search.policies import policy_parts
from gpusearch.search.result import SearchResult

Array = np.ndarray[Any, Any]

# The device, the number of threads and of lanes held at once never change the result of features that are built in.
_SHAPELESS = {"preset", "steps_per_word", "device", "threads", "max_lanes", "speculation", "initial_file"}
# Groups, which have parts of their own.
_GROUPS = {"operations", "beam", "lattice", "annealing", "metropolis", "tempering"}
# What the beam by itself does not read.
_CHAINS = {
    "policy",
    "chains",
    "steps",
    "steps_per_word",
    "max_rejected",
    "restarts",
    "perturbation",
    "target_score",
    "seed",
    "initial",
    "recombine",
    "distortion_check",
    "option_draw",
    "option_temperature",
    "option_uniform",
    "longest_visit",
    "compat",
}
# What draws of blocks do not.
_SEARCHES = {"policy", "perturbation", "longest_visit"}


def model_hash(model: Model) -> str:
    """BLAKE2b-64 of what a model scores with: weights, phrase tables, reordering tables and language models.

    It reads some 0.6 GB a CPU second. Of language models in KenLM it reads parts (`HostLanguageModel.file_hash`), their
    bounds change no result.
    """
    digest = _Digest()
    features = model.features
    digest.add("features", *(name.encode() for name in features.names), features.integer_weights)
    for table in model.tables:
        pairs = table.pairs
        digest.add("table", np.int64(table.limit), pairs.log_scores, pairs.row_offsets, *_stored(pairs.sources))
        digest.add("words", *_words(pairs.source_vocabulary), *_words(pairs.target_vocabulary))
        digest.add("targets", pairs.target_offsets, pairs.target_words)
        digest.add("alignment", pairs.alignment_offsets, pairs.alignment)  # features and samples tell it
    for named in model.document:
        digest.add("document", named.name.encode(), named.feature.fingerprint())
    for reordering in model.reordering:
        orders = reordering.table
        digest.add("reordering", f"{reordering.type}".encode(), reordering.default, orders.log_scores)
        digest.add("pairs", *_stored(orders.keys), *_words(orders.source_vocabulary), *_words(orders.target_vocabulary))
    for language_model in model.language_models:
        if isinstance(language_model, HostLanguageModel):
            digest.add("kenlm", language_model.file_hash())
            continue
        language = language_model.language
        digest.add("language model", *_words(language_model.vocabulary), np.int64(language_model.unknown))
        digest.add("automaton", language.info, language.slot, language.state)
    return digest.hexadecimal()


class _Digest:
    """BLAKE2b-64 of arrays and bytes, each behind its type and shape: what is divided otherwise is something else."""

    def __init__(self) -> None:
        self._digest = blake2b(digest_size=8)

    def add(self, what: str, *values: Array | np.int64 | bytes) -> None:
        """Take in values under a name."""
        self._digest.update(f"{what}:{len(values)}".encode())
        for value in values:
            array = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.ascontiguousarray(value)
            self._digest.update(f"|{array.dtype.str}{array.shape}|".encode())
            self._digest.update(array.reshape(-1).view(np.uint8).data)

    def hexadecimal(self) -> str:
        """Of all so far."""
        return self._digest.hexdigest()


def _stored(sequences: Sequences) -> tuple[Array, Array]:
    """The hash table beside them follows from them."""
    return sequences.data, sequences.offsets


def _words(vocabulary: Vocabulary) -> tuple[Array, Array]:
    return _stored(vocabulary.sequences)


def candidates_fingerprint(candidates: Sequence[Candidate], scores: Collection[str]) -> str | None:
    """BLAKE2b-64 of translations that came with the input, and of those of their scores that count.

    None where there are none.
    """
    rows = [[one.segment, one.text, [one.scores.get(name) for name in scores]] for one in candidates]
    return blake2b(json.dumps(rows).encode(), digest_size=8).hexdigest() if rows else None


def signature(config: Config, model: Model, result: SearchResult, given: Mapping[str, str | None]) -> str:
    """Settings that differ from the defaults, and those that every reader wants to see; temperatures in nats.

    Args:
        given: fingerprints of what else has shaped the result, by what it is; None: there was none.
    """
    search, defaults = config.search, SearchConfig()
    parts = [f"gpusearch:{gpusearch.__version__}", f"model:{model_hash(model)}"]
    always = {"policy", "chains", "seed", "initial", "recombine", "distortion_limit"}
    alone = search.method == "beam"
    for name in SearchConfig.model_fields:
        value = getattr(search, name)
        hidden = _CHAINS if alone else _SEARCHES if search.method == "gibbs" else set()
        if name == "recombine" and value == "lattice" and no_sums_over_steps(model):
            value = "crossover"  # the lattice's sentences are offers
        if name not in _SHAPELESS | _GROUPS | hidden and (name in always or value != getattr(defaults, name)):
            parts.append(f"{name}:{value}")
    if alone or search.initial == "beam":
        beam = search.beam.model_dump(exclude={"lattice_width"})
        parts += [f"beam.{key}:{value:g}" for key, value in beam.items()]
    if search.recombine == "lattice" and not alone:
        parts += [f"lattice.{key}:{value}" for key, value in search.lattice.model_dump().items()]
    if search.steps is None and not alone:
        parts.append(f"steps_per_word:{search.proposals_per_word(result.units):g}")
    if search.method == "gibbs":
        first, last = (model.temperature(t) for t in (config.sample.anneal_first, config.sample.anneal_last))
        parts.append(f"temperature:{first:.4g}..{last:.4g}nat")
        shaping = ("scan", "reorder", "resegment", "resegment_candidates")
        parts += [f"sample.{name}:{getattr(config.sample, name)}" for name in shaping]
    parts += policy_parts(search, model)
    if search.option_draw == "score" and not alone:
        parts.append(f"option_temperature:{model.temperature(search.option_temperature):.4g}nat")
    operations = search.operations.model_dump()
    changed = {key: value for key, value in operations.items() if value != getattr(defaults.operations, key)}
    parts += [f"operations.{key}:{value:g}" for key, value in changed.items() if search.method == "search"]
    for name, feature in config.features.items():
        options = ",".join(f"{key}={value}" for key, value in feature.options.items())
        parts.append(f"feature.{name}:{feature.use}({options})")
    parts += ["candidates:alone"] if config.candidates.alone else []
    parts.append(f"tokenizer:{config.text.tokenizer}")
    switches = ("xml_input", "mark_unknown", "drop_unknown")
    parts += [f"{name}:{value}" for name in switches if (value := getattr(config.text, name)) not in (False, "none")]
    parts += [f"{what}:{value}" for what, value in given.items() if value is not None]
    parts.append("exact" if result.complete and search.time_limit is None else "time-limited")
    return "|".join(dict.fromkeys(parts))
