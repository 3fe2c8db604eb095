"""The folder of a sampling run: what it says of the run that made it (docs/samples.md)."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, astuple
from hashlib import blake2b
from pathlib import Path
from typing import Any

import gpusearch
from gpusearch.candidates.samples import HEADER, VERSION
from gpusearch.config import Config
from gpusearch.errors import InputError
from gpusearch.io.json_files import read_json, write_json
from gpusearch.model.model import Model
from gpusearch.model.tableless import Constraints
from gpusearch.search.samplers import operators_of
from gpusearch.search.saved import Given
from gpusearch.search.signature import model_hash

# Settings of `[search]` that shape samples; and those by which first translations and proposals are drawn.
_SHAPING = ("chains", "seed", "distortion_limit", "distortion_check", "first_jump")
_DRAWS = ("compat", "option_draw", "option_temperature", "option_uniform")


def make_header(
    model: Model,
    config: Config,
    documents: Sequence[Sequence[Sequence[str]]],
    sources: Sequence[Sequence[str]],
    ids: Sequence[str | None],
    constraints: Constraints,
    given: Given | None,
) -> dict[str, Any]:
    """What `samples.json` holds: all that shaped the samples."""
    filled = [[bool(sentence) for sentence in document] for document in documents]
    whole = config.sample.unit == "document"
    header: dict[str, Any] = {
        "version": VERSION,
        "gpusearch": gpusearch.__version__,
        "model": model_hash(model),
        "units": sum(any(row) if whole else sum(row) for row in filled),
        "chains": config.search.chains,
        "features": list(model.features.names),
        "weights": [float(weight) for weight in model.features.weights],
        "sample": config.sample.model_dump(),
        "search": {name: getattr(config.search, name) for name in _SHAPING + _DRAWS},
        "unknown_words": asdict(model.unknown),
        "input": _fingerprint(documents, constraints),
        "start": None if given is None else given.fingerprint(),
        "documents": [{"id": name, "segments": list(texts)} for name, texts in zip(ids, sources, strict=True)],
    }
    if given is None and config.search.initial != "random":
        header["search"]["initial"] = config.search.initial
        if config.search.initial == "beam":
            header["search"]["beam"] = config.search.beam.model_dump(exclude={"lattice_width"})
    if config.sample.method != "gibbs":
        header["operators"] = list(operators_of(config.sample.method))
        groups = ("operations", *(("tempering",) if config.sample.method == "tempering" else ()))
        header["search"]["longest_visit"] = config.search.longest_visit
        header["search"] |= {name: getattr(config.search, name).model_dump() for name in groups}
    if config.sample.method == "tempering":
        header["levels"] = config.search.tempering.levels
    return header


def _fingerprint(documents: Sequence[Sequence[Sequence[str]]], constraints: Constraints) -> str:
    """BLAKE2b-64 of source tokens, and of the translations that the input gives or forbids."""
    given = [[*place, [astuple(one) for one in constraints[place]]] for place in sorted(constraints)]
    return blake2b(json.dumps([documents, given]).encode(), digest_size=8).hexdigest()


def open_folder(folder: Path, header: dict[str, Any], resume: bool) -> None:
    """Make the folder of a run, still without its header; or with `resume` see to it that what is there is of the same
    run.

    Raises:
        InputError: a folder that is not empty, or is of another run.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cannot make the folder ({os.strerror(errno.EEXIST)})", path=folder)
    begun = (folder / HEADER).exists()
    if resume:
        # What a run that was killed has left half-written; nothing but the header is written before the header.
        for kind in (f".{HEADER}.*", *([".unit-*", ".diagnostics.json.*"] if begun else [])):
            for left in folder.glob(kind):
                left.unlink()
    if resume and begun:
        there = read_json(folder / HEADER)
        for key, value in header.items():
            if there.get(key) != value:
                raise InputError(
                    f"the samples there are of another run ({key} differs)", path=folder, hint="sample anew"
                )
        return
    if folder.exists() and any(folder.iterdir()):
        hint = None if resume else "--resume goes on with a run that was broken off"
        raise InputError("the folder is not empty", path=folder, expected="a new one", hint=hint)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder ({error.strerror})", path=folder) from None


def write_header(folder: Path, header: dict[str, Any]) -> None:
    """Put the header where there is none: from now on the folder is one of samples, of this run alone."""
    if not (folder / HEADER).exists():
        write_json(folder / HEADER, header)
