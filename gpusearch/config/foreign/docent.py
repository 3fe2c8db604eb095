"""Docent's XML configuration to ours, and back, for what both have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpusearch.config.foreign.findings import Findings, found_file, is_kenlm_binary, validated
from gpusearch.config.models import Config
from gpusearch.io.files import read_bytes
from gpusearch.io.formats.markup import parse

# Docent's operations: the key of their share here, and for each of their parameters the key of `[search.operations]`.
OPERATIONS: dict[str, tuple[str, dict[str, str]]] = {
    "change-phrase-translation": ("change", {}),
    "swap-phrases": ("swap", {"swap-distance-decay": "swap_decay"}),
    "resegment": ("resegment", {"phrase-resegmentation-decay": "block_decay"}),
    "permute-phrases": ("permute", {"phrase-permutation-decay": "block_decay"}),
    "linearise-phrases": ("linearise", {"phrase-linearisation-decay": "block_decay"}),
    "move-phrases": (
        "move",
        {
            "block-size-decay": "block_decay",
            "right-move-preference": "move_right",
            "right-distance-decay": "move_decay",
            "left-distance-decay": "move_decay",
        },
    ),
}
# Models of one score and no parameter.
PLAIN = {"word-penalty": "word_penalty", "phrase-penalty": "phrase_penalty", "oov-penalty": "unknown_word"}
# A weight from which on exceeding the distortion limit is as good as forbidden.
_FORBIDDING = 1e6


def read_docent(path: str | Path, *, ignore: bool = False) -> Config:
    """Read a Docent configuration: models, weights, operations and limits; it searches with ``compat = "docent"``.

    Args:
        ignore: leave out what is not there, with a warning; else it is an error that names each with its line.

    Raises:
        InputError: not XML; what is not there.
    """
    findings = Findings(path, ignore)
    folder = Path(".") if str(path) == "-" else Path(path).parent
    root = parse(read_bytes(path), str(path)).root
    if root.tag != "docent":
        findings.lack(root.sourceline, f"the root is {root.tag!r}, not docent")
    weights = _weights(root, findings)
    search: dict[str, Any] = {"compat": "docent", "first_jump": False, "chains": 1, "distortion_limit": -1}
    data: dict[str, Any] = {"phrase_table": [], "language_model": [], "weights": {}, "search": search}
    data["weights"] = dict.fromkeys(("word_penalty", "phrase_penalty", "distortion", "unknown_word"), 0.0)
    _read_search(root, search, findings)
    for model in root.iterfind("models/model"):
        _read_model(model, weights, data, folder, findings)
    if not data["phrase_table"]:
        findings.ignore = False
        findings.lack(root.sourceline, "no phrase table")
    findings.conclude()
    return validated(data, path)


def _parameters(element: Any) -> dict[str, str]:
    return {child.get("name", ""): (child.text or "").strip() for child in element.iterfind("p")}


def _number(written: str, line: int | None, findings: Findings) -> float:
    return findings.number(written, line) or 0.0


def _weights(root: Any, findings: Findings) -> dict[str, dict[int, float]]:
    """Weights by model and number of the score."""
    weights: dict[str, dict[int, float]] = {}
    for element in root.iterfind("weights/weight"):
        number = int(_number(element.get("score", "0"), element.sourceline, findings))
        value = _number((element.text or "").strip(), element.sourceline, findings)
        weights.setdefault(element.get("model", ""), {})[number] = value
    return weights


def _read_search(root: Any, search: dict[str, Any], findings: Findings) -> None:
    seed = (root.findtext("random") or "").strip()
    if seed:
        search["seed"] = int(_number(seed, None, findings))
    for state in root.iterfind("state-generator/initial-state"):
        if state.get("type") != "monotonic":
            findings.lack(state.sourceline, f"no initial state {state.get('type')}: give it to decode --initial-file")
    operations: dict[str, float] = dict.fromkeys((share for share, _ in OPERATIONS.values()), 0.0)
    shape: dict[str, float] = {}
    for element in root.iterfind("state-generator/operation"):
        kind = element.get("type", "")
        if kind not in OPERATIONS:
            findings.lack(element.sourceline, f"no operation {kind}")
            continue
        share, keys = OPERATIONS[kind]
        operations[share] += _number(element.get("weight", "1"), element.sourceline, findings)
        for name, written in _parameters(element).items():
            value = _number(written, element.sourceline, findings)
            key = keys.get(name)
            if key is None:
                findings.lack(element.sourceline, f"{kind} has no {name} here")
            elif shape.setdefault(key, value) != value:
                findings.lack(
                    element.sourceline, f"one {key} for all operations: {name} = {value:g}, not {shape[key]:g}"
                )
    search["operations"] = operations | shape
    for element in root.iterfind("search"):
        given = _parameters(element)
        if element.get("algorithm") != "simulated-annealing" or given.get("schedule") != "hill-climbing":
            findings.lack(element.sourceline, f"no {element.get('algorithm')} with schedule {given.get('schedule')}")
        if "max-steps" in given:
            search["steps"] = int(_number(given["max-steps"], element.sourceline, findings))
        rejected = given.get("hill-climbing:max-rejected", "1000")
        search["max_rejected"] = int(_number(rejected, element.sourceline, findings))
        if "target-score" in given:
            search["target_score"] = _number(given["target-score"], element.sourceline, findings)


def _read_model(
    model: Any, weights: dict[str, dict[int, float]], data: dict[str, Any], folder: Path, findings: Findings
) -> None:
    kind, name, given, line = model.get("type", ""), model.get("id", ""), _parameters(model), model.sourceline
    mine = weights.get(name, {})
    known: set[str] = set()
    if 0 not in mine:
        findings.lack(line, f"no weight of {name}")
    kinds = [other.get("type") for other in model.itersiblings("model", preceding=True)]
    if kind in kinds and kind != "ngram-model":
        # Docent sums over all of a kind; phrase pairs come from its first table, with the scores of the others.
        findings.lack(line, f"a second {kind} ({name})")
        return
    if kind in PLAIN:
        data["weights"][PLAIN[kind]] = mine.get(0, 0.0)
    elif kind == "geometric-distortion-model":
        known = {"distortion-limit"}
        data["weights"]["distortion"] = mine.get(0, 0.0)
        if "distortion-limit" in given:
            if mine.get(1, 0.0) < _FORBIDDING:
                findings.lack(line, f"a jump beyond the limit is forbidden here, not worth {mine.get(1, 0.0):g}")
            data["search"]["distortion_limit"] = int(_number(given["distortion-limit"], line, findings))
    elif kind == "ngram-model":
        known = {"lm-file", "model-type", "ngram-order"}
        path = found_file(given.get("lm-file", ""), folder)
        backend = "kenlm" if is_kenlm_binary(path) else "device"
        data["language_model"].append({"name": name, "path": str(path), "weight": mine.get(0, 0.0), "backend": backend})
    elif kind == "phrase-table":
        # filter-limit is read by Docent and never applied; the others bound what is looked up, or are for bookkeeping.
        known = {"file", "nscores", "max-phrase-length", "filter-limit", "filter-score-index", "load-alignments"}
        path = found_file(given.get("file", ""), folder)
        if "max-phrase-length" in given:
            findings.note(line, f"phrases longer than {given['max-phrase-length']} words are options, too")
        if path.is_dir() or path.suffix == ".minphr" or not path.exists():
            findings.note(
                line, f"{path} is no text table that is there: put the table that it was made from in its place"
            )
        count = int(_number(given.get("nscores", "4"), line, findings))
        columns = [mine.get(column, 0.0) for column in range(count)]
        data["phrase_table"].append({"name": name, "path": str(path), "weights": columns, "table_limit": 0})
    else:
        findings.lack(line, f"no model {kind} ({name})")
        return
    for key, value in given.items():
        if key not in known:
            findings.lack(line, f"{kind} has no {key} here ({key} = {value})")
