"""Whether an ARPA file, which bounds are computed from, holds the model that KenLM is asked in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.kernels import records
from gpusearch.kernels.language_model import ENTRY, KEY, MASK
from gpusearch.model.automaton import UNIT
from gpusearch.model.kenlm_pool import KenlmPool
from gpusearch.model.language_model import LanguageModel

# n-grams that are looked at, evenly spread over the model.
_SAMPLE = 1 << 14
# Largest difference of a value, nats: what float arithmetic and rounding make, and no quantisation does.
_TOLERANCE = 1e-4
_UNKNOWN = {"<unk>", "<UNK>"}


def check_same_model(full: LanguageModel, pool: KenlmPool, arpa: str | Path) -> None:
    """Compare orders, words and a sample of n-grams of all orders.

    Args:
        full: the model of the ARPA file.
        pool: asked by the word ids of `full`.
        arpa: the file, for the message.

    Raises:
        InputError: they differ; names what does.
    """
    if full.order != pool.order:
        raise _other_model(pool, arpa, f"order {full.order}", f"order {pool.order}")
    ngrams = sample_ngrams(full, _SAMPLE)
    expected = np.zeros(len(ngrams), np.int64)
    known = (ngrams >= 0).sum(axis=1)
    for length in np.unique(known).tolist():
        here = known == length
        words = ngrams[here, full.order - length :]
        scores = full.score_words(words, np.full(len(words), length), bos=False, eos=False)
        expected[here] = np.rint(scores[:, length - 1] * UNIT)
    difference = np.abs(pool.score(ngrams) - expected) / UNIT
    if len(difference) and difference.max() > _TOLERANCE:
        worst = int(difference.argmax())
        text = " ".join(full.vocabulary[int(word)] for word in ngrams[worst] if word >= 0)
        given = f"ln P of the last word of {text!r} = {expected[worst] / UNIT:.4f}"
        asked = f"{pool.score(ngrams[worst : worst + 1])[0] / UNIT:.4f}"
        raise _other_model(pool, arpa, given, asked)


def check_same_words(full: LanguageModel, words: list[str], path: str | Path, arpa: str | Path) -> None:
    """Raises InputError where the words of the ARPA file are not those of the model KenLM is asked in."""
    for here, there, missing_in in (
        (set(full.vocabulary), set(words), path),
        (set(words), set(full.vocabulary), arpa),
    ):
        missing = sorted(here - there - _UNKNOWN)
        if missing:
            raise InputError(
                "bounds are computed from another language model than the one that is asked",
                path=arpa,
                found=f"{len(missing)} words that {missing_in} lacks, such as {missing[0]!r}",
                hint=f"give the ARPA file that {path} was built from, or leave bound_order out",
            )


def _other_model(pool: KenlmPool, arpa: str | Path, found: str, expected: str) -> InputError:
    return InputError(
        "bounds are computed from another language model than the one that is asked",
        path=arpa,
        found=found,
        expected=f"{expected}, as in {pool.path}",
        hint=f"give the ARPA file that {pool.path} was built from; where that is quantised, leave bound_order out",
    )


def sample_ngrams(model: LanguageModel, count: int) -> NDArray[np.int32]:
    """About `count` n-grams of a model, evenly spread over its table: int32[n, order], -1 in front of shorter ones."""
    language = model.language
    info = language.info[0]
    vocabulary = int(info[records.LM_VOCABULARY])
    longer = info[records.LM_LONGER : records.LM_LONGER + model.order].tolist()
    key = language.slot[:, KEY]
    rows = np.flatnonzero(key >= 0)
    state, word = key[rows] // vocabulary, key[rows] % vocabulary
    following = language.slot[rows, ENTRY] & MASK
    length_of_state = np.searchsorted(longer, state, side="right")
    # The n-gram that makes a state: the one whose own state it is.
    makes = np.searchsorted(longer, following, side="right") == length_of_state + 1
    maker = np.zeros(len(language.state), np.int64)
    maker[following[makes]] = np.flatnonzero(makes)
    chosen = np.unique(np.arange(count) * len(rows) // count)
    ngrams = np.full((len(chosen), model.order), -1, np.int32)
    ngrams[:, -1] = word[chosen]
    left = state[chosen]
    for column in range(model.order - 2, -1, -1):
        open_rows = np.flatnonzero(left > 0)
        made_by = maker[left[open_rows]]
        ngrams[open_rows, column] = word[made_by]
        left[open_rows] = state[made_by]
    return ngrams
