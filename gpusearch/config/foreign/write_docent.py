"""A configuration as Docent's XML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lxml import etree

from gpusearch.config.foreign.docent import OPERATIONS, PLAIN
from gpusearch.config.foreign.findings import Findings, shortest
from gpusearch.config.models import Config
from gpusearch.errors import InputError
from gpusearch.io.formats.markup import FORBIDDEN

_FORBIDDEN = "1e30"
"""The weight by which Docent forbids jumps beyond the limit."""


def to_docent(config: Config, *, path: str | Path = "model.toml", ignore: bool = False) -> str:
    """The text of a Docent configuration, sections in the order that Docent asks for.

    Args:
        path: of the configuration, for messages.
        ignore: leave out what Docent lacks, with a warning; else it is an error.

    Raises:
        InputError: what Docent lacks.
    """
    findings = Findings(path, ignore)
    _check(config, findings)
    findings.conclude()
    root = etree.Element("docent")
    etree.SubElement(root, "random").text = str(config.search.seed)
    _add_operations(config, etree.SubElement(root, "state-generator"))
    search = etree.SubElement(root, "search", algorithm="simulated-annealing")
    words = config.search.steps
    _parameter(search, "max-steps", 100_000 if words is None else words)
    if config.search.target_score is not None:
        _parameter(search, "target-score", config.search.target_score)
    _parameter(search, "schedule", "hill-climbing")
    _parameter(search, "hill-climbing:max-rejected", config.search.max_rejected or 100_000_000)
    models, weights = etree.SubElement(root, "models"), etree.Element("weights")

    def add(kind: str, name: str, numbers: list[Any], **parameters: Any) -> None:
        model = etree.SubElement(models, "model", type=kind, id=name)
        for key, value in parameters.items():
            _parameter(model, key.replace("_", "-"), value)
        for score, number in enumerate(numbers):
            weight = etree.SubElement(weights, "weight", model=name, score=str(score))
            weight.text = number if isinstance(number, str) else shortest(number)

    limit = config.search.distortion_limit
    bound = {"distortion_limit": limit} if limit >= 0 else {}
    add("geometric-distortion-model", "Distortion", [config.weights.distortion, _FORBIDDEN], **bound)
    for kind, key in PLAIN.items():
        add(kind, key, [getattr(config.weights, key)])
    for model in config.language_model:
        add("ngram-model", model.name, [model.weight], lm_file=model.path.absolute())
    for table in config.phrase_table:
        size: dict[str, Any] = {"nscores": len(table.weights)}
        if len(table.weights) < 3:
            size["filter_score_index"] = 0  # Docent's own is 2, and must be one of the scores
        add("phrase-table", table.name, list(table.weights), file=table.path.absolute(), **size)
    root.append(weights)
    etree.indent(root, "  ")
    return etree.tostring(root, encoding="UTF-8").decode("utf-8") + "\n"


def _parameter(element: Any, name: str, value: Any) -> None:
    etree.SubElement(element, "p", name=name).text = shortest(value) if isinstance(value, float) else str(value)


def _add_operations(config: Config, generator: Any) -> None:
    etree.SubElement(generator, "initial-state", type="monotonic")
    operations = config.search.operations
    for kind, (share, keys) in OPERATIONS.items():
        if getattr(operations, share):
            element = etree.SubElement(generator, "operation", type=kind, weight=shortest(getattr(operations, share)))
            for name, key in keys.items():
                _parameter(element, name, getattr(operations, key))


def _check(config: Config, findings: Findings) -> None:
    for model in config.reordering_model:
        findings.lack(None, f"Docent has no lexicalised reordering ({model.name})")
    for name, feature in config.features.items():
        findings.lack(None, f"no way to write the feature {name} ({feature.use})")
    for name in ("insertion", "split_and_swap"):
        if getattr(config.search.operations, name):
            findings.lack(None, f"Docent has no operation {name}")
    if len(config.phrase_table) > 1:
        findings.lack(None, "Docent takes its phrase pairs from one table")
    for path in [table.path for table in config.phrase_table] + [model.path for model in config.language_model]:
        if FORBIDDEN.search(str(path.absolute())):
            raise InputError("a path that XML cannot hold", path=findings.path, found=repr(str(path)))
    if config.search.compat != "docent":
        findings.note(
            None,
            "Docent draws options uniformly, hardly ever swaps neighbours, and makes blocks of two phrases at least",
        )
    if config.search.initial not in ("random", "best"):
        findings.note(None, f'Docent starts from a random translation, not from "{config.search.initial}"')
    text = config.text
    if text.tokenizer != "none" or text.truecase or text.lowercase or text.unescape:
        findings.note(None, "Docent takes and gives text that is tokenised, cased and escaped as the tables are")
    if text.xml_input != "none" or text.mark_unknown or text.drop_unknown:
        findings.note(None, "Docent knows no mark-up in its input, and copies unknown words")
    if config.search.first_jump:
        findings.note(None, "Docent does not count the first jump")
    for table in config.phrase_table:
        cut = f", cut to {table.table_limit} options a span" if table.table_limit else ""
        findings.note(None, f"Docent reads ProbingPT: make it from {table.path}{cut}")
        findings.note(None, "Docent looks up phrases of at most 7 words, unless max-phrase-length says more")
    if config.search.steps is None:
        findings.note(None, "search.steps is not given: 100,000 steps a document")
