"""What a configuration of another decoder asks for that is not there, or that does not count here."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gpusearch.config.explain import explain
from gpusearch.config.models import Config
from gpusearch.errors import InputError

logger = logging.getLogger(__name__)

KENLM_BINARY = b"mmap lm http://kheafield.com/code"


@dataclass
class Findings:
    """Collects what is lacking; at the end it is an error that names all of it, or with `ignore` a warning each."""

    path: str | Path
    ignore: bool = False
    lacking: list[tuple[int | None, str]] = field(default_factory=list)

    def lack(self, line: int | None, what: str) -> None:
        """Something that changes the result and is not there."""
        self.lacking.append((line, what))

    def note(self, line: int | None, what: str) -> None:
        """Something that a user should know, but that is no fault."""
        logger.warning("%s", InputError(what, path=self.path, line=line))

    def number(self, written: str, line: int | None) -> float | None:
        """A finite number; None, and something that is lacking, where a text is none."""
        if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", written, re.ASCII) is not None:
            value = float(written)
            if math.isfinite(value):
                return value
        self.lack(line, f"{written!r} is no number")
        return None

    def conclude(self) -> None:
        """Raise for what is lacking, or with `ignore` say it.

        Raises:
            InputError: the line of the first fault, and all faults with their lines.
        """
        if not self.lacking:
            return
        if self.ignore:
            for line, what in self.lacking:
                self.note(line, f"left out: {what}")
            return
        others = "; ".join(f"line {line}: {what}" if line else what for line, what in self.lacking[1:])
        raise InputError(
            self.lacking[0][1],
            path=self.path,
            line=self.lacking[0][0],
            found=f"also {others}" if others else None,
            hint="--ignore leaves out what is not there",
        )


def validated(data: Mapping[str, Any], path: str | Path) -> Config:
    """The configuration of the groups found.

    Raises:
        InputError: a value that no configuration can hold.
    """
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise explain(error, "", path, {}) from None


def shortest(value: float) -> str:
    """The shortest text that is read as the same number."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def found_file(written: str, folder: Path) -> Path:
    """The file that a path means: from the configuration's folder, else from the working folder; ``.gz`` may lack."""
    for base in (folder, Path(".")):
        for ending in ("", ".gz"):
            path = base / f"{written}{ending}"
            if path.exists():
                return path.absolute()
    return (folder / written).absolute()


def is_kenlm_binary(path: Path) -> bool:
    """Whether a file is there and is one that KenLM's build_binary wrote."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(KENLM_BINARY)) == KENLM_BINARY
