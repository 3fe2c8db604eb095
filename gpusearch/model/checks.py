"""What a phrase table and the other parts of a model must have in common, and what is odd in a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusearch.config import LanguageModelConfig, PhraseTableConfig
from gpusearch.errors import InputError
from gpusearch.io.phrase_table import PhraseTable
from gpusearch.model.language_model import LanguageModel
from gpusearch.model.weights import SCORE_UNITS, SUM_LIMIT, VALUE_UNITS, Features


def check_option_range(features: Features, name: str, pairs: PhraseTable) -> None:
    """The weighted sum of one pair must fit, before pairs are compared by it."""
    start, stop = features.groups[name]
    largest = np.abs(pairs.log_scores).max(axis=0, initial=0).astype(np.float64) * VALUE_UNITS
    weighted = largest * np.abs(features.integer_weights[start:stop])
    if weighted.sum() >= SUM_LIMIT / 4:
        worst = start + int(np.argmax(weighted))
        raise InputError(
            f"feature {features.names[worst]} may exceed the range of exact scores",
            found=f"values up to {largest[worst - start] / VALUE_UNITS:.4g} with weight {features.weights[worst]:g}",
            expected=f"weighted sums of a phrase below {SUM_LIMIT / 4 / SCORE_UNITS:.4g}",
            hint="make the weights smaller, all by the same factor: the result stays the same",
        )


def check_shared_words(
    table: PhraseTableConfig,
    entry: LanguageModelConfig,
    pairs: PhraseTable,
    language_model: LanguageModel,
    known: NDArray[np.int32],
) -> None:
    """A table and a language model without a common word are of different languages, or of different tokenisation."""
    if len(known) == 0 or (known != language_model.unknown).any():
        return
    words = ", ".join(pairs.target_vocabulary[:5])
    raise InputError(
        f"{table.name} and {entry.name} share no word",
        path=table.path,
        found=f"target words such as {words}, all unknown to {entry.path}",
        hint="are both of the target language, and tokenised, cased and escaped in the same way?",
    )


def idle_columns(name: str, pairs: PhraseTable) -> list[str]:
    """Columns that say nothing: no weight on them moves a decision."""
    found = []
    scores = pairs.log_scores
    if len(scores) < 2:
        return []
    for column, least, most in zip(pairs.columns, scores.min(axis=0), scores.max(axis=0), strict=True):
        if least == most:
            what = "0 (probability 1)" if most == 0 else f"{most:.6g} (ln)"
            found.append(f"{name}: column {column} is {what} in all {len(scores)} rows")
    return found
