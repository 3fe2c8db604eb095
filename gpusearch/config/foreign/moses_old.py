"""The old format of `moses.ini` (before 2013): a section a kind of model, weights beside it in the same order."""

from __future__ import annotations

from pathlib import Path

from gpusearch.config.foreign.findings import Findings
from gpusearch.config.foreign.moses_features import Feature, Groups, add_feature
from gpusearch.errors import InputError
from gpusearch.io.moses_ini import Line, MosesIni

_MODELS = ("ttable-file", "lmodel-file", "distortion-file", "generation-file")
_LONG = {"weight-l": "weight-lm", "weight-t": "weight-translation", "weight-d": "weight-distortion"}
_LONG |= {"weight-w": "weight-word-penalty", "weight-u": "weight-unknown-word"}
_SHORT = {"l": "weight-l", "tm": "weight-t", "d": "weight-d", "w": "weight-w", "u": "weight-u", "lm": "weight-l"}
_TEXT_TABLE = "0"
_LANGUAGE_MODELS = {"0": "SRILM", "1": "IRSTLM", "8": "KENLM", "9": "KENLM"}


def is_old(ini: MosesIni) -> bool:
    """Whether the file is of the old format.

    Raises:
        InputError: it mixes both, which Moses refuses, too.
    """
    old = [name for name in ini.sections if name in _MODELS or name in _LONG or name in _LONG.values()]
    if old and ("feature" in ini.sections or "weight" in ini.sections):
        raise InputError(
            "sections of the old and of the new format", path=ini.path, line=ini.line_of(old[0]), found=f"[{old[0]}]"
        )
    return bool(old)


def from_old_sections(ini: MosesIni, groups: Groups, folder: Path, findings: Findings) -> set[str]:
    """Put the models into the groups; returns the sections that were read."""
    read = {"ttable-file", "lmodel-file", "distortion-file", "ttable-limit"}
    weights: dict[str, list[float]] = {}
    for name in ("weight-l", "weight-t", "weight-d", "weight-w", "weight-u"):
        names = [name, _LONG[name], *(short for short, long in _SHORT.items() if long == name)]
        read |= set(names)
        weights[name] = _numbers(ini.lines(*names), findings)
    limits = [int(number) for number in _numbers(ini.lines("ttable-limit"), findings)]
    _tables(ini, groups, weights["weight-t"], limits, folder, findings)
    for place, line in enumerate(ini.lines("lmodel-file")):
        if len(line.words) != 4 or line.words[0] not in _LANGUAGE_MODELS:
            findings.lack(line.number, f"no language model of this kind ({line})")
            continue
        kind, factor, order, path = line.words
        values = {"factor": factor, "order": order, "path": path}
        feature = Feature(_LANGUAGE_MODELS[kind], f"LM{place}", line.number, values)
        add_feature(groups, feature, _take(weights["weight-l"], 1), folder, findings)
    plain = {"WordPenalty": weights["weight-w"][:1], "Distortion": weights["weight-d"][:1]}
    plain["UnknownWordPenalty"] = weights["weight-u"][:1] or [1.0]
    for kind, numbers in plain.items():
        if numbers:
            add_feature(groups, Feature(kind, f"{kind}0", 0, {}), numbers, folder, findings)
    rest = weights["weight-d"][1:]
    for place, line in enumerate(ini.lines("distortion-file")):
        if len(line.words) != 4 or not line.words[2].isdecimal():
            findings.lack(line.number, f"{line} is no reordering model: expected factors, type, scores, path")
            continue
        factors, kind, scores, path = line.words
        if factors != "0-0":
            findings.lack(line.number, f"no factors ({line})")
        values = {"type": kind, "num-features": scores, "path": path}
        feature = Feature("LexicalReordering", f"LexicalReordering{place}", line.number, values)
        add_feature(groups, feature, _take(rest, int(scores)), folder, findings)
    left = {"weight-t": weights["weight-t"], "weight-l": weights["weight-l"], "weight-d": rest}
    left |= {name: weights[name][1:] for name in ("weight-w", "weight-u")}
    for name, numbers in left.items():
        if numbers:
            lines = ini.lines(name, _LONG[name], *(short for short, long in _SHORT.items() if long == name))
            findings.lack(lines[-1].number, f"[{name}] has {len(numbers)} weights more than its features take")
    return read


def _tables(
    ini: MosesIni, groups: Groups, weights: list[float], limits: list[int], folder: Path, findings: Findings
) -> None:
    lines: list[Line] = ini.lines("ttable-file")
    for place, line in enumerate(lines):
        if len(line.words) != 5 or line.words[0] != _TEXT_TABLE or not line.words[3].isdecimal():
            findings.lack(line.number, f"only text tables can be read ({line}): expected 0, factors, scores, path")
            continue
        _, source, target, scores, path = line.words
        # One limit counts for all tables; a table without one has Moses' default.
        limit = limits[0] if len(limits) == 1 else limits[place] if place < len(limits) else 20
        values = {"input-factor": source, "output-factor": target, "num-features": scores, "path": path}
        values["table-limit"] = str(limit)
        feature = Feature("PhraseDictionaryMemory", f"TranslationModel{place}", line.number, values)
        add_feature(groups, feature, _take(weights, int(scores)), folder, findings)


def _numbers(lines: list[Line], findings: Findings) -> list[float]:
    return [findings.number(word, line.number) or 0.0 for line in lines for word in line.words]


def _take(weights: list[float], count: int) -> list[float] | None:
    """The next weights of a list, taken off it; None where it is at its end."""
    taken = weights[:count]
    del weights[:count]
    return taken or None
