"""A word space by latent semantic analysis, and a semantic language model on it (Hardmeier et al. 2012, section 4.3).

Words by documents, tf-idf, a truncated singular value decomposition; a word's vector is its row of U Sigma, brought to
length 1. What a cosine is worth comes from held-out documents (a histogram, after Bellegarda 2000).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.features.semantic import SemanticSpace
from gpusearch.kernels.semantic import BINS, VECTOR_BITS

Document = Sequence[str]
"""The tokens of a document."""

# Places of held-out text at which all words of the space are compared with the history.
EVENTS = 4096
# What is added to the count of each bin, so that none has the probability 0.
ADDED = 0.5


@dataclass(frozen=True)
class LsaSettings:
    """How a space is trained."""

    dimensions: int = 30
    history: int = 30
    min_documents: int = 2
    """A word of the space is in so many documents at least."""
    stop_share: float = 0.6
    """Stop words are chosen so that they are this share of all tokens."""
    unknown: float = 1e-6
    """epsilon: probability of a word that is neither in the space nor a stop word."""
    lowercase: bool = False


def train_lsa(
    documents: Iterable[Document],
    held_out: Iterable[Document] | None = None,
    stop_words: Collection[str] | None = None,
    settings: LsaSettings = LsaSettings(),
) -> SemanticSpace:
    """Train a semantic language model.

    Args:
        documents: tokens of each training document.
        held_out: documents for the histogram; where there are none, every tenth of `documents` is kept out of the
            decomposition for that.
        stop_words: besides tokens without a letter, which always are. Where they are not given: those that are in the
            most documents, until `settings.stop_share` of all tokens are stop words.

    Raises:
        InputError: too few documents or words for so many dimensions; no held-out word in the space.
    """
    counts = [Counter(_cased(document, settings)) for document in documents]
    if held_out is None:
        kept = [list(_cased(document, settings)) for document in _tenth(documents)]
        counts = [count for place, count in enumerate(counts) if place % 10 != 9]
    else:
        kept = [list(_cased(document, settings)) for document in held_out]
    total, spread = Counter[str](), Counter[str]()
    for count in counts:
        total.update(count)
        spread.update(count.keys())
    tokens = total.total()
    stop = _stop_words(total, spread, stop_words, settings)
    chosen = set(stop)
    content = sorted(word for word, number in spread.items() if number >= settings.min_documents and word not in chosen)
    telling = sum(spread[word] < len(counts) for word in content)
    if min(telling, len(counts)) <= settings.dimensions:
        raise InputError(
            "too little text for the space",
            found=f"{telling} words in {settings.min_documents} documents or more, but not in all, of {len(counts)}",
            expected=f"more than {settings.dimensions} of both, as many as dimensions",
        )
    known = sum(total[word] for word in stop)
    space = SemanticSpace(
        content=tuple(content),
        stop=tuple(stop),
        vector=_vectors(counts, content, spread, settings.dimensions),
        stop_value=np.log([total[word] / tokens for word in stop]),
        histogram=np.zeros(BINS),
        first=float(np.log((tokens - known) / tokens / len(content))),
        unknown=float(np.log(settings.unknown)),
        history=settings.history,
        lowercase=settings.lowercase,
    )
    histogram = np.log((tokens - known) / tokens) + _histogram(space, kept)
    return replace(space, histogram=histogram)


def _cased(document: Document, settings: LsaSettings) -> Iterable[str]:
    return (word.lower() for word in document) if settings.lowercase else document


def _tenth(documents: Iterable[Document]) -> list[Document]:
    return [document for place, document in enumerate(documents) if place % 10 == 9]


def _stop_words(
    total: Counter[str], spread: Counter[str], given: Collection[str] | None, settings: LsaSettings
) -> list[str]:
    """Stop words that occur in the text, in the order of their forms."""
    stop = [word for word in total if not any(character.isalpha() for character in word)]
    if given is not None:
        return sorted({*stop, *(set(given) & total.keys())})
    reached = sum(total[word] for word in stop)
    others = sorted(total.keys() - set(stop), key=lambda word: (-spread[word], -total[word], word))
    for word in others:
        if reached >= settings.stop_share * total.total():
            break
        stop.append(word)
        reached += total[word]
    return sorted(stop)


def _vectors(
    counts: Sequence[Counter[str]], content: Sequence[str], spread: Counter[str], dimensions: int
) -> NDArray[np.int16]:
    """int16 ``[V, D]``: word vectors of length 2^14, or 0 of a word of all documents, which tells none apart."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import svds

    number = {word: row for row, word in enumerate(content)}
    rows, columns, values = [], [], []
    for column, count in enumerate(counts):
        for word, times in count.items():
            row = number.get(word)
            if row is not None:
                rows.append(row)
                columns.append(column)
                values.append(times)
    shape = (len(content), len(counts))
    rarity = np.log(len(counts) / np.array([spread[word] for word in content]))
    weight = (1 + np.log(values)) * rarity[rows]
    # Long documents say no more about a word than short ones do: each column gets the length 1, unless it is empty.
    length = np.sqrt(np.bincount(columns, weight * weight, minlength=len(counts)))
    length[length == 0] = 1
    matrix = csr_array((weight / length[columns], (rows, columns)), shape=shape)
    left, singular, _ = svds(matrix, k=dimensions, v0=np.ones(min(shape)), return_singular_vectors="u")
    order = np.argsort(-singular)
    vectors = left[:, order] * singular[order]
    # The sign of a dimension is arbitrary: its largest entry is positive.
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(dimensions)])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny)
    vectors[rarity == 0] = 0  # not what is left of rounding
    return np.rint(vectors * (1 << VECTOR_BITS)).astype(np.int16)


def _histogram(space: SemanticSpace, documents: Sequence[Document]) -> NDArray[np.float64]:
    """ln p_cos of each bin: its share of held-out words, over the number of words that are in it where it is met.

    Over all words and typical histories the probabilities add up to 1.
    """
    events = []
    for document in documents:
        codes = space.codes(document)
        codes = codes[codes >= 0]
        cosines = space.cosines(codes)
        events += [(codes, place, cosines[place]) for place in range(1, len(codes))]
    if not events:
        raise InputError("no held-out document has two words of the space", hint="give more held-out text")
    bins = np.array([_bin(cosine) for _, _, cosine in events])
    met = np.bincount(bins, minlength=BINS)
    unit = space.vector / (1 << VECTOR_BITS)
    words, times = np.zeros(BINS), np.zeros(BINS)
    for event in np.unique(np.linspace(0, len(events) - 1, EVENTS).astype(int)).tolist():
        codes, place, _ = events[event]
        mean = unit[codes[max(0, place - space.history) : place]].mean(axis=0)
        length = float(np.linalg.norm(mean))
        if length > 0:
            words[bins[event]] += np.count_nonzero(_bin(unit @ mean / length) == bins[event])
            times[bins[event]] += 1
    # A bin that no event is in has as many words as the nearest one has that some event is in.
    average = words[times > 0] / times[times > 0]
    sizes = average[np.abs(np.arange(BINS)[:, None] - np.flatnonzero(times > 0)).argmin(axis=1)]
    return np.log((met + ADDED) / (met.sum() + ADDED * BINS)) - np.log(np.maximum(sizes, 1))


def _bin(cosines: NDArray[np.float64] | float) -> NDArray[np.int64]:
    return np.clip(np.floor((np.asarray(cosines) + 1) * (BINS / 2)), 0, BINS - 1).astype(np.int64)
