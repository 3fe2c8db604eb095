"""Different candidates with their weights: each once, however often it was drawn and in how many ways it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.draws import DocumentDraws, Draws, numbered
from gpusearch.candidates.weights import Mass, Weighting, weigh


@dataclass(frozen=True, eq=False)
class Pool:
    """N different candidates: texts of a segment, or of a whole document."""

    weights: NDArray[np.float64]
    """[N] sum to 1: probabilities of the translations, their derivations summed."""
    scores: NDArray[np.float64]
    """[N] of the best derivation, in nats; NaN where unknown."""
    derivation_weights: NDArray[np.float64]
    """[N] of its heaviest derivation."""
    lightest: NDArray[np.float64]
    """[N] of its lightest entry: what leaving one copy of it out takes away."""
    place: NDArray[np.int64]
    """[M] the candidate of each entry."""
    effective: float
    """Independent samples that the weights are worth."""


def pool(
    candidates: NDArray[np.int64], derivations: NDArray[np.int64], scores: NDArray[np.float64], mass: Mass
) -> Pool:
    """Put the entries of each candidate together.

    Args:
        candidates: [M] number of each entry's candidate, 0 .. N - 1, all of them used.
        derivations: [M] as in :class:`~gpusearch.candidates.draws.Draws`.
        scores: [M] in nats.
        mass: of the entries.
    """
    count = int(candidates.max(initial=-1)) + 1
    different, first, number = np.unique(derivations, return_index=True, return_inverse=True)
    heaviest = np.zeros(count)
    of_derivation = np.bincount(number, mass.weights, minlength=len(different))
    np.maximum.at(heaviest, candidates[first], of_derivation)
    best = np.full(count, -np.inf)
    np.maximum.at(best, candidates, np.where(np.isnan(scores), -np.inf, scores))
    lightest = np.full(count, np.inf)
    counted = mass.weights > 0
    np.minimum.at(lightest, candidates[counted], mass.weights[counted])
    return Pool(
        np.bincount(candidates, mass.weights, minlength=count).astype(np.float64, copy=False),
        np.where(np.isinf(best), np.nan, best),
        heaviest,
        np.where(np.isinf(lightest), 0.0, lightest),
        candidates,
        mass.effective,
    )


@dataclass(frozen=True, eq=False)
class Candidates:
    """The different translations of a segment, in the order of their characters."""

    texts: list[str]
    """[N]"""
    pool: Pool


def candidates(draws: Draws, how: Weighting, scale: float = 1.0) -> Candidates:
    """Weigh the samples of a segment and put equal ones together; see :func:`~gpusearch.candidates.weights.weigh`."""
    texts, place = _different(draws.texts)
    mass = weigh(how, place, draws.derivations, draws.scores, draws.chains, scale)
    return Candidates(texts, pool(place, draws.derivations, draws.scores, mass))


def _different(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Sorted, so that no result depends on the order in which samples came."""
    different = sorted(set(texts))
    number = {text: place for place, text in enumerate(different)}
    return different, np.array([number[text] for text in texts], np.int64)


@dataclass(frozen=True, eq=False)
class DocumentCandidates:
    """The different translations of a document that were drawn as a whole, and those of its segments."""

    segments: list[Candidates]
    """S; their weights are those of the documents that have them."""
    rows: NDArray[np.int64]
    """[N, S] the candidates of all segments that make up each document."""
    pool: Pool


def document_candidates(
    document: DocumentDraws, how: Weighting, scale: float = 1.0, *, draws: int = 256, seed: int = 1
) -> DocumentCandidates:
    """Weigh whole documents.

    Where the segments were drawn independently of each other, `draws` documents are drawn from the products of their
    weights, which is the same distribution; they are worth no more than the segments' own samples. They are texts:
    how they were derived is not drawn.

    Args:
        document: with samples of whole documents, or without.
        how, scale: see :func:`~gpusearch.candidates.weights.weigh`; of the documents' scores where there are such.
        draws, seed: of documents that have none.
    """
    if document.scores is None:
        return _independent(document, how, scale, draws, seed)
    texts = [_different(segment.texts) for segment in document.segments]
    entries = len(document.scores)
    places = np.stack([place for _, place in texts], axis=1) if texts else np.zeros((entries, 0), np.int64)
    made = [segment.derivations for segment in document.segments]
    derivations = (
        numbered([tuple(row) for row in np.stack(made, axis=1).tolist()]) if made else np.zeros(entries, np.int64)
    )
    rows, place = np.unique(places, axis=0, return_inverse=True)
    place = place.reshape(-1)
    mass = weigh(how, place, derivations, document.scores, document.chains, scale)
    segments = [
        Candidates(different, pool(number, segment.derivations, segment.scores, mass))
        for (different, number), segment in zip(texts, document.segments, strict=True)
    ]
    return DocumentCandidates(segments, rows, pool(place, derivations, document.scores, mass))


def _independent(document: DocumentDraws, how: Weighting, scale: float, draws: int, seed: int) -> DocumentCandidates:
    segments = [candidates(segment, how, scale) for segment in document.segments]
    generator = np.random.default_rng(seed)
    drawn = [generator.choice(len(one.texts), size=draws, p=one.pool.weights) for one in segments]
    places = np.stack(drawn, axis=1) if drawn else np.zeros((draws, 0), np.int64)
    rows, place = np.unique(places, axis=0, return_inverse=True)
    place = place.reshape(-1)
    scores = sum((one.pool.scores[number] for one, number in zip(segments, drawn, strict=True)), np.zeros(draws))
    mass = Mass(np.full(draws, 1 / draws), effective_documents([one.pool for one in segments], draws))
    return DocumentCandidates(segments, rows, pool(place, place, scores, mass))


def effective_documents(segments: Sequence[Pool], draws: float = inf) -> float:
    """How many independent documents the products of independent segments are worth, if so many are drawn of them.

    What so many documents would leave unsure of the segments' texts is what the segments do and the drawing adds. Of
    the share of a text, n samples leave the variance p (1 - p) / n: a segment counts by the sum of its p (1 - p), one
    whose text is certain not at all.
    """
    unsure = np.array([1 - np.square(one.weights).sum() for one in segments])
    if unsure.sum() < len(unsure) * 1e-12:
        unsure[:] = 1.0
    sizes = np.array([one.effective for one in segments])
    return float(unsure.sum() / (unsure * (1 / sizes + 1 / draws)).sum()) if len(segments) else float(draws)
