"""`moses.ini` to a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpusearch.config.foreign.findings import Findings, validated
from gpusearch.config.foreign.moses_features import Groups, add_feature, read_features
from gpusearch.config.foreign.moses_old import from_old_sections, is_old
from gpusearch.config.models import Config
from gpusearch.errors import InputError
from gpusearch.io.moses_ini import Line, MosesIni, read_moses_ini

# Sections about a run and its output, none of which changes the best translation.
_OF_A_RUN = {
    "alignment-output-file",
    "include-segmentation-in-n-best",
    "labeled-n-best-list",
    "n-best-factor",
    "n-best-list",
    "output-hypo-score",
    "output-search-graph",
    "output-unknowns",
    "output-word-graph",
    "print-alignment-info",
    "print-alignment-info-in-n-best",
    "print-id",
    "report-segmentation",
    "sort-word-alignment",
    "t",
    "threads",
    "translation-details",
    "v",
    "verbose",
}
_SWITCHES = {"mark-unknown": "mark_unknown", "mu": "mark_unknown", "drop-unknown": "drop_unknown", "du": "drop_unknown"}
_WORDS = {"unknown-word-prefix": "unknown_prefix", "unknown-word-suffix": "unknown_suffix"}
_XML = {"pass-through": "none", "ignore": "ignore", "inclusive": "inclusive", "exclusive": "exclusive"}
_MODEL = {"feature", "weight", "input-factors", "mapping"}
# What Moses takes for a switch that is there without a value, or with one that is not 0 or false.
_FALSE = ("0", "false", "no")


def read_moses(path: str | Path, *, ignore: bool = False) -> Config:
    """Read a `moses.ini`, of the present format or of the old one (`ttable-file`, `weight-t`, ...).

    Paths are looked for from the file's folder and from the working folder, with ``.gz`` too.

    Args:
        ignore: leave out what is not there, with a warning that names it and its line; else it is an error.

    Raises:
        InputError: a fault of the file, or what is not there; with the line.
    """
    ini = read_moses_ini(path)
    findings = Findings(path, ignore)
    folder = Path(".") if str(path) == "-" else Path(path).parent
    groups = Groups()
    search: dict[str, Any] = {"distortion_limit": -1}
    text: dict[str, Any] = {}
    handled = set(_MODEL)
    if is_old(ini):
        handled |= from_old_sections(ini, groups, folder, findings)
    else:
        _from_features(ini, groups, folder, findings)
    _check_factors(ini, findings)
    _keep_mapped_tables(ini, groups, findings)
    _read_settings(ini, handled, search, text, findings)
    if not groups.phrase_table:
        findings.lack(None, "no phrase table")
    findings.conclude()
    if not groups.phrase_table:
        raise InputError("no phrase table", path=path, hint="a model needs one")
    return validated(
        {
            "text": text,
            "phrase_table": groups.phrase_table,
            "language_model": groups.language_model,
            "reordering_model": groups.reordering_model,
            "weights": groups.weights,
            "search": search,
        },
        path,
    )


def _from_features(ini: MosesIni, groups: Groups, folder: Path, findings: Findings) -> None:
    features = read_features(ini.lines("feature"), findings)
    weights: dict[str, list[float]] = {}
    for line in ini.lines("weight"):
        name, *written = line.words
        if not name.endswith("="):
            findings.lack(line.number, f"{line} are no weights: expected Name= number ...")
            continue
        if name[:-1] in weights:
            findings.lack(line.number, f"weights of {name[:-1]} once more")
        weights[name[:-1]] = [findings.number(word, line.number) or 0.0 for word in written]
        if name[:-1] not in [feature.name for feature in features]:
            findings.lack(line.number, f"no feature is called {name[:-1]}")
    for feature in features:
        add_feature(groups, feature, weights.get(feature.name), folder, findings)


def _check_factors(ini: MosesIni, findings: Findings) -> None:
    for line in ini.lines("input-factors"):
        if line.words != ("0",):
            findings.lack(line.number, f"no factors (input-factors {line})")
    paths: set[str] = set()
    for line in ini.lines("mapping"):
        step = line.words if len(line.words) == 3 else ("0", *line.words)
        if step[1] != "T":
            findings.lack(line.number, f"no generation steps (mapping {line})")
        elif step[0] in paths:
            findings.lack(line.number, f"no second translation step of one path (mapping {line})")
        paths.add(step[0])


def _keep_mapped_tables(ini: MosesIni, groups: Groups, findings: Findings) -> None:
    """Moses looks phrases up only in tables that a translation step names, by their place among the tables."""
    steps = {line.words[-1]: line.number for line in ini.lines("mapping") if line.words[-2:-1] == ("T",)}
    places = [str(place) for place in range(len(groups.phrase_table))]
    for place, number in steps.items():
        if place not in places:
            findings.lack(number, f"a translation step of table {place}, of {len(places)} (they count from 0)")
    if not steps:
        return
    for place, table in zip(places, groups.phrase_table, strict=True):
        if place not in steps:
            findings.lack(ini.line_of("mapping"), f"no translation step of {table['name']}, which is not used then")
    groups.phrase_table = [table for place, table in zip(places, groups.phrase_table, strict=True) if place in steps]


def _read_settings(
    ini: MosesIni, handled: set[str], search: dict[str, Any], text: dict[str, Any], findings: Findings
) -> None:
    """All sections that are not of the model."""
    beam: dict[str, Any] = {}
    cube = pop_limit = None
    for section, lines in ini.sections.items():
        begin = ini.line_of(section)
        if section in handled:
            continue
        if section in ("distortion-limit", "dl"):
            search["distortion_limit"] = max(-1, int(_number(lines, begin, section, findings)))
        elif section in ("stack", "s"):
            beam["stack_size"] = int(_number(lines, begin, section, findings))
        elif section in ("beam-threshold", "b"):
            beam["beam_threshold"] = float(_number(lines, begin, section, findings))
        elif section == "search-algorithm":
            cube = int(_number(lines, begin, section, findings))
            if cube not in (0, 1):
                findings.lack(begin, f"no search algorithm {cube}")
        elif section in ("cube-pruning-pop-limit", "cbp"):
            pop_limit = int(_number(lines, begin, section, findings))
        elif section in _SWITCHES:
            text[_SWITCHES[section]] = not lines or lines[0].words[0] not in _FALSE
        elif section in _WORDS:
            text[_WORDS[section]] = str(lines[0]) if lines else ""
        elif section in ("xml-input", "xi"):
            value = str(lines[0]) if lines else ""
            if value not in _XML:
                findings.lack(begin, f"no xml-input {value}")
            text["xml_input"] = _XML.get(value, "none")
        elif section in ("xml-brackets", "xb"):
            text["xml_brackets"] = lines[0].words if lines else ()
        elif section in _OF_A_RUN:
            findings.note(begin, f"[{section}] is an option of a run here (gpusearch decode --help), or none")
        else:
            findings.lack(begin, f"nothing like [{section}]")
    if cube == 1:
        beam["pop_limit"] = 1000 if pop_limit is None else pop_limit
    search["beam"] = beam


def _number(lines: list[Line], begin: int, section: str, findings: Findings) -> float:
    if len(lines) == 1 and len(lines[0].words) == 1:
        value = findings.number(lines[0].words[0], lines[0].number)
        return 1.0 if value is None else value
    findings.lack(lines[0].number if lines else begin, f"[{section}] is to have one number")
    return 1.0
