"""A fingerprint of `[text]`, for the signature of a run."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

from gpusearch.config import TextConfig
from gpusearch.io.files import read_bytes


def fingerprint(config: TextConfig) -> str | None:
    """BLAKE2b-64 of the settings that differ from the defaults; of files that are read by what is in them.

    None where no setting differs.

    Raises:
        InputError: a file that cannot be read.
    """
    defaults, reading = TextConfig(), _files(config)
    differing = {}
    for key in TextConfig.model_fields:
        value = getattr(config, key)
        if isinstance(value, Path):
            if key in reading:
                differing[key] = blake2b(read_bytes(value)).hexdigest()
        elif value != getattr(defaults, key):
            differing[key] = value
    return blake2b(json.dumps(differing, sort_keys=True).encode(), digest_size=8).hexdigest() if differing else None


def _files(config: TextConfig) -> set[str]:
    """Keys of the files that `make_processor` reads."""
    if config.tokenizer == "sentencepiece":
        return {"sentencepiece_source", "sentencepiece_target"}
    if config.tokenizer == "none":
        return set()
    return {"source_spacing", "target_spacing", *(("source_truecaser", "target_truecaser") if config.truecase else ())}
