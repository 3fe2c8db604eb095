"""The features that are built in, by the name that a configuration calls them by."""

from __future__ import annotations

from gpusearch.features.sentence_length import SentenceLength
from gpusearch.features.type_token import Ovix, TypeTokenRatio

BUILT_IN: dict[str, type[TypeTokenRatio] | type[Ovix] | type[SentenceLength]] = {
    "ovix": Ovix,
    "sentence-length": SentenceLength,
    "type-token-ratio": TypeTokenRatio,
}
