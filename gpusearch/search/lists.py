"""The n best translations of each sentence among what the chains have found, and their form in Moses' lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusearch.io.nbest import NBestEntry, Segment
from gpusearch.model.problem import Batch
from gpusearch.model.weights import DISTORTION, PHRASE_PENALTY, WORD_PENALTY, Features
from gpusearch.search.chains import Finals
from gpusearch.search.choose import every_chain
from gpusearch.search.translation import SentenceTranslation, describe

# Features that Moses numbers, as if there could be several.
_NUMBERED = {name: f"{name}0" for name in (DISTORTION, WORD_PENALTY, PHRASE_PENALTY)}


def sentence_lists(
    finals: Finals, batch: Batch, document: int, count: int, first_jump: bool, *, distinct: bool = False
) -> list[list[SentenceTranslation]]:
    """For each sentence of a document at most `count` different derivations from its chains, best score first.

    Args:
        distinct: of those that say the same words only the best is kept.
    """
    derivations = [choice.derivation for choice in every_chain(finals, batch, document)]
    lists = []
    for sentence in range(len(derivations[0])):
        different = {derivation[sentence].tobytes(): derivation[sentence] for derivation in derivations}
        lists.append(_best(batch, list(different.values()), count, first_jump, distinct))
    return lists


def _best(
    batch: Batch, options: Sequence[NDArray[np.int32]], count: int, first_jump: bool, distinct: bool
) -> list[SentenceTranslation]:
    described = sorted(describe(batch, options, first_jump), key=lambda one: -one.score)
    if distinct:
        seen: dict[tuple[str, ...], SentenceTranslation] = {}
        for one in described:
            seen.setdefault(tuple(one.words), one)
        described = list(seen.values())
    return described[:count]


def n_best_entry(number: int, sentence: SentenceTranslation, features: Features) -> NBestEntry:
    """A translation as Moses lists it: features with state first, unknown words only in the total.

    Args:
        number: of the sentence in the input, from 0.
    """
    names = [name for name in features.groups if name not in features.tables]
    plain = [name for name in (WORD_PENALTY, PHRASE_PENALTY) if name in names]
    reordering = [name for name in features.tables if features.index(name) > features.option_values]
    tables = [name for name in features.tables if name not in reordering]
    order = [*reordering, DISTORTION, *features.language_models, *plain, *tables]
    values = sentence.features.tolist()
    said, segments = 0, list[Segment]()
    for phrase in sentence.phrases:
        segments.append((phrase.start, phrase.stop, said, said + len(phrase.words)))
        said += len(phrase.words)
    return NBestEntry(
        number,
        tuple(sentence.words),
        tuple((_NUMBERED.get(name, name), tuple(values[slice(*features.groups[name])])) for name in order),
        sentence.score,
        tuple(segments),
        tuple(sentence.alignment),
    )
