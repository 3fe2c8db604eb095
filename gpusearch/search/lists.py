"""The n best translations of each sentence among what the chains have found, and their form in Moses' lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from gpusearch.io.nbest import NBestEntry, Segment
from gpusearch.kernels.records import SENTENCE_SLOT
from gpusearch.model.problem import Batch
from gpusearch.model.weights import DISTORTION, PHRASE_PENALTY, SCORE_UNITS, WORD_PENALTY, Features
from gpusearch.search.chains import Finals
from gpusearch.search.choose import Derivation
from gpusearch.search.translation import SentenceTranslation, describe, scores

_NOTHING: NDArray[np.int32] = np.empty(0, np.int32)
# Features that Moses numbers, as if there could be several.
_NUMBERED = {name: f"{name}0" for name in (DISTORTION, WORD_PENALTY, PHRASE_PENALTY)}


def sentence_lists(
    finals: Finals,
    batch: Batch,
    document: int,
    best: Derivation,
    count: int,
    first_jump: bool,
    *,
    distinct: bool = False,
) -> list[list[SentenceTranslation]]:
    """For each sentence of a document at most `count` different derivations from its chains, best score first.

    Args:
        best: what was made of the chains, of each sentence: it takes part.
        distinct: of those that say the same words only the best is kept.
    """
    first, last = batch.units.first_sentence[document : document + 2].tolist()
    lists: list[list[SentenceTranslation]] = [describe(batch, [_NOTHING], first_jump) for _ in range(first, last)]
    for unit in np.flatnonzero(batch.units.document == document).tolist():
        sentences = batch.units.sentences(unit)
        for local, sentence in enumerate(sentences):
            chains, derivations = _different(finals, batch, unit, local)
            if len(sentences) == 1 and not batch.problem.document:
                score = finals.score[unit, chains] / SCORE_UNITS
            else:
                score = scores(batch, derivations, first_jump)
            made = best[sentence - first]
            if not any(np.array_equal(made, derivation) for derivation in derivations):
                derivations.append(made)
                score = np.append(score, scores(batch, [made], first_jump))
            falling = (derivations[place] for place in np.argsort(-score, kind="stable").tolist())
            chosen = list(islice(_saying_new(batch, falling) if distinct else falling, count))
            lists[sentence - first] = sorted(describe(batch, chosen, first_jump), key=lambda one: -one.score)
    return lists


def _different(finals: Finals, batch: Batch, unit: int, local: int) -> tuple[NDArray[np.intp], list[NDArray[np.int32]]]:
    """What the chains have made of a sentence of a unit, each once, with the first chain that has it."""
    slot = int(batch.problem.sentence[batch.units.sentences(unit)[local], SENTENCE_SLOT])
    length = finals.length[unit][:, local]
    rows = finals.option[unit][:, slot : slot + int(length.max(initial=0))]
    rows = np.where(np.arange(rows.shape[1]) < length[:, None], rows, -1)
    _, chains = np.unique(rows, axis=0, return_index=True)
    chains.sort()
    return chains, [rows[chain, : length[chain]] for chain in chains.tolist()]


def _saying_new(batch: Batch, derivations: Iterable[NDArray[np.int32]]) -> Iterator[NDArray[np.int32]]:
    """Those that do not say what one before them says."""
    seen: set[tuple[str, ...]] = set()
    for options in derivations:
        words = tuple(word for option in options.tolist() for word in batch.options.target(option))
        if words not in seen:
            seen.add(words)
            yield options


def n_best_entry(number: int, sentence: SentenceTranslation, features: Features) -> NBestEntry:
    """A translation as Moses lists it: features with state first, unknown words only in the total.

    Args:
        number: of the sentence in the input, from 0.
    """
    names = [name for name in features.groups if name not in features.tables]
    plain = [name for name in (WORD_PENALTY, PHRASE_PENALTY) if name in names]
    models = [name for name in features.tables if name not in features.document]
    reordering = [name for name in models if features.index(name) > features.option_values]
    tables = [name for name in models if name not in reordering]
    order = [*reordering, DISTORTION, *features.language_models, *plain, *features.document, *tables]
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
