"""What all groups of the configuration have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

#: A weight is an int32 in units of 2^-20, so its absolute value stays below this bound.
WEIGHT_BOUND = 2048.0


class Group(BaseModel):
    """A group of keys, a table in the file. Frozen; unknown keys and values of the wrong type are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _resolve(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    return path if folder is None else Path(folder) / path


#: A path; `load_config` resolves a relative one against the folder of the file that names it.
FilePath = Annotated[Path, Field(strict=False), AfterValidator(_resolve)]

Weight = Annotated[float, Field(gt=-WEIGHT_BOUND, lt=WEIGHT_BOUND)]

#: One weight for each column of a table.
WeightList = Annotated[tuple[Weight, ...], Field(strict=False, min_length=1)]

#: Names that stand in output (`Name= value`) and in overrides (`group.name.key`).
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]

#: A probability, or a score that takes the place of one.
Probability = Annotated[float, Field(ge=0)]

#: Opens or closes a tag.
Bracket = Annotated[str, Field(pattern=r"^[^ \t\n]+$")]
