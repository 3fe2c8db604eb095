"""`moses.ini` as lines in sections: what stands where, nothing of what it means."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, split_blank


@dataclass(frozen=True)
class Line:
    """A value of a section: its words, and where it stands (lines count from 1)."""

    number: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass
class MosesIni:
    """Sections in the order of their first appearance; a section that comes again goes on."""

    path: str | Path
    sections: dict[str, list[Line]] = field(default_factory=dict)
    first_line: dict[str, int] = field(default_factory=dict)

    def lines(self, *names: str) -> list[Line]:
        """The values of a section that has several names."""
        return [line for name in names for line in self.sections.get(name, [])]

    def line_of(self, section: str) -> int:
        """Where a section begins."""
        return self.first_line[section]


def read_moses_ini(path: str | Path) -> MosesIni:
    """Read a file. ``#`` begins a comment anywhere in a line, as in Moses.

    Raises:
        InputError: a value before the first section, a section without its closing bracket; names the line.
    """
    ini = MosesIni(path)
    section: str | None = None
    for number, text in enumerate(read_lines(path), 1):
        words = split_blank(text.partition("#")[0])
        if not words:
            continue
        if words[0].startswith("["):
            name = " ".join(words)
            if not name.endswith("]") or len(name) < 3:
                raise InputError("not a section", path=path, line=number, found=name, expected="[name]")
            section = name[1:-1].strip(" \t")
            ini.sections.setdefault(section, [])
            ini.first_line.setdefault(section, number)
        elif section is None:
            raise InputError(
                "a value before the first section", path=path, line=number, found=" ".join(words), expected="[name]"
            )
        else:
            ini.sections[section].append(Line(number, tuple(words)))
    return ini
