"""A configuration as `moses.ini`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gpusearch.config.foreign.findings import Findings, shortest
from gpusearch.config.models import Config

_UNKNOWN = 100.0
"""What an unknown word costs in Moses, where the weight is 1: ln 0, floored."""
_PLAIN = ("UnknownWordPenalty0", "WordPenalty0", "PhrasePenalty0", "Distortion0")
_UNREADABLE = re.compile(r"[#\s\0]")


def to_moses(config: Config, *, path: str | Path = "model.toml", ignore: bool = False) -> str:
    """The text of a `moses.ini` that Moses runs; paths are absolute.

    Args:
        path: of the configuration, for messages.
        ignore: leave out what Moses lacks, with a warning; else it is an error.

    Raises:
        InputError: what Moses lacks.
    """
    findings = Findings(path, ignore)
    _check(config, findings)
    findings.conclude()
    features = ["UnknownWordPenalty", "WordPenalty", "PhrasePenalty"]
    weights: list[tuple[str, Sequence[float]]] = [
        ("UnknownWordPenalty0", [config.weights.unknown_word / _UNKNOWN]),
        ("WordPenalty0", [config.weights.word_penalty]),
        ("PhrasePenalty0", [config.weights.phrase_penalty]),
    ]
    for table in config.phrase_table:
        features.append(
            f"PhraseDictionaryMemory name={table.name} num-features={len(table.weights)} path={_written(table.path)} "
            f"input-factor=0 output-factor=0 table-limit={table.table_limit}"
        )
        weights.append((table.name, table.weights))
    for reordering in config.reordering_model:
        features.append(
            f"LexicalReordering name={reordering.name} num-features={len(reordering.weights)} type={reordering.type} "
            f"input-factor=0 output-factor=0 path={_written(reordering.path)}"
        )
        if reordering.default_scores:
            features[-1] += f" default-scores={','.join(map(shortest, reordering.default_scores))}"
        weights.append((reordering.name, reordering.weights))
    features.append("Distortion")
    weights.append(("Distortion0", [config.weights.distortion]))
    for model in config.language_model:
        order = "" if model.order is None else f" order={model.order}"
        features.append(f"KENLM name={model.name} factor=0 path={_written(model.path)}{order}")
        weights.append((model.name, [model.weight]))
    paths = [f"{place} T {place}" for place in range(len(config.phrase_table))]
    sections: list[tuple[str, Sequence[str]]] = [
        ("input-factors", ["0"]),
        ("mapping", paths),
        ("distortion-limit", [str(config.search.distortion_limit)]),
        *_search(config),
        ("feature", features),
        ("weight", [f"{name}= {' '.join(map(shortest, numbers))}" for name, numbers in weights]),
    ]
    return "\n".join("\n".join((f"[{name}]", *lines, "")) for name, lines in sections)


def _search(config: Config) -> list[tuple[str, list[str]]]:
    beam, text = config.search.beam, config.text
    sections = [("stack", [str(beam.stack_size)]), ("beam-threshold", [shortest(beam.beam_threshold)])]
    if beam.pop_limit:
        sections += [("search-algorithm", ["1"]), ("cube-pruning-pop-limit", [str(beam.pop_limit)])]
    if text.xml_input != "none":
        sections.append(("xml-input", [text.xml_input]))
        sections.append(("xml-brackets", [" ".join(text.xml_brackets)]))
    if text.drop_unknown:
        sections.append(("drop-unknown", ["1"]))
    if text.mark_unknown:
        sections += [("mark-unknown", ["1"]), ("unknown-word-prefix", [text.unknown_prefix])]
        sections += [("unknown-word-suffix", [text.unknown_suffix])] if text.unknown_suffix else []
    return sections


def _check(config: Config, findings: Findings) -> None:
    """What Moses lacks, and what it does in another way."""
    for name, feature in config.features.items():
        findings.lack(None, f"Moses has no feature {name} ({feature.use})")
    if not config.search.first_jump:
        findings.lack(None, "Moses always counts the first jump (search.first_jump = false)")
    if config.search.compat != "none":
        findings.note(None, f'search.compat = "{config.search.compat}" is about the search by chains')
    named = [(table.name, table.path) for table in config.phrase_table]
    named += [(model.name, model.path) for model in config.language_model]
    named += [(model.name, model.path) for model in config.reordering_model]
    for name, path in named:
        if _UNREADABLE.search(_written(path)):
            findings.lack(None, f"Moses reads no path with # or a blank: {path.absolute()}")
        if name in _PLAIN:
            findings.lack(None, f"{name} is the name of another feature in Moses")
    words: tuple[str, ...] = config.text.xml_brackets if config.text.xml_input != "none" else ()
    words += (config.text.unknown_prefix, config.text.unknown_suffix) if config.text.mark_unknown else ()
    for word in words:
        if _UNREADABLE.search(word) or word.startswith("["):
            findings.lack(None, f"no value of a moses.ini can have #, a blank, or [ at its beginning: {word!r}")
    for reordering in config.reordering_model:
        if reordering.type.endswith("bidirectional-fe-collapseff") or "bidirectional-f-collapseff" in reordering.type:
            findings.note(None, f"Moses reads the forward scores of {reordering.name} from other columns")
    text = config.text
    if text.tokenizer != "none" or text.truecase or text.lowercase or text.unescape:
        findings.note(None, "Moses takes and gives text that is tokenised, cased and escaped as the tables are")


def _written(path: Path) -> str:
    return str(path.absolute())
