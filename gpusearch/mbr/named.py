"""Utilities by the names that ``--utility`` takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch

from gpusearch.errors import InputError
from gpusearch.mbr.averaged import FunctionUtility
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.ensemble import Ensemble
from gpusearch.mbr.external import ExternalUtility
from gpusearch.mbr.ter import Ter
from gpusearch.mbr.utility import Utility
from gpusearch.user_code import find


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
TOKENIZED = ("bleu", "bleu-add")
"""Those of NAMED that cut texts by a tokenizer; whether case counts is asked by all of them."""
BY_COUNTS = (*TOKENIZED, "chrf", "chrf++")
"""Those that are products of matrices of counts, on a device."""


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
        bare, weight = split_weight(name)
        members.append((_one(bare, settings), _weight(weight, name)))
    return members[0][0] if len(members) == 1 else Ensemble(members)


def split_weight(name: str) -> tuple[str, str]:
    """A name without its weight, and the weight as it is written."""
    bare, _, weight = name.rpartition("@") if "@" in name else (name, "", "1")
    return bare, weight


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
        return FunctionUtility(_function(name), name.replace(":", "."))
    raise InputError(
        "unknown utility", found=repr(name), expected=f"{', '.join(NAMED)}, module:object or a file .tsv, .npz"
    )


def _function(name: str) -> Callable[[Sequence[str], Sequence[str]], object]:
    found = find(name)
    if not callable(found):
        raise InputError(f"utility {name} cannot be called", found=type(found).__name__, expected="a function")
    return cast("Callable[[Sequence[str], Sequence[str]], object]", found)
