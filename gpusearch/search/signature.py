"""The signature of a run: one line that names all that shaped its result."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

import gpusearch
from gpusearch.config import Config
from gpusearch.config.search import SearchConfig
from gpusearch.features.load import no_sums_over_steps
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.model import Model
from gpusearch.search.policies import policy_parts
from gpusearch.search.result import SearchResult

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
    "target_score",
    "seed",
    "initial",
    "recombine",
    "distortion_check",
    "option_draw",
    "option_temperature",
    "option_uniform",
    "compat",
}


def model_hash(model: Model) -> str:
    """BLAKE2b-64 of what a model scores with: weights, phrase tables, reordering tables and language models."""
    digest = blake2b(digest_size=8)
    features = model.features
    digest.update(" ".join(features.names).encode() + np.ascontiguousarray(features.integer_weights).tobytes())
    for table in model.tables:
        digest.update(np.int64(table.limit).tobytes() + np.ascontiguousarray(table.pairs.log_scores).tobytes())
        digest.update("\n".join(table.pairs.target_vocabulary).encode())
        digest.update(np.ascontiguousarray(table.pairs.target_words).tobytes())
    for named in model.document:
        digest.update(named.name.encode() + named.feature.fingerprint())
    for reordering in model.reordering:
        digest.update(f"{reordering.type}\n".encode() + np.ascontiguousarray(reordering.default).tobytes())
        digest.update(np.ascontiguousarray(reordering.table.log_scores).tobytes())
        for rows in reordering.rows:
            digest.update(np.ascontiguousarray(rows).tobytes())
    for language_model in model.language_models:
        if isinstance(language_model, HostLanguageModel):
            digest.update(language_model.file_hash())
            continue  # bounds change no result
        digest.update(np.ascontiguousarray(language_model.language.slot).tobytes())
        digest.update(np.ascontiguousarray(language_model.language.state).tobytes())
    return digest.hexdigest()


def signature(config: Config, model: Model, result: SearchResult) -> str:
    """Settings that differ from the defaults, and those that every reader wants to see; temperatures in nats."""
    search, defaults = config.search, SearchConfig()
    parts = [f"gpusearch:{gpusearch.__version__}", f"model:{model_hash(model)}"]
    always = {"policy", "chains", "seed", "initial", "recombine", "distortion_limit"}
    alone = search.method == "beam"
    for name in SearchConfig.model_fields:
        value = getattr(search, name)
        hidden = _CHAINS if alone else {"policy"} if search.method == "gibbs" else set()
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
        given = ",".join(f"{key}={value}" for key, value in feature.options.items())
        parts.append(f"feature.{name}:{feature.use}({given})")
    parts += ["candidates:alone"] if config.candidates.alone else []
    parts.append(f"tokenizer:{config.text.tokenizer}")
    switches = ("xml_input", "mark_unknown", "drop_unknown")
    parts += [f"{name}:{value}" for name in switches if (value := getattr(config.text, name)) not in (False, "none")]
    parts.append("exact" if result.complete and search.time_limit is None else "time-limited")
    return "|".join(dict.fromkeys(parts))
