"""The lines of a `[feature]` section as groups of our configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpusearch.config.foreign.findings import Findings, found_file, is_kenlm_binary
from gpusearch.config.models import ReorderingModelConfig
from gpusearch.io.moses_ini import Line

# Keys that change no translation.
_WITHOUT_EFFECT = {
    "name",
    "num-features",
    "tuneable",
    "tuneable-components",
    "filterable",
    "verbosity",
    "require-sorting-after-source-context",
    "lazyken",
    "load",
}
_FACTORS = {"input-factor", "output-factor", "factor"}
_LANGUAGE_MODELS = {"KENLM", "SRILM", "IRSTLM"}
#: Features without a file: Moses' type -> the key of our `[weights]` group.
PLAIN = {
    "WordPenalty": "word_penalty",
    "PhrasePenalty": "phrase_penalty",
    "Distortion": "distortion",
    "UnknownWordPenalty": "unknown_word",
}
_KINDS = ("msd", "mslr", "monotonicity", "leftright")
_DIRECTIONS = {name: name for name in ("backward", "forward", "bidirectional")} | {"unidirectional": "backward"}


@dataclass
class Groups:
    """Groups of a configuration as they are found."""

    phrase_table: list[dict[str, Any]] = field(default_factory=list)
    language_model: list[dict[str, Any]] = field(default_factory=list)
    reordering_model: list[dict[str, Any]] = field(default_factory=list)
    weights: dict[str, float] = field(
        default_factory=lambda: {"word_penalty": 0.0, "phrase_penalty": 0.0, "distortion": 0.0, "unknown_word": 0.0}
    )


@dataclass
class Feature:
    """A line of `[feature]`."""

    type: str
    name: str
    line: int
    values: Mapping[str, str]

    def number(self, key: str, findings: Findings) -> int | None:
        """A whole number, or None where the key is absent."""
        written = self.values.get(key)
        if written is None:
            return None
        if not re.fullmatch(r"\d+", written):
            findings.lack(self.line, f"{key}={written} of {self.name} is no whole number")
            return None
        return int(written)


def read_features(lines: list[Line], findings: Findings) -> list[Feature]:
    """Types, names and values of the lines; the first unnamed one of a type ends in 0, all others in 1."""
    features: list[Feature] = []
    seen: set[str] = set()
    for line in lines:
        kind, *parts = line.words
        values: dict[str, str] = {}
        for part in parts:
            key, equals, value = part.partition("=")
            if not equals or key in values:
                findings.lack(line.number, f"{part!r} of {kind} is no key=value, or comes twice")
            values[key] = value
        name = values.get("name", f"{kind}{int(kind in seen)}")
        seen.add(kind)
        if name in [feature.name for feature in features]:
            findings.lack(line.number, f"two features are called {name}")
        features.append(Feature(kind, name, line.number, values))
    return features


def add_feature(
    groups: Groups, feature: Feature, weights: list[float] | None, folder: Path, findings: Findings
) -> None:
    """Put a feature into the groups; what is not there goes into the findings."""
    known = set(_WITHOUT_EFFECT)
    if feature.type in PLAIN:
        _add_plain(groups, feature, weights, findings)
    elif feature.type == "PhraseDictionaryMemory":
        known |= {"path", "table-limit"} | _FACTORS
        groups.phrase_table.append(
            {
                "name": feature.name,
                "path": _path(feature, folder, findings),
                "weights": _weights(feature, weights, findings),
                "table_limit": 20 if (limit := feature.number("table-limit", findings)) is None else limit,
            }
        )
    elif feature.type in _LANGUAGE_MODELS:
        known |= {"path", "order"} | _FACTORS
        _add_language_model(groups, feature, weights, folder, findings)
    elif feature.type == "LexicalReordering":
        known |= {"path", "type", "default-scores"} | _FACTORS
        _add_reordering(groups, feature, weights, folder, findings)
    else:
        findings.lack(feature.line, f"no feature {feature.type} (here: {feature.name})")
        return
    for key, value in feature.values.items():
        if key not in known:
            findings.lack(feature.line, f"{feature.type} has no {key} here ({feature.name}: {key}={value})")
        elif key in _FACTORS and value != "0":
            findings.lack(feature.line, f"no factors ({feature.name}: {key}={value})")


def _weights(feature: Feature, weights: list[float] | None, findings: Findings) -> tuple[float, ...]:
    """The weights of a feature; where there are none 1 for each of its values, as in Moses."""
    count = feature.number("num-features", findings)
    if weights is None:
        if count is None:
            findings.lack(feature.line, f"neither weights nor num-features of {feature.name}")
        else:
            findings.note(feature.line, f"no weights of {feature.name}: 1, as in Moses")
        return (1.0,) * (count or 1)
    if count is not None and count != len(weights):
        findings.lack(feature.line, f"{feature.name} has num-features={count}, but {len(weights)} weights")
    return tuple(weights)


def _one_weight(feature: Feature, weights: list[float] | None, findings: Findings) -> float:
    if weights is None:
        if feature.type != "UnknownWordPenalty":
            findings.note(feature.line, f"no weight of {feature.name}: 1, as in Moses")
        return 1.0
    if len(weights) != 1:
        findings.lack(feature.line, f"{feature.name} has {len(weights)} weights, not one")
    return weights[0] if weights else 1.0


def _add_plain(groups: Groups, feature: Feature, weights: list[float] | None, findings: Findings) -> None:
    key = PLAIN[feature.type]
    if groups.weights[key]:
        findings.lack(feature.line, f"a second {feature.type}")
    # An unknown word is worth ln 0, which is -100 everywhere; here the weight carries it.
    scale = 100.0 if feature.type == "UnknownWordPenalty" else 1.0
    groups.weights[key] = scale * _one_weight(feature, weights, findings)


def _path(feature: Feature, folder: Path, findings: Findings) -> str:
    if "path" not in feature.values:
        findings.lack(feature.line, f"no path of {feature.name}")
    return str(found_file(feature.values.get("path", ""), folder))


def _add_language_model(
    groups: Groups, feature: Feature, weights: list[float] | None, folder: Path, findings: Findings
) -> None:
    if feature.type != "KENLM":
        findings.note(feature.line, f"{feature.name} is scored as KENLM scores it, not as {feature.type}")
    path = _path(feature, folder, findings)
    group = {"name": feature.name, "path": path, "weight": _one_weight(feature, weights, findings)}
    if is_kenlm_binary(Path(path)):
        group["backend"] = "kenlm"
    elif (order := feature.number("order", findings)) is not None:
        group["order"] = order
    groups.language_model.append(group)


def _add_reordering(
    groups: Groups, feature: Feature, weights: list[float] | None, folder: Path, findings: Findings
) -> None:
    kind = reordering_type(feature.values.get("type", ""))
    if kind is None:
        findings.lack(feature.line, f"no reordering model of type {feature.values.get('type')!r} ({feature.name})")
        return
    group: dict[str, Any] = {
        "name": feature.name,
        "path": _path(feature, folder, findings),
        "type": kind,
        "weights": _weights(feature, weights, findings),
    }
    if "default-scores" in feature.values:
        scores = [findings.number(score, feature.line) for score in feature.values["default-scores"].split(",")]
        group["default_scores"] = () if None in scores else tuple(scores)
    groups.reordering_model.append(group)


def reordering_type(written: str) -> str | None:
    """A type as we write it, all parts named; None for hierarchical models and what Moses does not know either.

    Models of phrases and of words differ in how their tables are made, not in how Moses reads them.
    """
    kind = condition = None
    direction, features = "backward", "allff"
    for part in written.split("-"):
        if part in _KINDS:
            kind = part
        elif part in _DIRECTIONS:
            direction = _DIRECTIONS[part]
        elif part in ("f", "fe"):
            condition = part
        elif part in ("allff", "collapseff"):
            features = part
        elif part not in ("wbe", "phrase"):
            return None
    found = f"wbe-{kind}-{direction}-{condition}-{features}"
    pattern = ReorderingModelConfig.model_fields["type"].metadata[0].pattern
    return found if re.fullmatch(pattern, found) else None
