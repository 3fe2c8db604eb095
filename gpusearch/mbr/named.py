"""Utilities by the names that ``--utility`` takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import torch

from gpusearch.errors import InputError
from gpusearch.mbr.averaged import FunctionUtility
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.ensemble import Ensemble
from gpusearch.mbr.external import ExternalUtility
from gpusearch.mbr.ter import Ter
from gpusearch.mbr.utility import Utility


@dataclass(frozen=True)
class TextSettings:
    """What utilities that look at words and characters share."""

    tokenize: str = "13a"
    """sacreBLEU's name; for BLEU."""
    lowercase: bool = False
    device: torch.device | str = "cpu"


NAMED: dict[str, Callable[[TextSettings], Utility]] = {
    "bleu": lambda how: Bleu(tokenize=how.tokenize, lowercase=how.lowercase, device=how.device),
    "bleu-add": lambda how: Bleu("add-k", 0.01, tokenize=how.tokenize, lowercase=how.lowercase, device=how.device),
    "chrf": lambda how: Chrf(lowercase=how.lowercase, device=how.device),
    "chrf++": lambda how: Chrf(word_order=2, lowercase=how.lowercase, device=how.device),
    "ter": lambda how: Ter(how.lowercase),
}
"""``bleu`` is sacreBLEU's, ``bleu-add`` has 0.01 added to the counts of n > 1 (Arun et al. 2010, section 4)."""


def make_utility(names: Sequence[str], how: TextSettings | None = None) -> Utility:
    """The utility of a name, or the mean of several.

    Args:
        names: of :data:`NAMED`; ``module:object`` for a function ``utility(hypotheses, references) -> matrix``, which
            may lie in the present folder; a file of scores (.npz, .tsv). ``@2`` at the end is a weight in the mean.

    Raises:
        InputError: an unknown name, a weight that is no positive number, a module or file that cannot be read.
    """
    settings = how or TextSettings()
    members = []
    for name in names:
        bare, _, weight = name.rpartition("@") if "@" in name else (name, "", "1")
        members.append((_one(bare, settings), _weight(weight, name)))
    return members[0][0] if len(members) == 1 else Ensemble(members)


def _weight(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise InputError("weight of a utility", found=repr(name), expected="a number above 0 behind the @")
    return value


def _one(name: str, settings: TextSettings) -> Utility:
    if name in NAMED:
        return NAMED[name](settings)
    if name.endswith((".npz", ".tsv", ".tsv.gz")):
        return ExternalUtility(name)
    if ":" in name:
        return FunctionUtility(_load(name), name.replace(":", "."))
    raise InputError(
        "unknown utility", found=repr(name), expected=f"{', '.join(NAMED)}, module:object or a file .tsv, .npz"
    )


def _load(name: str) -> Callable[[Sequence[str], Sequence[str]], object]:
    module, _, path = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        loaded: Any = import_module(module)
    except ImportError as error:
        raise InputError("cannot import the module of a utility", found=f"{name!r} ({error})") from None
    for part in path.split("."):
        loaded = getattr(loaded, part, None)
    if not callable(loaded):
        raise InputError("not a function in that module", found=repr(name), expected="module:object")
    return cast("Callable[[Sequence[str], Sequence[str]], object]", loaded)
