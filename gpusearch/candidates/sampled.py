"""Candidates from a folder of samples (docs/samples.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np

from gpusearch.candidates.draws import DocumentDraws, Draws
from gpusearch.candidates.lists import Join, Listed
from gpusearch.candidates.samples import UnitSamples, read_samples
from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, Document, Segment


def read_sampled(folder: str | Path, join: Join | None = None) -> Listed:
    """Read the samples that are there; of documents that were sampled as a whole each sample is one.

    Args:
        folder: as `gpusearch sample` makes it; it may still be growing.
        join: what makes a text of target tokens; where it is None, a blank stands between them.

    Raises:
        InputError: no such folder, damaged files, a text without samples.
    """
    samples = read_samples(folder)
    corpus = Corpus(
        [Document(row["id"], [Segment(text) for text in row["segments"]]) for row in samples.documents],
        "text",
        str(folder),
    )
    empty = Draws([""], np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64))
    draws = [DocumentDraws([empty for _ in document.segments]) for document in corpus.documents]
    first_segment = [0, *accumulate(len(document.segments) for document in corpus.documents)]
    found = 0
    for unit in samples:
        found += 1
        number = first_segment[unit.document] + unit.first_segment
        each = [_draws(unit, sentence, number + sentence, join) for sentence in range(len(unit.sources))]
        place = draws[unit.document]
        if samples.header["sample"]["unit"] == "document":
            rounds, chains = len(unit), samples.chains
            chain = np.tile(np.arange(chains), rounds)
            draws[unit.document] = DocumentDraws(each, unit.score.T.reshape(-1), chain)
        else:
            segments = list(place.segments)
            segments[unit.first_segment : unit.first_segment + len(each)] = each
            draws[unit.document] = DocumentDraws(segments)
    if found < samples.units:
        raise InputError(
            "texts without samples", path=folder, found=f"samples of {found} units", expected=f"{samples.units}",
            hint="gpusearch sample --resume goes on",
        )  # fmt: skip
    return Listed(corpus, draws, tokenised=join is None)


def sampled_sources(folder: str | Path) -> list[str]:
    """Raw source text of each segment of all documents."""
    return [text for row in read_samples(folder).documents for text in row["segments"]]


def _draws(unit: UnitSamples, sentence: int, number: int, join: Join | None) -> Draws:
    """Of a sentence of a unit; `number` is that of its segment, from 0."""
    samples = unit.of_sentence(sentence, None if join is None else partial(_joined, join, number))
    return Draws(samples.texts, samples.score, samples.derivation, samples.chain)


def _joined(join: Join, number: int, tokens: Sequence[str]) -> str:
    return join(tokens, number)
