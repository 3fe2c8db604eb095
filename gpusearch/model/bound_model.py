"""Small models that bound a large one: what the device knows of a language model that is asked on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusearch.io.sequences import Vocabulary
from gpusearch.kernels import language_tables as tables
from gpusearch.kernels import records
from gpusearch.kernels.language_model import BACKOFF, ENTRY, KEY, LONGER_BACKOFFS, MASK, SUFFIX
from gpusearch.kernels.records import Language
from gpusearch.model.automaton import LARGEST_VALUE, UNIT, empty_language, hash_groups, pack
from gpusearch.model.language_model import LanguageModel


def bound_model(full: LanguageModel, order: int) -> LanguageModel:
    """A model of n-grams up to an order whose values, and whose bounds, are bounds of those of the full model.

    An n-gram of the highest order left, and a state that is as long as one can be, stand for all longer ones: their
    values and backoffs are the extremes over these. Shorter ones keep their own. What KenLM may differ by, since it
    adds single-precision numbers, is allowed for.

    Args:
        full: with bounds of the wanted sign.
        order: at least 1; above that of the full model it counts as that.
    """
    language = full.language
    info = language.info.copy()
    words = int(info[0, records.LM_VOCABULARY])
    order = min(order, full.order)
    states = int(info[0, records.LM_LONGER + order - 1])
    longest = int(info[0, records.LM_LONGER + order - 2]) if order > 1 else 0

    state = language.state[:states].copy()
    state[longest:, BACKOFF] += state[longest:, LONGER_BACKOFFS]
    state[longest:, LONGER_BACKOFFS] = 0

    key = language.slot[:, KEY]
    kept = np.flatnonzero((key >= 0) & (key < states * words))
    key = key[kept]
    entry = language.slot[kept, ENTRY]
    margin = full.sign * (full.order + 1 + (full.largest_value * full.order >> 24))
    extreme = language.extreme[kept].astype(np.int64) + margin
    value = np.where(key >= longest * words, extreme, (entry >> 32) + margin)
    following = entry & MASK
    while (following >= states).any():
        following = np.where(following >= states, language.state[following, SUFFIX], following)

    info[0, records.LM_ORDER] = order
    info[0, records.LM_GROUPS] = hash_groups(int((key >= words).sum()))
    info[0, records.LM_LONGER :] = np.minimum(info[0, records.LM_LONGER :], states)
    if info[0, records.LM_BEGIN] >= states:
        info[0, records.LM_BEGIN] = 0
    small = _fill(info, state, key, pack(value, following))
    # The same keys in the same order take the same places.
    small.extreme[:] = _fill(info, state, key, extreme).slot[:, ENTRY]
    return LanguageModel(full.vocabulary, small, full.unknown, full.largest_value + abs(margin), full.sign)


def _fill(
    info: NDArray[np.int64], state: NDArray[np.int32], key: NDArray[np.int64], entry: NDArray[np.int64]
) -> Language:
    filled = empty_language(info, state)
    unigram = key < info[0, records.LM_VOCABULARY]
    filled.slot[key[unigram], ENTRY] = entry[unigram]
    tables.fill_slots_cpu(filled, 0, key[~unigram], entry[~unigram])
    return filled


def no_bound(words: Sequence[str], sign: int) -> LanguageModel:
    """A model that knows no more than that ln P is at most 0 (`sign` 1), or at least -2047 (-1)."""
    vocabulary = Vocabulary.from_words(words if "<unk>" in words else [*words, "<unk>"])
    unknown, end = vocabulary.find(["<unk>", "</s>"]).tolist()
    info = np.zeros((1, records.LM_INFO), np.int64)
    info[0, records.LM_GROUPS] = 1
    info[0, records.LM_VOCABULARY] = len(vocabulary)
    info[0, records.LM_ORDER] = 1
    info[0, records.LM_WEIGHT] = UNIT
    info[0, records.LM_END] = end
    info[0, records.LM_LONGER :] = 1
    language = empty_language(info, np.zeros((1, 3), np.int32))
    value = 0 if sign > 0 else -int(LARGEST_VALUE) * UNIT
    language.slot[: len(vocabulary), ENTRY] = value << 32
    language.extreme[: len(vocabulary)] = value
    return LanguageModel(vocabulary, language, unknown, int(LARGEST_VALUE) * UNIT, sign)
